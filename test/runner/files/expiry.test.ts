/** Deletion of the folders of old runs: what goes, what stays, a clock that is wrong, and the state of former runners. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { jobId, newBatchId } from '../../../src/domain/ids.ts';
import { SWEEP_MS } from '../../../src/domain/retention/sweep-times.ts';
import { deletionText } from '../../../src/runner/ends/ended-attempts.ts';
import { attemptDirectory } from '../../../src/runner/files/artifacts.ts';
import { Expiry } from '../../../src/runner/files/expiry.ts';
import { Spool, type SpooledAttempt } from '../../../src/runner/spool.ts';
import { Waits } from '../../../src/runner/waits.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const DAY_MS = 86_400_000;

describe('runner: deletion of old folders', () => {
  let folder: string;
  let clock: SimulatedClock;
  let waits: Waits;
  let spool: Spool;
  let said: string[];
  let expiry: Expiry | undefined;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-expiry-'));
    clock = new SimulatedClock();
    said = [];
    await start();
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The disk answers in real time. */
  function patientWaits(): Waits {
    const simulated = clock;
    return new Waits({ ...systemClock, now: () => simulated.now() });
  }
  const openSpool = (id: string): Promise<Spool> => Spool.open(folder, id, { pid: 1, instance: `i-${id}` }, waits);
  async function start(): Promise<void> {
    waits = patientWaits();
    spool = await openSpool('r1');
  }
  async function stop(): Promise<void> {
    await expiry?.end();
    await spool.close();
  }
  const study = newBatchId(Date.UTC(2026, 0, 1), new Uint8Array(10));

  /** Makes the folder of an attempt, as a run leaves it. */
  function attempt(run: number, number = 1): SpooledAttempt {
    const directory = attemptDirectory(folder, study, run, number);
    mkdirSync(join(directory, 'deep'), { recursive: true });
    writeFileSync(join(directory, 'deep', 'out.csv'), 'x'.repeat(1000));
    writeFileSync(`${directory}.run_config.json`, '{}');
    return { job_id: jobId(study, run), attempt: number, directory };
  }
  async function finish(record: SpooledAttempt, of = spool): Promise<void> {
    await of.running(record);
    of.finished(record);
    await written(of);
  }
  /** Resolves when all that the spool was given before is on the disk. */
  async function written(of = spool): Promise<void> {
    await of.running({ job_id: 'none', attempt: 1, directory: '' });
    of.settled({ job_id: 'none', attempt: 1 });
  }
  /** Begins to sweep, and returns when the first sweep is over, if one is due. */
  async function sweep(keepDays = 30): Promise<void> {
    const note =
      (level: string) =>
      (text: string): void =>
        void said.push(`${level}: ${text}`);
    const log = { debug: () => {}, info: note('info'), warn: note('warn'), error: note('error') };
    expiry = new Expiry({ outputRoot: folder, keepDays, spool, waits, clock, log });
    void expiry.run();
    await rest();
  }
  /** Time passes, and the sweep at its end; the disk answers in its own time, so that earlier sweeps may be left out. */
  async function pass(ms: number): Promise<void> {
    await clock.advance(ms - SWEEP_MS);
    await rest();
    await clock.advance(SWEEP_MS);
    await rest();
  }
  /** The disk answers in its own time: the sweep that has begun is over when it waits for the next one. */
  async function rest(): Promise<void> {
    while (!clock.hasTimers) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const isThere = ({ directory }: SpooledAttempt): boolean =>
    existsSync(directory) || existsSync(`${directory}.run_config.json`);
  /** A restart with the clock at another time, as an operator or a dead battery sets it. */
  async function restartAt(nowMs: number): Promise<void> {
    await stop();
    clock = new SimulatedClock({ nowMs });
    await start();
  }

  it('deletes folders that are old by the recorded end, says how much, and reports it to readers; younger ones stay', async () => {
    await sweep();
    const [old, second, young] = [attempt(1), attempt(1, 2), attempt(2)];
    await finish(old);
    await finish(second);
    await clock.advance(20 * DAY_MS);
    await finish(young);
    // Time stamps of files do not count: a copy may have renewed them, or kept them.
    utimesSync(young.directory, 0, 0);
    await pass(10 * DAY_MS - 2 * SWEEP_MS);
    expect([old, second, young].map(isThere)).to.deep.equal([true, true, true]);
    await pass(4 * SWEEP_MS);
    expect([old, second, young].map(isThere)).to.deep.equal([false, false, true]);
    expect(existsSync(dirname(old.directory)), 'the folder of the run').to.equal(false);
    expect(said).to.deep.equal(['info: deleted the folders of 2 runs (2.0 KiB) that ended more than 30 days ago']);
    const deletion = await spool.ends.deletionOf(old);
    expect(deletion && deletionText(deletion)).to.match(
      /^the runner deleted the folder of this attempt at 2026-01-31T\d\d:00:00.000Z, since it ended more than 30 days before \(--keep-days\)$/,
    );
    expect(await spool.ends.deletionOf(young)).to.equal(undefined);
  });

  it('keeps the folders of attempts that run, have an outcome to report or files to send', async () => {
    await sweep();
    const [running, reporting, sending, repeated, sent] = [1, 2, 3, 4, 5].map((run) => attempt(run));
    await spool.running(running!);
    await spool.running(reporting!);
    await spool.ended(reporting!, { type: 'fail', ...ref(reporting!), reason: 'exit', error_message: 'no' });
    await spool.running({ ...sending!, upload: { files: ['deep/out.csv'] } });
    await finish(sent!);
    // An attempt that was handed back and came again, under the same number.
    await finish(repeated!);
    await spool.running(repeated!);
    await pass(40 * DAY_MS);
    const there = [running, reporting, sending, repeated, sent].map((it) => isThere(it!));
    expect(there).to.deep.equal([true, true, true, true, false]);
    spool.finished({ ...sending!, upload: { files: [] } });
    await written();
    await pass(29 * DAY_MS);
    expect(isThere(sending!), 'not yet: its files were sent 29 days ago').to.equal(true);
    await pass(2 * DAY_MS);
    expect(isThere(sending!)).to.equal(false);
  });

  it('waits for an hour when the clock is far ahead at its start, again after each start, and deletes nothing when it is set back', async () => {
    await sweep();
    const run = attempt(1);
    await finish(run);
    const rightMs = clock.now();
    const wrongMs = rightMs + 60 * DAY_MS;
    await restartAt(wrongMs);
    await sweep();
    await clock.advance(SWEEP_MS - 1000);
    await rest();
    expect(isThere(run)).to.equal(true);
    expect(said).to.have.length(1);
    expect(said[0]).to.match(
      /^warn: the clock shows .*, 60.0 days after the last instant that .* knows: nothing is deleted before /,
    );
    // A restart within the wait waits again.
    await restartAt(wrongMs + SWEEP_MS - 1000);
    await sweep();
    await clock.advance(SWEEP_MS - 1000);
    await rest();
    expect(isThere(run)).to.equal(true);
    // The clock is set right.
    await restartAt(rightMs + DAY_MS);
    await sweep();
    await clock.advance(2 * SWEEP_MS);
    await rest();
    expect(isThere(run)).to.equal(true);
    // It was off for 60 days: the hour passes, and the folder goes.
    await restartAt(wrongMs + DAY_MS);
    await sweep();
    await clock.advance(SWEEP_MS + 1000);
    await rest();
    expect(isThere(run)).to.equal(false);
  });

  it('also waits at the first sweep of an output root that other runners have used', async () => {
    const run = attempt(1);
    await finish(run);
    await spool.close();
    utimesSync(join(spool.directory, 'process.json'), clock.now() / 1000, clock.now() / 1000);
    clock = new SimulatedClock({ nowMs: clock.now() + 60 * DAY_MS });
    waits = patientWaits();
    spool = await openSpool('r2');
    await sweep();
    expect(isThere(run)).to.equal(true);
    expect(said[0]).to.match(/60.0 days after/);
    await clock.advance(SWEEP_MS + 1000);
    await rest();
    expect(isThere(run)).to.equal(false);
  });

  it('deletes the folders and the state of former runners, except of a runner that runs or has files to send', async () => {
    await sweep();
    const states: Record<string, string> = {};
    const records: Record<string, SpooledAttempt> = {};
    const spools: Record<string, Spool> = {};
    for (const [index, id] of ['done', 'sends', 'runs'].entries()) {
      const other = await openSpool(id);
      spools[id] = other;
      records[id] = attempt(10 + index);
      states[id] = other.directory;
      await finish(records[id], other);
      if (id === 'sends') await other.running({ ...attempt(20), upload: { files: ['deep/out.csv'] } });
      if (id !== 'runs') await other.close();
      utimesSync(join(other.directory, 'process.json'), clock.now() / 1000, clock.now() / 1000);
    }
    await pass(31 * DAY_MS);
    await spools['runs']!.close();
    expect(Object.values(states).map((it) => existsSync(it))).to.deep.equal([false, true, true]);
    expect(Object.values(records).map(isThere)).to.deep.equal([false, false, true]);
    expect(existsSync(attemptDirectory(folder, study, 20, 1))).to.equal(true);
    expect(said).to.deep.equal([
      'info: deleted the folders of 2 runs (2.0 KiB) that ended more than 30 days ago, and the state of 1 former runner',
    ]);
  });

  it('completes what a killed runner has begun to delete, and says what it cannot delete', async () => {
    const run = attempt(1);
    await finish(run);
    await spool.ends.noteDeletion([run], { atMs: clock.now(), keepDays: 1 });
    rmSync(run.directory, { recursive: true });
    await clock.advance(2 * DAY_MS);
    await sweep(1);
    // It was off for more than a day.
    await clock.advance(SWEEP_MS);
    await rest();
    expect(isThere(run)).to.equal(false);
    const [last] = await spool.ends.before(Infinity, 1);
    expect(last).to.equal(undefined);
    const folderTaken = attempt(2);
    await finish(folderTaken);
    rmSync(dirname(folderTaken.directory), { recursive: true });
    writeFileSync(dirname(folderTaken.directory), '');
    await pass(2 * DAY_MS);
    expect(said.filter((it) => /^warn: folders of old runs cannot be deleted now: 1 folder: .*ENOTDIR/.test(it))).to.not
      .be.empty;
  });

  const ref = ({ job_id, attempt: number }: SpooledAttempt) => ({ job_id, attempt: number });
});
