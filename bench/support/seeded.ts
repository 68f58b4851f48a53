/**
 * Large data directories, written straight through the store in the format the coordinator writes: a million results take
 * some seconds this way. The coordinator that then opens them is the judge of whether they are right.
 */
import { INITIAL_HISTORY, type JobContext } from '../../machines/job-context.ts';
import { INITIAL_COUNTERS, type BatchContext } from '../../machines/batch.ts';
import type { HeldAttempt, RunnerContext } from '../../machines/runner-context.ts';
import { jobId, newBatchId } from '../../src/domain/ids.ts';
import { encodeHistory } from '../../src/domain/histories/values.ts';
import { SAMPLING_SCHEME } from '../../src/domain/sampling/sampler.ts';
import type { BatchStatus, JobStatus, Uuid } from '../../src/contract/types.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { reportedResult } from '../../src/coordinator/kernel/records/to-resource.ts';
import { encodeJob } from '../../src/coordinator/kernel/actors/job-codec.ts';
import { ACTOR_KINDS } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import type { Store } from '../../src/coordinator/kernel/storage/store.ts';
import { encodeSubmission } from '../../src/coordinator/kernel/records/study-cache.ts';
import { registration, RESULT, study } from './studies.ts';

const WRITTEN_AT_ONCE = 10_000;

export interface Seeded {
  /** All its runs are Completed, each with a result. */
  finished: Uuid;
  /** Its first runs are Running, the rest untouched. */
  active: Uuid;
}

/** Fills the directory: a finished study of `finishedRuns`, and one of 10^6 runs of which `activeRuns` are Running. */
export async function seed(directory: string, finishedRuns: number, activeRuns: number): Promise<Seeded> {
  const store = await openStore(directory);
  try {
    const finished = await seedFinished(store, finishedRuns);
    return { finished, active: await seedActive(store, activeRuns) };
  } finally {
    await store.close();
  }
}

/** Fills the directory with a finished study whose runs have these outputs. */
export async function seedOutputs(
  directory: string,
  runs: number,
  metadataOf: (runId: number) => Record<string, unknown>,
): Promise<Uuid> {
  const store = await openStore(directory);
  try {
    return await seedFinished(store, runs, metadataOf);
  } finally {
    await store.close();
  }
}

/** Fills the directory with a finished study of one history, `nz_g`, with these times. */
export async function seedHistories(directory: string, runs: number, points: number): Promise<Uuid> {
  const store = await openStore(directory);
  try {
    const batchId = await seedFinished(store, runs);
    const submission = study(runs);
    submission.config.histories = [{ variable: 'nz_g', at: { from: 0, to: (points - 1) / 10, step: 0.1 }, units: 'g' }];
    await store.write([[keys.submission(batchId), encodeSubmission(submission, 42)]]);
    const values = new Float64Array(points);
    for (let from = 0; from < runs; from += 500) {
      const changes = new Map<string, string>();
      for (let run = from; run < Math.min(runs, from + 500); run += 1) {
        // The last tenth of each second run is missing.
        for (let at = 0; at < points; at += 1)
          values[at] = run % 2 === 1 && at > points * 0.9 ? Number.NaN : 9.81 * Math.sin(run + at / 50);
        changes.set(keys.history(batchId, 0, run), encodeHistory(values));
        const id = jobId(batchId, run);
        changes.set(keys.result(id), JSON.stringify({ ...reportedResult(id, RESULT, null, 1000), history_count: 1 }));
      }
      await store.write(changes);
    }
    return batchId;
  } finally {
    await store.close();
  }
}

async function seedFinished(
  store: Store,
  runs: number,
  metadataOf: (runId: number) => Record<string, unknown> = () => RESULT.metadata,
): Promise<Uuid> {
  const now = Date.now();
  const counts = { next: runs, completed: runs, startedAtMs: now, endedAtMs: now };
  const batch = await seedBatch(store, 'Completed', { ...counts, totalJobs: runs });
  for (let from = 0; from < runs; from += WRITTEN_AT_ONCE) {
    const changes = new Map<string, string>();
    for (let runId = from; runId < Math.min(runs, from + WRITTEN_AT_ONCE); runId += 1) {
      const { id, record } = jobRecord(batch, runId, 'Completed', `r${runId % 4}`, now);
      changes.set(keys.job(id), record);
      changes.set(
        keys.result(id),
        JSON.stringify(reportedResult(id, { ...RESULT, metadata: metadataOf(runId) }, null, 1000)),
      );
    }
    await store.write(changes);
  }
  return batch.batchId;
}

async function seedActive(store: Store, runs: number): Promise<Uuid> {
  const now = Date.now();
  const counts = { totalJobs: 1_000_000, next: runs, running: runs, startedAtMs: now };
  const batch = await seedBatch(store, 'Running', counts);
  const changes = new Map([[keys.open(batch.batchId), '']]);
  const perRunner = 100;
  for (let from = 0; from < runs; from += perRunner) {
    const runnerId = `holder-${from / perRunner}`;
    const held: HeldAttempt[] = [];
    for (let runId = from; runId < Math.min(runs, from + perRunner); runId += 1) {
      const { id, record } = jobRecord(batch, runId, 'Running', runnerId, now);
      changes.set(keys.job(id), record);
      held.push({ jobId: id, attempt: 1, cpuMilli: 0, memoryBytes: 0 });
    }
    changes.set(keys.runner(runnerId), runnerRecord(runnerId, held, now));
  }
  await store.write(changes);
  return batch.batchId;
}

async function seedBatch(store: Store, value: BatchStatus, counts: Partial<BatchContext>): Promise<BatchContext> {
  const createdAtMs = Date.now();
  const batchId = newBatchId(createdAtMs, crypto.getRandomValues(new Uint8Array(6)));
  const context: BatchContext = {
    canaryRuns: undefined,
    maxFailures: undefined,
    priority: undefined,
    batchId,
    name: 'bench',
    configHash: 'none',
    createdAtMs,
    simulationName: 'nothing',
    totalJobs: 0,
    maxParallelJobs: 0,
    maxRetries: 3,
    timeLimitMs: 3_600_000,
    cpuMilli: 0,
    memoryBytes: 0,
    samplingScheme: SAMPLING_SCHEME,
    ...INITIAL_COUNTERS,
    ...counts,
  };
  await store.write(
    new Map([
      [keys.batch(batchId), ACTOR_KINDS.batch.encode({ value, context })],
      [keys.submission(batchId), encodeSubmission(study(context.totalJobs), 42)],
    ]),
  );
  return context;
}

function jobRecord(batch: BatchContext, runId: number, value: JobStatus, runner: string, now: number) {
  const id = jobId(batch.batchId, runId);
  const isOver = value === 'Completed';
  const { batchId, maxRetries, timeLimitMs, cpuMilli, memoryBytes } = batch;
  const context: JobContext = {
    ...INITIAL_HISTORY,
    jobId: id,
    batchId,
    runId,
    maxRetries,
    timeLimitMs,
    cpuMilli,
    memoryBytes,
    attempt: 1,
    runnerId: runner,
    claimedAtMs: now - 2000,
    startedAtMs: now - 1000,
    completedAtMs: isOver ? now : undefined,
    dueAtMs: isOver ? undefined : now + timeLimitMs,
    attempts: [
      {
        n: 1,
        runner,
        claimed: now - 2000,
        started: now - 1000,
        ...(isOver && { endAttempt: now, outcome: 'completed' }),
      },
    ],
  };
  return { id, record: encodeJob({ value, context }) };
}

function runnerRecord(runnerId: string, held: readonly HeldAttempt[], now: number): string {
  const { name, instance, capabilities } = registration(runnerId, held.length);
  const context: RunnerContext = {
    runnerId,
    name,
    instance,
    capabilities,
    held,
    tags: [],
    heartbeatIntervalSecs: 5,
    registeredAtMs: now,
    lastHeartbeatMs: now,
    heardAtMs: now,
    signedOffAtMs: undefined,
    drained: false,
    drainReason: undefined,
    drainedUntilMs: undefined,
    quarantined: undefined,
    countedSinceMs: undefined,
    slotsLost: undefined,
    machine: undefined,
    allocation: undefined,
    endsAtMs: undefined,
    ephemeral: undefined,
    hostname: undefined,
    engines: undefined,
    leaving: undefined,
    lost: undefined,
    completed: 0,
    failed: 0,
  };
  return ACTOR_KINDS.runner.encode({ value: 'Busy', context });
}
