/** Recovery of a runner at its start. */
import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { parentPlace } from '../../src/runner/attempt/extraction/parent-runs.ts';
import { UNFINISHED } from '../../src/runner/files/archive/archive-job.ts';
import { silentLog } from '../../src/runner/log.ts';
import { openProcessTools } from '../../src/runner/processes/process-tools.ts';
import { recover } from '../../src/runner/recovery.ts';
import { Spool } from '../../src/runner/spool.ts';
import { Waits } from '../../src/runner/waits.ts';

describe('runner: recovery', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'simbatch-recovery-'))));
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('removes the copies of files that a killed attempt of an extraction has left, also where its outcome is known', async () => {
    const waits = new Waits(systemClock);
    const own = { pid: process.pid, instance: 'i' };
    const spool = await Spool.open(folder, 'r', own, waits);
    const site = {
      clock: systemClock,
      log: silentLog,
      waits,
      processes: openProcessTools('off', join(folder, 'none'), silentLog),
      containers: undefined,
      uploads: undefined,
    };
    const records = ['1', '2'].map((run) => ({ job_id: run, attempt: 1, directory: join(folder, run, 'attempt-1') }));
    for (const record of records) {
      mkdirSync(parentPlace(record.directory).files, { recursive: true });
      mkdirSync(record.directory, { recursive: true });
      writeFileSync(join(parentPlace(record.directory).files, 'telemetry.parquet'), 'PAR1');
      await spool.running(record);
    }
    const fail = { type: 'fail', job_id: '2', attempt: 1, reason: 'exit', error_message: 'no' } as const;
    await spool.ended(records[1]!, fail);
    expect((await recover(spool, site)).map(({ record }) => record.job_id)).to.deep.equal(['2']);
    for (const { directory } of records) {
      expect(existsSync(dirname(parentPlace(directory).files)), directory).to.equal(false);
      expect(existsSync(directory), directory).to.equal(true);
    }
    await spool.close();
  });

  it('removes the archive that a killed runner had begun; the files of the attempt stay', async () => {
    const waits = new Waits(systemClock);
    const spool = await Spool.open(folder, 'r', { pid: process.pid, instance: 'i' }, waits);
    const processes = openProcessTools('off', join(folder, 'none'), silentLog);
    const site = { clock: systemClock, log: silentLog, waits, processes };
    const directory = join(folder, '1', 'attempt-1');
    mkdirSync(directory, { recursive: true });
    for (const name of [UNFINISHED, 'stdout.log']) writeFileSync(join(directory, name), 'x');
    await spool.running({ job_id: '1', attempt: 1, directory });
    expect(await recover(spool, site)).to.deep.equal([]);
    expect(readdirSync(directory)).to.deep.equal(['stdout.log']);
    await spool.close();
  });
});
