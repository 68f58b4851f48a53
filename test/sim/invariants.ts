/** The consistency check: reads the whole disk, recounts everything and compares the result with the stored counters. */
import { decodeBatch, decodeRunner, recordsOf, type Disk } from './decoded.ts';
import { checkHistories } from './histories.ts';
import { pendingRuns, releasedRuns, untouchedRuns, type BatchContext } from '../../machines/batch.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import type { KeyKind } from '../../src/coordinator/kernel/storage/keys.ts';
import {
  decodeJob,
  isTerminal,
  type BatchState,
  type JobState,
  type RunnerState,
} from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { waitingOf } from '../../src/domain/scheduling.ts';
import { insist } from './acknowledged.ts';
import { checkFamilies } from './growth.ts';
import { checkPools } from './pools.ts';
import { checkVerdicts } from './verdicts.ts';

export interface Disked {
  batches: Map<string, BatchState>;
  jobs: Map<string, JobState>;
  requeue: Set<string>;
  results: Set<string>;
  /** Batch -> results with the telemetry that a runner reported, and the lost samples of these. */
  reported: Map<string, { runs: number; lost: number }>;
}

/** The state that is kept from one check to the next. */
export class Memory {
  /** The terminal status of ended jobs and batches. */
  readonly ends = new Map<string, string>();
  readonly #states = new Map<string, { record: string; state: unknown }>();

  /** Decodes a record; an unchanged record is not decoded again. */
  decoded<T>(id: string, record: string, decode: () => T): T {
    const known = this.#states.get(id);
    if (known?.record === record) return known.state as T;
    const state = decode();
    this.#states.set(id, { record, state });
    return state;
  }
}

/** A quarantined runner takes no work, and its quarantine ends. */
function checkQuarantine({ value, context: c }: RunnerState): void {
  if (c.quarantined === undefined) return;
  const isApart = value === 'Maintenance' || value === 'Offline';
  insist(c.drained && isApart, () => `runner ${c.runnerId} is quarantined and ${value}`);
  insist(c.drainedUntilMs !== undefined, () => `the quarantine of runner ${c.runnerId} has no end`);
}

/** @throws Violation that describes the inconsistency */
export function checkDisk(disk: Disk, memory: Memory, ahead: ReadonlyMap<string, number> = new Map()): void {
  const { ends } = memory;
  const batches = new Map([...recordsOf(disk, 'batch')].map(([id, record]) => [id, decodeBatch(record)]));
  const jobs = new Map<string, JobState>();
  for (const [id, record] of recordsOf(disk, 'job')) {
    const batch = batches.get(batchIdOf(id));
    insist(batch !== undefined, () => `job ${id} has no batch`);
    const state = memory.decoded(id, record, () => decodeJob(id, record, batch.context));
    jobs.set(id, state);
  }
  const ids = (kind: KeyKind): Set<string> => new Set([...recordsOf(disk, kind)].map(([id]) => id));
  const all: Disked = { batches, jobs, requeue: ids('requeue'), results: ids('result'), reported: new Map() };
  for (const [id, record] of recordsOf(disk, 'result')) {
    const telemetry = /"telemetry":\{[^}]*"lost":(\d+)/.exec(record);
    if (telemetry === null) continue;
    const batchId = batchIdOf(id);
    const { runs, lost } = all.reported.get(batchId) ?? { runs: 0, lost: 0 };
    all.reported.set(batchId, { runs: runs + 1, lost: lost + Number(telemetry[1]) });
  }
  for (const batch of batches.values()) checkBatch(batch, all);
  for (const batch of batches.values()) checkVerdicts(disk, batch, all);
  checkHistories(disk);
  checkHolders(disk, all, ahead);
  checkPools(
    [...recordsOf(disk, 'runner')].map(([id, record]) => [id, decodeRunner(record)]),
    batches,
  );
  for (const [id, job] of jobs) checkJob(id, job, all);
  for (const id of all.requeue) insist(jobs.get(id)?.value === 'Pending', () => `requeued job ${id} is not Pending`);
  const open = ids('open');
  for (const id of open) insist(batches.has(id), () => `open batch ${id} does not exist`);
  for (const [id, { value }] of batches) {
    insist(open.has(id) === !isTerminal(value), () => `batch ${id} is ${value}; its open key ${open.has(id)}`);
  }
  for (const [id, { value, context }] of [...batches, ...jobs]) {
    // An extended study has an end after each extension.
    const end = 'extensions' in context ? `${id} ${context.extensions!.length}` : id;
    const before = ends.get(end);
    insist(before === undefined || before === value, () => `${end} was ${before} and is ${value}`);
    if (isTerminal(value)) ends.set(end, value);
  }
  checkFamilies(
    disk,
    [...batches.values()].map((it) => it.context),
  );
  for (const batch of batches.values()) checkCanary(batch, batches);
  const made = [...recordsOf(disk, 'idempotency')].map(([, record]) => {
    const { response } = JSON.parse(record) as { response: { batch_id: string } };
    return response.batch_id;
  });
  const asked = [...batches.values()].filter(({ context: { parent } }) => parent?.relation !== 'probe').length;
  insist(made.length === asked, () => `${made.length} keys were used and ${asked} batches were asked for`);
}

/** A study waits for a canary study that has not ended, starts by itself only when all its runs are Completed, and ends it by its cancellation. */
function checkCanary({ value, context: c }: BatchState, batches: Disked['batches']): void {
  if (c.canaryBatch === undefined) return;
  const canary = batches.get(c.canaryBatch);
  insist(canary !== undefined, () => `the canary study of batch ${c.batchId} is lost`);
  const hasEnded = isTerminal(canary.value);
  const isPassed = hasEnded && canary.context.completed === canary.context.totalJobs;
  const types = (c.history?.entries ?? []).map(({ type }) => type);
  const name = (): string => `batch ${c.batchId} is ${value}, its canary study ${canary.value}: ${types.join()}`;
  if (value === 'Cancelled') insist(hasEnded, name);
  if (types.includes('canary-passed')) insist(isPassed, name);
  if (c.canaryFailedAtMs !== undefined) insist(hasEnded && !isPassed, name);
  const isDecided = isTerminal(value) || c.releasedAtMs !== undefined || c.canaryFailedAtMs !== undefined;
  insist(isDecided || !hasEnded, name);
}

function checkJob(id: string, { value, context: c }: JobState, { requeue, results }: Disked): void {
  insist(
    requeue.has(id) === (value === 'Pending'),
    () => `job ${id} is ${value}; its requeue record ${requeue.has(id)}`,
  );
  const hasResult = value === 'Completed' || value === 'Failed' || value === 'Timeout';
  insist(results.has(id) === hasResult, () => `job ${id} is ${value}; its result ${results.has(id)}`);
  const counted = c.retries + c.losses + (c.infrastructureFaults ?? 0);
  // An attempt that was handed back counts nothing, whether it was started or not.
  const ended = c.attempts.filter((it) => it.started !== undefined && it.outcome !== 'released').length;
  const started = ended + c.attemptsOmitted;
  insist(counted <= started, () => `job ${id} counts ${counted} failures of ${started} attempts that were started`);
}

function checkBatch({ value, context: c }: BatchState, { jobs, reported }: Disked): void {
  const own = [...jobs].filter(([id]) => batchIdOf(id) === c.batchId);
  const count = (status: string): number => own.filter(([, it]) => it.value === status).length;
  const untouched = c.totalJobs - own.length;
  const expected = {
    requeued: count('Pending'),
    claimed: count('Claimed'),
    running: count('Running'),
    completed: count('Completed'),
    failed: count('Failed'),
    timedOut: count('Timeout'),
    cancelled: count('Cancelled') + (c.cancelRequested ? untouched : 0),
    untouched: c.cancelRequested ? 0 : untouched,
  };
  for (const [name, counted] of Object.entries(expected)) {
    const kept = name === 'untouched' ? untouchedRuns(c) : c[name as keyof BatchContext & keyof typeof expected];
    insist(kept === counted, () => `batch ${c.batchId}: ${name} is ${String(kept)}, a recount gives ${counted}`);
  }
  const { reported: runs = 0, lost = 0 } = c.telemetry ?? {};
  const counted = reported.get(c.batchId) ?? { runs: 0, lost: 0 };
  const name = `batch ${c.batchId} counts telemetry of ${runs} runs with ${lost} lost samples`;
  insist(
    runs === counted.runs && lost === counted.lost,
    () => `${name}, and ${counted.runs} results have it with ${counted.lost}`,
  );
  const sum = pendingRuns(c) + c.claimed + c.running + c.completed + c.failed + c.timedOut + c.cancelled;
  insist(sum === c.totalJobs, () => `batch ${c.batchId} has ${c.totalJobs} jobs and counts ${sum}`);
  const isOver = pendingRuns(c) + c.claimed + c.running === 0 && c.growing === undefined;
  insist(isOver === isTerminal(value), () => `batch ${c.batchId} is ${value} with ${sum} counted`);
  if (!c.cancelRequested) {
    const released = releasedRuns(c);
    insist(c.next <= released, () => `batch ${c.batchId}: run ${c.next - 1} was assigned and ${released} are released`);
    const failures = c.failed + c.timedOut - (c.terminated ?? 0);
    insist(failures < (c.maxFailures ?? Infinity), () => `batch ${c.batchId} goes beyond its ${failures} failures`);
  }
  const active = c.claimed + c.running;
  insist(c.maxParallelJobs === 0 || active <= c.maxParallelJobs, () => `batch ${c.batchId}: ${active} at once`);
}

/** Each held run is held by exactly one runner, within its capacity and the runs that may wait, and every held job is Claimed or Running. */
function checkHolders(disk: Disk, { batches, jobs }: Disked, ahead: ReadonlyMap<string, number>): void {
  const holders = new Map<string, string>();
  for (const [runnerId, record] of recordsOf(disk, 'runner')) {
    const runner = decodeRunner(record);
    checkQuarantine(runner);
    const { context: c } = runner;
    for (const it of c.held) {
      const { jobId, attempt } = it;
      insist(!holders.has(jobId), () => `job ${jobId} is held by ${holders.get(jobId)} and ${runnerId}`);
      holders.set(jobId, runnerId);
      const job = jobs.get(jobId);
      const isHeld = job?.value === 'Claimed' || job?.value === 'Running';
      insist(isHeld && job.context.runnerId === runnerId && job.context.attempt === attempt, () => {
        return `runner ${runnerId} holds attempt ${attempt} of job ${jobId}, which is ${job?.value}`;
      });
      const { cpuMilli } = batches.get(batchIdOf(jobId))?.context ?? {};
      insist(it.cpuMilli === cpuMilli, () => `runner ${runnerId} counts ${it.cpuMilli} for job ${jobId}`);
    }
    const { max_concurrent_jobs: slots, cpu_cores: cores } = c.capabilities;
    const waiting = waitingOf(c.capabilities, c.held).length;
    const allowed = ahead.get(runnerId) ?? 0;
    insist(waiting <= allowed, () => {
      return `${waiting} runs wait on runner ${runnerId}, which allows ${allowed}: it holds ${c.held.length} with ${slots} slots and ${cores} cores`;
    });
  }
  for (const [id, { value }] of jobs) {
    const isHeld = value === 'Claimed' || value === 'Running';
    insist(holders.has(id) === isHeld, () => `job ${id} is ${value}; held by ${holders.get(id)}`);
  }
}
