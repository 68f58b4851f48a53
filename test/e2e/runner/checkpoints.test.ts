/** Runs that continue at their checkpoint: over the end of an allocation, the death of a runner, and on another machine. */
import { expect } from 'chai';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { jobId, newBatchId } from '../../../src/domain/ids.ts';
import { adoptCheckpoint, checkpointDirectory, Checkpoints } from '../../../src/runner/checkpoints/checkpoints.ts';
import { silentLog } from '../../../src/runner/log.ts';
import { Waits } from '../../../src/runner/waits.ts';
import { Pool } from '../../support/pool.ts';

const BATCH = newBatchId(0, new Uint8Array(6));

describe('runner: checkpoints', () => {
  let folder: string;
  let pool: Pool | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-checkpoints-'));
  });
  afterEach(async () => {
    await pool?.close();
    pool = undefined;
    rmSync(folder, { recursive: true });
  });

  interface State {
    step: number;
    /** Attempt and step of each beginning. */
    begins: [number, number][];
  }

  /** The checkpoint of the first run with the most steps. */
  function stateOf(root: string, batchId: string): State {
    const run = join(root, batchId, '00000000');
    const files = (existsSync(run) ? readdirSync(run) : []).map((attempt) => join(run, attempt, 'state.json'));
    const states = files.filter((it) => existsSync(it)).map((it) => JSON.parse(readFileSync(it, 'utf8')) as State);
    return states.sort((a, b) => a.step - b.step).at(-1) ?? { step: 0, begins: [] };
  }

  async function untilStep(root: string, batchId: string, step: number, begins = 0): Promise<void> {
    const isThere = (it: State): boolean => it.step >= step && it.begins.length >= begins;
    while (!isThere(stateOf(root, batchId))) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  it('end a long run in three allocations: a walltime, a killed runner, its successor', async () => {
    pool = await Pool.open();
    const shared = join(folder, 'shared');
    const args = ['--checkpoint-dir', shared, '--grace-secs', '0'];
    // More steps than a first allocation takes, however long it has to be.
    const batchId = await pool.submit('resumes', { STEPS: '1500' });
    // On a busy machine an allocation may end before its run has begun.
    for (let secs = 3; stateOf(shared, batchId).step < 5; secs *= 2) {
      const first = pool.site.start(pool.url, [...args, '--max-lifetime', `${secs}s`, '--lifetime-margin', '1s']);
      expect(await first.exit()).to.equal(0);
    }

    const { begins: earlier } = stateOf(shared, batchId);
    const second = pool.site.start(pool.url, args);
    await untilStep(shared, batchId, 120, earlier.length + 1);
    await second.end('SIGKILL');

    // It finds the spool of the runner that died, and so its run without waiting for the lease.
    pool.site.start(pool.url, args);
    const job = await pool.until(batchId, ['Completed', 'Failed']);
    expect(job).to.include({ status: 'Completed', retries: 0 });
    const { metadata } = await pool.client.jobResult(job.id);
    const { step, begins } = metadata as unknown as State;
    expect(step).to.equal(1500);
    const attempts = begins.map(([attempt]) => attempt);
    expect(attempts).to.deep.equal([...new Set(attempts)].sort((a, b) => a - b));
    expect(begins.length).to.be.at.least(3);
    expect(begins[0]?.[1]).to.equal(0);
    expect(begins.at(-2)?.[1]).to.be.at.least(5);
    expect(begins.at(-1)?.[1]).to.be.at.least(120);
    while (existsSync(join(shared, batchId))) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it('stay for the next attempt of a run that failed, and are removed when it has ended or was cancelled', async () => {
    pool = await Pool.open();
    const root = join(pool.site.folder, 'out/.checkpoints');
    pool.site.start(pool.url, ['--heartbeat-interval-secs', '1']);
    const failing = await pool.submit('resumes', { STEPS: '10', EXIT_CODE: '1' }, { maxRetries: 1 });
    const job = await pool.until(failing, ['Completed', 'Failed']);
    expect((await pool.client.jobResult(job.id)).metadata).to.deep.equal({
      step: 10,
      begins: [
        [1, 0],
        [2, 5],
      ],
      simbatch_notes: ['it continued at the checkpoint of attempt 1'],
    });
    while (existsSync(join(root, failing))) await new Promise((resolve) => setTimeout(resolve, 20));
    const batchId = await pool.submit('resumes', { STEPS: '1000000' });
    await untilStep(root, batchId, 2);
    await pool.client.cancelJob(jobId(batchId, 0));
    while (existsSync(join(root, batchId))) await new Promise((resolve) => setTimeout(resolve, 20));
    const other = await pool.submit('succeed');
    await pool.until(other, ['Completed']);
    expect(existsSync(join(root, other))).to.equal(false);
  });

  it('pass from the latest earlier attempt, whose directory is gone then', async () => {
    const at = (attempt: number) => checkpointDirectory(folder, BATCH, 7, attempt);
    expect(await adoptCheckpoint(at(2), 2)).to.equal(undefined);
    expect(existsSync(at(2))).to.equal(false);
    for (const attempt of [1, 3, 10]) {
      mkdirSync(at(attempt), { recursive: true });
      writeFileSync(join(at(attempt), 'state'), String(attempt));
    }
    rmSync(at(10), { recursive: true });
    expect(await adoptCheckpoint(at(10), 10)).to.equal(3);
    expect([existsSync(at(3)), readFileSync(join(at(10), 'state'), 'utf8')]).to.deep.equal([false, '3']);
  });

  it('leave no empty folder, and no old one where the runner alone uses the root', async () => {
    const checkpoints = new Checkpoints(folder, new Waits(systemClock), silentLog);
    const old = checkpointDirectory(folder, BATCH, 1, 1);
    const young = checkpointDirectory(folder, BATCH, 2, 1);
    for (const directory of [old, young]) mkdirSync(directory, { recursive: true });
    utimesSync(join(old, '..'), 1, 1);
    await checkpoints.sweep(Date.now());
    expect([existsSync(old), existsSync(young)]).to.deep.equal([false, true]);
    await checkpoints.remove(jobId(BATCH, 3));
    await checkpoints.remove(jobId(BATCH, 2));
    expect(existsSync(join(folder, BATCH))).to.equal(false);
  });

  it('are removed with their run below the output root too, where the runner looks without waiting', async () => {
    const checkpoints = new Checkpoints(folder, new Waits(systemClock), silentLog, true);
    mkdirSync(checkpointDirectory(folder, BATCH, 2, 1), { recursive: true });
    await checkpoints.remove(jobId(BATCH, 3));
    expect(existsSync(join(folder, BATCH))).to.equal(true);
    await checkpoints.remove(jobId(BATCH, 2));
    expect(existsSync(join(folder, BATCH))).to.equal(false);
  });
});
