/** Checkpoints through an object store that misbehaves, with real runners. */
import { expect } from 'chai';
import { join } from 'node:path';
import { readdirSync } from 'node:fs';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { Pool } from '../../support/pool.ts';
import type { RunnerProcess } from '../../support/runner-process.ts';
import { FAST, keysOf, lives, recordOf, threeLives, untilSaved, untilStored } from './checkpoints.suite.ts';
import { BUCKET, STORAGE, storeOf } from './uploads.suite.ts';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('coordinator/files: checkpoints', function () {
  let s3: FakeS3;
  let pool: Pool;
  const store = () => storeOf({ endpoint: s3.url, credentials: KEY });
  beforeEach(async () => {
    s3 = await FakeS3.start();
    pool = await Pool.open({ objectStore: store() });
  });
  afterEach(async () => {
    await pool.close();
    await s3.stop();
  });

  /** A run that a runner has begun and handed back. */
  async function handedBack(args: readonly string[] = [], root?: string) {
    const batchId = await pool.submit('resumes', { STEPS: '200', STATE_BYTES: '1000' }, STORAGE);
    const first = pool.site.startApart('a', pool.url, [...FAST, ...args]);
    await untilSaved(pool, 'a', batchId, root);
    expect(await first.end('SIGTERM'), first.log).to.equal(0);
    return { batchId, first };
  }

  const next = (args: readonly string[] = []): RunnerProcess => pool.site.startApart('b', pool.url, [...FAST, ...args]);

  it('end a long run in three lives on three runners that share no disk', async () => {
    await threeLives(pool, store(), 20 << 20);
  });

  it('are used whole or not at all when a runner is killed while it sends', async () => {
    const batchId = await pool.submit('resumes', { STEPS: '300', STATE_BYTES: '1000' }, STORAGE);
    const first = pool.site.startApart('a', pool.url, FAST);
    const whole = await untilStored(pool, batchId, 1);
    let isSending = false;
    // Its next checkpoint gets one of two files: that which has changed hangs.
    s3.fault = (method, path) => {
      if (method !== 'PUT' || !path.endsWith('/state.json')) return undefined;
      isSending = true;
      return 'hang';
    };
    while (!isSending) await sleep(20);
    await first.end('SIGKILL');
    s3.fault = () => undefined;
    const half = recordOf(pool, batchId);
    expect(half?.begun).to.be.greaterThan(whole.complete?.number ?? 0);
    expect(half?.complete?.files).to.deep.equal(whole.complete?.files);
    pool.site.startInPlaceOf('a', 'b', pool.url, FAST);
    const { begins, notes } = await lives(pool, batchId);
    expect(begins.map(([attempt]) => attempt)).to.deep.equal([1, 2]);
    expect(begins[1]?.[1]).to.be.greaterThan(0);
    expect(notes).to.deep.equal(['it continued at the checkpoint of attempt 1']);
  });

  it('are not used when the store has lost or changed a file, and the result says so', async () => {
    for (const damage of ['lost', 'changed'] as const) {
      const { batchId } = await handedBack();
      const { prefix = '', complete } = recordOf(pool, batchId) ?? {};
      const state = complete?.files.find(({ path }) => path === 'state.json');
      const key = `${BUCKET}/${prefix}/${String(state?.number)}/state.json`;
      if (damage === 'lost') s3.objects.delete(key);
      else s3.objects.set(key, Buffer.from(String(s3.objects.get(key)).replace('"step"', '"stop"')));
      const second = next();
      const { begins, notes: all } = await lives(pool, batchId);
      expect(begins).to.deep.equal([[2, 0]]);
      // On a busy machine the second life may fail to send a checkpoint of its own, which is said too.
      const notes = all.filter(
        (it) => !it.startsWith('its checkpoint was not sent to the object store: its files change'),
      );
      const why =
        damage === 'lost' ? 'the object store refuses it: NoSuchKey, status 404' : 'has another content than was sent';
      expect(notes, notes.join('\n')).to.have.length(1);
      expect(notes[0]).to.match(/^the checkpoint of attempt 1 in the object store is not used: "state.json"/);
      expect(notes[0]).to.include(why);
      await second.end('SIGTERM');
    }
  });

  it('leave the run to its beginning when the store does not answer, and never stop a runner', async () => {
    s3.fault = (method) => (method === 'PUT' ? 503 : undefined);
    const { batchId, first } = await handedBack(['--lifetime-margin', '3s', '--max-lifetime', '2h']);
    expect(first.log).to.include('the last checkpoint was not sent; the next attempt gets the one before');
    expect(recordOf(pool, batchId)?.complete).to.equal(undefined);
    next();
    // It is down for the next attempt too; the run ends all the same, and the result says what was not sent.
    const { step, begins, notes } = await lives(pool, batchId);
    expect([step, begins]).to.deep.equal([200, [[2, 0]]]);
    expect(notes.join()).to.match(
      /^(its checkpoint was not sent to the object store: the object store refuses it: status 503)?$/,
    );
  });

  it('are refused by a full store, which keeps nothing of them', async () => {
    s3.quota = 500;
    const { batchId, first } = await handedBack();
    expect(first.log).to.include('QuotaExceeded');
    expect(recordOf(pool, batchId)?.complete).to.equal(undefined);
    while ((await keysOf(store(), batchId)).length > 0) await sleep(20);
    s3.quota = Infinity;
    next();
    expect((await lives(pool, batchId)).begins).to.deep.equal([[2, 0]]);
  });

  it('have a limit of size on either side, which the result names', async () => {
    const small = ['--checkpoint-max-gb', '0.0000001'];
    const { batchId, first } = await handedBack(small);
    expect(first.log).to.match(
      /it has \d+ bytes, more than 107, the limit of this runner; keep less, or raise --checkpoint-max-gb/,
    );
    expect(recordOf(pool, batchId)).to.equal(undefined);
    const other = await handedBack();
    const third = next(small);
    const { begins, notes } = await lives(pool, other.batchId);
    expect(begins).to.deep.equal([[2, 0]]);
    expect(notes.join()).to.match(
      /is not used: it has \d+ bytes, more than 107, the limit of this runner; raise its --checkpoint-max-gb/,
    );
    await third.end('SIGKILL');
  });

  it('stay on the disk of a runner that shares a folder, or wants none sent', async () => {
    for (const [args, root] of [
      [['--checkpoint-dir', join(pool.site.folder, 'shared')], 'shared'],
      [['--checkpoint-max-gb', '0'], undefined],
    ] as const) {
      const { batchId } = await handedBack(args, root);
      expect(recordOf(pool, batchId)).to.equal(undefined);
      await pool.client.cancelBatch(batchId);
    }
    expect(s3.requests.filter((it) => it.includes('/checkpoint/'))).to.deep.equal([]);
    expect(readdirSync(join(pool.site.folder, 'shared'))).to.have.length(1);
  });
});
