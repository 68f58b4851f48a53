/** The thread that writes archives: its answers, and a thread that does not answer. */
import { expect } from 'chai';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../../src/base/clock.ts';
import { Archiver } from '../../../../src/runner/files/archive/archiver.ts';
import { DeadlineError, Waits } from '../../../../src/runner/waits.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { AttemptFolder } from './support.ts';

/** Threads that hang: the words of the shared memory are the phase and the progress. */
const HANGING = {
  writing: '',
  renaming: 'Atomics.store(words, 0, 1);',
  deleting: 'Atomics.store(words, 0, 2);',
};
/** A thread that has progress, and ends by itself when its job is cancelled. */
const PROGRESS = `
  const turn = () => {
    Atomics.add(words, 1, 1);
    if (Atomics.load(words, 0) === 3) process.exit();
    setImmediate(turn);
  };
  turn();`;

describe('runner/files/archive/archiver', () => {
  let folder: AttemptFolder;
  let clock: SimulatedClock;
  let leaving: AbortController;
  let waits: Waits;
  beforeEach(() => {
    folder = new AttemptFolder();
    folder.write({ 'a.txt': 'a', 'b/c.txt': 'c', 'telemetry.parquet': 'PAR1' });
    clock = new SimulatedClock();
    leaving = new AbortController();
    waits = new Waits(clock);
  });
  afterEach(() => folder.remove());

  /** An archiver whose thread executes this for each job. */
  function withThread(script: string): Archiver {
    const workerFile = join(folder.root, 'thread.mjs');
    writeFileSync(
      workerFile,
      `import { writeFileSync } from 'node:fs';
       import { parentPort } from 'node:worker_threads';
       parentPort.on('message', ({ state }) => {
         const words = new Int32Array(state);
         ${script}
         writeFileSync(${JSON.stringify(join(folder.root, 'begun'))}, '');
       });`,
    );
    return new Archiver({ clock, workerFile });
  }
  const archived = (archiver: Archiver, limitMs = Infinity) =>
    archiver.archive(waits, folder.directory, ['telemetry.parquet'], { leaving: leaving.signal, limitMs });
  /** The same, once its thread has begun. */
  async function begun(archiver: Archiver, limitMs?: number): Promise<{ outcome: ReturnType<typeof archived> }> {
    rmSync(join(folder.root, 'begun'), { force: true });
    const outcome = archived(archiver, limitMs);
    while (!existsSync(join(folder.root, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 5));
    return { outcome };
  }
  /** Advances the time until the promise settles. */
  async function inTime<T>(outcome: Promise<T>, stepMs = 1_000): Promise<{ value: T | Error; ms: number }> {
    let value: T | Error | undefined;
    outcome.then(
      (it) => (value = it),
      (error: Error) => (value = error),
    );
    for (let ms = 0; ; ms += stepMs) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (value !== undefined) return { value, ms };
      await clock.advance(stepMs);
    }
  }

  it('archives the folders of several attempts at once', async () => {
    const archiver = new Archiver({ clock: systemClock });
    const others = Array.from({ length: 5 }, (_, at) => new AttemptFolder(join(folder.root, String(at))));
    for (const [at, it] of others.entries()) it.write({ x: String(at), y: 'y' });
    const real = new Waits(systemClock);
    const outcomes = await Promise.all(others.map((it) => archiver.archive(real, it.directory, [])));
    expect(outcomes.map((it) => it.type)).to.deep.equal(outcomes.map(() => 'archived'));
    for (const [at, it] of others.entries()) expect(await it.read('x')).to.equal(String(at));
    expect(real.pending).to.equal(0);
  });

  it('leaves the files as they are where the disk is silent for a minute', async () => {
    const { value, ms } = await inTime((await begun(withThread(HANGING.writing))).outcome, 10_000);
    expect(value).to.deep.equal({ type: 'unchanged', why: 'the disk does not answer' });
    expect(ms).to.be.within(60_000, 130_000);
  });

  it('waits for a thread that has progress, within the time limit of the run', async () => {
    const { value, ms } = await inTime((await begun(withThread(PROGRESS), 300_000)).outcome, 5_000);
    expect(value).to.deep.equal({ type: 'unchanged', why: 'the time limit of the run was near' });
    expect(ms).to.be.within(300_000, 310_000);
  });

  it('ends with the runner that leaves, ten seconds later', async () => {
    const archiver = withThread(PROGRESS);
    const { outcome } = await begun(archiver);
    await clock.advance(30_000);
    leaving.abort();
    const { value, ms } = await inTime(outcome);
    expect(value).to.deep.equal({ type: 'unchanged', why: 'the runner leaves' });
    expect(ms).to.be.within(10_000, 15_000);
  });

  it('fails where it is not known whether the archive has its name, and takes it as made while members are deleted', async () => {
    const unknown = await inTime((await begun(withThread(HANGING.renaming))).outcome, 10_000);
    expect(unknown.value).to.be.instanceOf(DeadlineError);
    const deleting = await inTime((await begun(withThread(HANGING.deleting))).outcome, 10_000);
    expect(deleting.value).to.deep.equal({
      type: 'archived',
      kept: ['telemetry.parquet'],
      notes: ['files of files.zip may still be beside it: the disk does not answer'],
    });
  });

  it('leaves the files as they are where the thread crashes, and starts another one for the next', async () => {
    const archiver = withThread('throw new Error("out of memory")');
    const { value } = await inTime(archived(archiver), 0);
    expect(value).to.deep.equal({ type: 'unchanged', why: 'its thread ended: out of memory' });
    expect(existsSync(folder.at('a.txt'))).to.equal(true);
    const next = await inTime(archived(archiver), 0);
    expect(next.value).to.deep.equal(value);
  });
});
