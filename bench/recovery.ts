/**
 * How long a coordinator takes to come back: against the number of jobs that runners hold, and against the number of runs that
 * have ended. The first may grow with what is active; the second must be flat.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jobId } from '../src/domain/ids.ts';
import { keys } from '../src/coordinator/kernel/storage/keys.ts';
import { openCoordinator, type Coordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import type { Store } from '../src/coordinator/kernel/storage/store.ts';
import { systemClock } from '../src/base/clock.ts';
import { study } from '../test/support/studies.ts';

const ACTIVE = [100, 1_000, 10_000, 100_000];
const ENDED = [10_000, 100_000, 1_000_000];
const PER_RUNNER = 10_000;

type Row = {
  what: string;
  active: number;
  ended: number;
  /** Opening the store, and bringing back to life what was alive. */
  openMs: number;
  restoreMs: number;
};

const capabilities = {
  max_concurrent_jobs: PER_RUNNER,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};

async function holdMany(coordinator: Coordinator, jobs: number): Promise<void> {
  await coordinator.submit(study({ runs: jobs }));
  for (let left = jobs, number = 0; left > 0; left -= PER_RUNNER, number += 1) {
    const [id, instance] = [`r${number}`, `i${number}`];
    await coordinator.register({ id, capabilities, instance });
    await coordinator.claim(id, { instance, max_jobs: Math.min(left, PER_RUNNER) });
  }
}

/** Writes an ended batch as the coordinator would have left it: a record and a result of each run. */
async function endMany(store: Store, runs: number): Promise<void> {
  const coordinator = await openCoordinator(store, systemClock);
  const { batch_id: batchId } = await coordinator.submit(study({ runs }));
  const now = systemClock.now();
  const batch = JSON.parse(store.get(keys.batch(batchId)) ?? '{}') as Record<string, unknown>;
  const attempts = [{ n: 1, runner: 'r0', claimed: now, started: now, ended: now, outcome: 'completed' }];
  const job = JSON.stringify({
    value: 'Completed',
    attempt: 1,
    retries: 0,
    losses: 0,
    runnerId: 'r0',
    claimedAtMs: now,
    startedAtMs: now,
    completedAtMs: now,
    attempts,
    attemptsOmitted: 0,
  });
  for (let runId = 0; runId < runs;) {
    const changes = new Map<string, string>();
    for (; runId < runs && changes.size < 20_000; runId += 1) {
      const id = jobId(batchId, runId);
      const result = { job_id: id, success: true, execution_time_secs: 1, output_files: [], metadata: { x: runId } };
      changes.set(keys.job(id), job).set(keys.result(id), JSON.stringify(result));
    }
    await store.write(changes);
  }
  const ended = { ...batch, value: 'Completed', next: runs, completed: runs, startedAtMs: now, endedAtMs: now };
  await store.write(
    new Map([
      [keys.batch(batchId), JSON.stringify(ended)],
      [keys.open(batchId), null],
    ]),
  );
  await coordinator.close();
}

async function reopen(what: string, directory: string, active: number, ended: number): Promise<Row> {
  const begunMs = performance.now();
  const store = await openStore(directory);
  const openedMs = performance.now();
  const coordinator = await openCoordinator(store, systemClock);
  const restoredMs = performance.now();
  if (coordinator.parts.directory.jobs.size !== active) throw new Error('not all that was active came back');
  await coordinator.close();
  return { what, active, ended, openMs: openedMs - begunMs, restoreMs: restoredMs - openedMs };
}

async function inDirectory(measure: (directory: string) => Promise<Row>): Promise<Row> {
  const directory = await mkdtemp(join(tmpdir(), 'simbatch-bench-'));
  try {
    return await measure(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  const add = (row: Row): void => {
    rows.push(row);
    const { what, openMs, restoreMs } = row;
    console.log(`${what}: store ${openMs.toFixed(0)} ms, actors ${restoreMs.toFixed(0)} ms`);
  };
  for (const active of ACTIVE) {
    add(
      await inDirectory(async (directory) => {
        const coordinator = await openCoordinator(await openStore(directory), systemClock);
        await holdMany(coordinator, active);
        await coordinator.close();
        return reopen(`${active} active jobs`, directory, active, 0);
      }),
    );
  }
  for (const ended of ENDED) {
    add(
      await inDirectory(async (directory) => {
        await endMany(await openStore(directory), ended);
        // The first opening after a write of this size sorts out the store's own log; what is measured is the usual one.
        await reopen('', directory, 0, ended);
        return reopen(`${ended} ended runs`, directory, 0, ended);
      }),
    );
  }
  return rows;
}
