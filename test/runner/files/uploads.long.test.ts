/** Files of ended runs on their way to the object store: while it, the coordinator or the runner is away. */
import { expect } from 'chai';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jobId } from '../../../src/domain/ids.ts';
import { until, UploadWorld } from '../../support/upload-world.ts';

const FILES = { 'a.csv': 'aaa', 'deep/b.csv': 'bb', 'empty.txt': '' };
const TWO_GROUPS = Object.fromEntries(
  Array.from({ length: 21 }, (_, at) => [`f${String(at)}`, `content ${String(at)}`]),
);

describe('runner/files/uploads', () => {
  let world: UploadWorld;
  let batchId: string;
  beforeEach(async () => {
    world = await UploadWorld.open();
  });
  afterEach(() => world.close());

  const isSent = async (run = 0): Promise<boolean> => {
    const { upload } = await world.result(batchId, run);
    return upload !== undefined && upload.waiting === undefined;
  };
  const puts = (): number => world.s3.requests.filter((it) => it.startsWith('PUT')).length;

  it('sends the files of a store that is away for ten seconds when it is back; the finding comes and goes', async () => {
    batchId = await world.submit(1);
    const life = await world.start();
    world.s3.fault = () => 503;
    await world.end(life, batchId, 0, FILES);
    await until(async () => (await world.finding(batchId)) !== undefined);
    expect((await world.finding(batchId))?.message).to.include(
      `on runner r1 (machine node3) in ${world.outputRoot}/${batchId}: `,
    );
    expect((await world.result(batchId)).upload).to.deep.include({ files: 0, failed: [], waiting: 3 });
    world.s3.fault = () => undefined;
    await until(() => isSent());
    expect(world.objects()).to.deep.equal(FILES);
    expect(await world.finding(batchId)).to.equal(undefined);
    await until(() => life.uploads.size === 0);
    expect(await life.spool.leftovers()).to.deep.equal([]);
  });

  it('tries a store that is away for ever at least every 30 s, keeps the files in the spool, and sends them in the next life', async () => {
    batchId = await world.submit(2);
    const life = await world.start();
    const tries: number[] = [];
    world.s3.fault = () => {
      tries.push(performance.now());
      return 503;
    };
    await world.end(life, batchId, 0, { 'a.csv': 'a' });
    await world.end(life, batchId, 1, { 'b.csv': 'b' });
    await until(() => tries.length >= 40);
    // A hundred times the pace, and a loaded machine: a pause of minutes would still be seen.
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(Math.max(...pauses)).to.be.below(3_000);
    expect((await life.spool.leftovers()).map(({ upload }) => upload?.files)).to.deep.equal([['a.csv'], ['b.csv']]);
    expect(await life.spool.undelivered()).to.deep.equal([]);
    await world.stop();
    await world.start();
    await until(async () => (await isSent(0)) && (await isSent(1)));
    expect(world.objects()).to.deep.equal({ 'a.csv': 'a', 'b.csv': 'b' });
  });

  it('sends after a restart only the files that were not sent before it', async () => {
    batchId = await world.submit(1);
    const life = await world.start();
    // The last file is in the second group.
    world.s3.fault = (_, path) => (path.endsWith('/f20') ? 503 : undefined);
    await world.end(life, batchId, 0, TWO_GROUPS);
    await until(() => world.s3.requests.some((it) => it.includes('/f20')));
    expect((await life.spool.leftovers()).map(({ upload }) => upload?.files)).to.deep.equal([['f20']]);
    await world.stop();
    world.s3.fault = () => undefined;
    world.s3.requests.length = 0;
    await world.start();
    await until(() => isSent());
    expect(world.objects()).to.deep.equal(TWO_GROUPS);
    expect(puts()).to.equal(1);
  });

  it('waits for a coordinator that is away', async () => {
    batchId = await world.submit(1);
    const life = await world.start();
    let away = 6;
    world.beforeRequest = async (name) => {
      if ((name === 'begin' || name === 'complete') && away-- > 0) throw new TypeError('not reached');
    };
    await world.end(life, batchId, 0, FILES);
    await until(() => isSent());
    expect(away).to.be.below(0);
    expect(world.objects()).to.deep.equal(FILES);
  });

  it('survives a kill before each of its steps: every file is sent, and the run has one result', async () => {
    let kills = 0;
    for (let killAt = 0; ; killAt++) {
      const study = await world.submit(1);
      world.steps = 0;
      world.killAt = killAt;
      const first = await world.start();
      await world.end(first, study, 0, TWO_GROUPS);
      const isKilled = (): boolean => first.stop.signal.aborted;
      await until(() => isKilled() || first.uploads.size === 0);
      const wasKilled = isKilled();
      await world.stop();
      world.killAt = Infinity;
      const second = await world.start();
      // Killed before its outcome was on the disk, the run is executed again; here it is concluded again.
      if ((await world.scene.jobStatus(study, 0)) !== 'Completed') await world.end(second, study, 0, TWO_GROUPS);
      await until(() => second.uploads.size === 0);
      const result = await world.result(study);
      expect(result.upload, `killed at step ${String(killAt)}`).to.deep.equal({ files: 21, failed: [] });
      expect(result.output_files.every((it) => it.startsWith('s3://'))).to.equal(true);
      expect(world.objects()).to.deep.equal(TWO_GROUPS);
      expect(await world.finding(study)).to.equal(undefined);
      expect(await second.spool.leftovers()).to.deep.equal([]);
      await world.stop();
      world.s3.objects.clear();
      if (!wasKilled) break;
      kills += 1;
    }
    // Before and after: the spool, the report, the spool, and of both groups the addresses and the completion.
    expect(kills).to.be.greaterThan(15);
  });

  it('names a file that is gone and a file that has changed since the run ended, and sends neither', async () => {
    batchId = await world.submit(1);
    const life = await world.start();
    world.s3.fault = () => 503;
    await world.end(life, batchId, 0, FILES);
    await until(async () => (await world.finding(batchId)) !== undefined);
    rmSync(join(world.directoryOf(batchId, 0), 'a.csv'));
    writeFileSync(join(world.directoryOf(batchId, 0), 'deep/b.csv'), 'bb, and another line');
    world.s3.fault = () => undefined;
    await until(() => isSent());
    expect((await world.result(batchId)).upload).to.deep.equal({
      files: 1,
      failed: ['a.csv: it is not there any more', 'deep/b.csv: it has changed since the run ended'],
    });
    expect(world.objects()).to.deep.equal({ 'empty.txt': '' });
    const codes = (await world.scene.api.findings(batchId)).map(({ code }) => code);
    expect(codes).to.include('uploads-failed').and.not.include('files-not-sent');
  });

  it('forgets the files of an attempt that does not count, and of a study that was deleted', async () => {
    batchId = await world.submit(2);
    const life = await world.start();
    await world.end(life, batchId, 0, FILES);
    await until(() => isSent());
    const sent = puts();
    const record = {
      job_id: jobId(batchId, 0),
      directory: world.directoryOf(batchId, 0),
      upload: { files: ['a.csv'] },
    };
    await life.spool.running({ ...record, attempt: 2 });
    life.uploads.resume({ ...record, attempt: 2 });
    await until(() => life.uploads.size === 0);
    world.s3.fault = () => 503;
    await world.end(life, batchId, 1, FILES);
    await until(async () => (await world.finding(batchId)) !== undefined);
    await world.scene.api.deleteBatch(batchId);
    await until(() => life.uploads.size === 0);
    expect(await life.spool.leftovers()).to.deep.equal([]);
    expect(world.objects()).to.deep.equal(FILES);
    expect(sent).to.equal(3);
    await world.scene.api.parts.purges.idle();
    expect([...world.scene.store.disk.keys()].filter((it) => it.startsWith('!outbox'))).to.deep.equal([]);
  });

  it('sends the files of other studies while one file is refused again and again', async () => {
    batchId = await world.submit(1);
    const life = await world.start();
    world.s3.quota = 10;
    await world.end(life, batchId, 0, { small: 'x', large: 'more than ten bytes' });
    await until(async () => (await world.finding(batchId)) !== undefined);
    expect((await world.result(batchId)).upload).to.deep.include({ files: 1, waiting: 1 });
    const other = await world.submit(1);
    await world.end(life, other, 0, { tiny: 'y' });
    await until(async () => (await world.result(other)).upload?.files === 1);
    expect((await world.finding(batchId))?.message).to.match(
      /large: the object store refuses it: QuotaExceeded, status 403$/,
    );
    world.s3.quota = Infinity;
    await until(() => isSent());
    expect(puts()).to.be.greaterThan(3);
  });
});
