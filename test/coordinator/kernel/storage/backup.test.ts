import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { EventLoopShare } from '../../../../src/base/event-loop-share.ts';
import { backupText, readBackup, restoreBackup } from '../../../../src/coordinator/kernel/storage/backup.ts';
import { openCoordinator, type Coordinator } from '../../../../src/coordinator/coordinator.ts';
import { openStore } from '../../../../src/coordinator/kernel/storage/open-store.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { recount } from '../../../support/recount.ts';
import { study } from '../../../support/studies.ts';

const capabilities = {
  max_concurrent_jobs: 50,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};

/** The text as a file would give it: cut anywhere, also within a character. */
async function* bytes(text: string, size = 7_001): AsyncGenerator<Uint8Array> {
  const whole = Buffer.from(text);
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

async function textOf(source: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of source) text += piece;
  return text;
}

const share = new EventLoopShare(systemClock);

describe('coordinator/kernel/storage/backup', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-backup-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  let ended = 0;
  /** Claims and ends jobs until reported to stop, as a runner would. */
  async function work(coordinator: Coordinator, runnerId: string, isOver: () => boolean): Promise<void> {
    const instance = 'i';
    await coordinator.register({ id: runnerId, instance, capabilities });
    while (!isOver()) {
      const { assignments } = await coordinator.claim(runnerId, { instance, max_jobs: 10 });
      for (const { job, attempt } of assignments) {
        await coordinator.start(job.id, { runner_id: runnerId, attempt });
        const result = { execution_time_secs: 1, output_files: [], metadata: { text: 'line\u2028break \u{1f680}' } };
        const report = { runner_id: runnerId, attempt };
        if (job.run_config.run_id % 7 === 0)
          await coordinator.fail(job.id, { ...report, reason: 'exit', error_message: 'no' });
        else await coordinator.complete(job.id, { ...report, result });
        ended += 1;
      }
    }
  }

  it('a backup taken under load is restored to a state that a recount confirms and that can continue', async () => {
    const coordinator = await openCoordinator(await openStore(join(folder, 'live')), systemClock);
    for (let i = 0; i < 5; i++) await coordinator.submit(study({ runs: 400, name: `study ${i}` }));
    let over = false;
    const workers = ['r1', 'r2', 'r3'].map((id) => work(coordinator, id, () => over));
    const backups: string[] = [];
    for (let i = 1; i <= 3; i++) {
      while (ended < i * 60) await new Promise((resolve) => setTimeout(resolve, 5));
      backups.push(await textOf(await coordinator.backup()));
    }
    over = true;
    await Promise.all(workers);
    await coordinator.close();
    let grown = 0;
    for (const [index, text] of backups.entries()) {
      const directory = join(folder, `restored-${index}`);
      const { records } = await restoreBackup(() => bytes(text), directory);
      expect(records).to.be.greaterThan(grown);
      grown = records;
      const store = await openStore(directory);
      const found = new Map<string, string>();
      const snapshot = store.snapshot();
      for await (const chunk of snapshot.entries({ gte: '!', lt: '"' }))
        for (const [key, value] of chunk) if (!key.startsWith('!meta!')) found.set(key, value);
      await snapshot.close();
      expect(found.size).to.equal(records);
      expect(recount(found)).to.deep.equal([]);
      const restored = await openCoordinator(store, systemClock);
      expect((await restored.runners({})).runners).to.have.length(3);
      let rounds = 0;
      await work(restored, 'r9', () => ++rounds > 2);
      await restored.close();
    }
    expect(grown).to.be.greaterThan(180);
  });

  describe('a backup that is incomplete or altered is refused, and nothing is created:', () => {
    const store = new MemoryStore(
      new Map(Array.from({ length: 1_203 }, (_, i) => [`!job!${i}`, `{"n":${i},"é":"ü"}`])),
    );
    const spoilt: [string, (lines: string[]) => string[], RegExp][] = [
      ['empty', () => [], /is empty/],
      ['of another kind', () => ['{"a":1}'], /first line is not the head of a backup/],
      ['no JSON', () => ['PK\u0003\u0004'], /not JSON/],
      ['cut in the middle', (lines) => lines.slice(0, 600), /ends after 599 records, without its last line/],
      ['cut within a line', (lines) => [...lines.slice(0, 600), lines[600]!.slice(0, 5)], /not JSON/],
      ['one record missing', (lines) => lines.filter((_, at) => at !== 7), /1202 records, and its last line says 1203/],
      ['one digit changed', (lines) => lines.map((it) => it.replace('{\\"n\\":55,', '{\\"n\\":56,')), /checksum/],
      ['data after the end', (lines) => [...lines, '["!job!x","1"]'], /data after its end/],
      [
        'from a newer version',
        (lines) => [lines[0]!.replace('"store_format":2', '"store_format":99'), ...lines.slice(1)],
        /newer/,
      ],
    ];
    for (const [what, spoil, message] of spoilt) {
      it(what, async () => {
        const lines = (await textOf(backupText(store, 0, share))).trimEnd().split('\n');
        const text = spoil(lines)
          .map((line) => `${line}\n`)
          .join('');
        const error = await restoreBackup(() => bytes(text), join(folder, 'new')).catch((it: unknown) => it);
        expect((error as SimbatchError).message).to.match(message);
        expect(await readdir(folder)).to.deep.equal([]);
      });
    }

    it('a store with a damaged record', async () => {
      const damaged = 'the record "!job!7" in data is damaged: its checksum does not match';
      const view = store.snapshot();
      const broken = Object.assign(Object.create(store), {
        snapshot: () => ({
          ...view,
          async *entries() {
            yield [['!job!6', '{}']];
            throw new SimbatchError('store-damaged', damaged);
          },
        }),
      }) as MemoryStore;
      const text = await textOf(backupText(broken, 0, share));
      const error = await restoreBackup(() => bytes(text), join(folder, 'new')).catch((it: unknown) => it);
      expect(error).to.include({ code: 'store-damaged', message: `the backup is incomplete: ${damaged}` });
      expect(await readdir(folder)).to.deep.equal([]);
    });

    it('is accepted unaltered, in pieces of any size', async () => {
      const text = await textOf(backupText(store, 0, share));
      for (const size of [1, 13, 1e6]) expect((await readBackup(bytes(text, size))).records).to.equal(1_203);
    });
  });

  it('refuses a directory that is not empty, and accepts an empty one', async () => {
    const text = await textOf(backupText(new MemoryStore(new Map([['!job!1', '{}']])), 0, share));
    await mkdir(join(folder, 'full'));
    await writeFile(join(folder, 'full', 'mine'), 'x');
    const error = await restoreBackup(() => bytes(text), join(folder, 'full')).catch((it: unknown) => it);
    expect((error as SimbatchError).message).to.match(/not empty/);
    await mkdir(join(folder, 'empty'));
    expect((await restoreBackup(() => bytes(text), join(folder, 'empty'))).records).to.equal(1);
    expect((await readdir(folder)).toSorted()).to.deep.equal(['empty', 'full']);
  });
});
