/**
 * Checks the shape of each record of a snapshot file, by tables of members. Files are untrusted: a checked record is safe for
 * the machines and the store. `replay.ts` checks that the records agree with each other.
 */
import { isBatchId, isJobId } from '../../domain/ids.ts';
import { ATTEMPT_OUTCOMES, BATCH_STATUSES, JOB_STATUSES, RUNNER_STATUSES } from '../../contract/enums.ts';
import type { RecordName } from './format.ts';

/** Returns the requirement that a value does not meet, in words; undefined when it is valid. `id` is its record's id. */
type Check = (value: unknown, id: string) => string | undefined;
type Members = Readonly<Record<string, Check>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const must =
  (holds: (value: unknown, id: string) => boolean, what: string): Check =>
  (value, id) =>
    holds(value, id) ? undefined : `is ${shown(value)}; it must be ${what}`;

const text = must((it) => typeof it === 'string', 'a text');
const flag = must((it) => typeof it === 'boolean', 'true or false');
const number = must((it) => typeof it === 'number' && Number.isFinite(it), 'a number');
const count = must((it) => Number.isSafeInteger(it) && (it as number) >= 0, 'a whole number from 0');
const time = must((it) => Number.isSafeInteger(it) && Math.abs(it as number) <= 8.64e15, 'a time in milliseconds');
const batchId = must((it) => typeof it === 'string' && isBatchId(it), 'the id of a batch');
const jobId = must((it) => typeof it === 'string' && isJobId(it), 'the id of a job');
const ownId = must((it, id) => it === id, 'the id in its key');
const runnerId = must((it) => typeof it === 'string' && /^[A-Za-z0-9._:@-]{1,128}$/.test(it), 'the id of a runner');
const anyObject = must(isObject, 'an object');
const list = must(Array.isArray, 'a list');
const oneOf = (values: readonly string[]): Check =>
  must((it) => values.includes(it as string), `one of ${values.join(', ')}`);

const optional =
  (check: Check): Check =>
  (value, id) =>
    value === undefined ? undefined : check(value, id);
const nullable =
  (check: Check): Check =>
  (value, id) =>
    value === null || value === undefined ? undefined : check(value, id);
const both =
  (...checks: readonly Check[]): Check =>
  (value, id) =>
    checks.map((check) => check(value, id)).find((it) => it !== undefined);
const object =
  (members: Members): Check =>
  (value, id) =>
    isObject(value) ? faultsOf(members, value, id)[0] : `is ${shown(value)}; it must be an object`;
const each =
  (check: Check): Check =>
  (value, id) => {
    if (!Array.isArray(value)) return `is ${shown(value)}; it must be a list`;
    for (const [at, item] of value.entries()) {
      const fault = check(item, id);
      if (fault !== undefined) return `[${at}] ${fault}`;
    }
    return undefined;
  };

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 60);

const ATTEMPT: Members = {
  n: count,
  runner: text,
  claimed: time,
  started: optional(time),
  ended: optional(time),
  outcome: optional(oneOf(ATTEMPT_OUTCOMES)),
  reason: optional(text),
  message: optional(text),
};

const CAPABILITIES: Members = {
  max_concurrent_jobs: count,
  cpu_cores: count,
  memory_gb: number,
  gpu_available: flag,
  supported_simulation_types: each(text),
  python_version: optional(text),
};

const HELD: Members = {
  jobId,
  attempt: count,
  cpuMilli: number,
  memoryBytes: number,
  missingSinceMs: optional(time),
};

const SHAPES: Readonly<Record<RecordName | 'scenario' | 'study' | 'export', Members>> = {
  batch: {
    value: oneOf(BATCH_STATUSES),
    batchId: both(batchId, ownId),
    name: text,
    configHash: text,
    createdAtMs: time,
    simulationName: text,
    totalJobs: count,
    maxParallelJobs: count,
    maxRetries: count,
    timeLimitMs: count,
    cpuMilli: number,
    memoryBytes: number,
    samplingScheme: text,
    next: count,
    cancelledAhead: count,
    requeued: count,
    claimed: count,
    running: count,
    completed: count,
    failed: count,
    timedOut: count,
    cancelled: count,
    cancelRequested: flag,
    cancelReason: optional(text),
    startedAtMs: optional(time),
    endedAtMs: optional(time),
  },
  submission: { seed: must((it) => typeof it === 'string' && /^\d{1,19}$/.test(it), 'digits'), submission: anyObject },
  job: {
    value: oneOf(JOB_STATUSES),
    attempt: count,
    retries: count,
    losses: count,
    runnerId: optional(runnerId),
    claimedAtMs: optional(time),
    startedAtMs: optional(time),
    completedAtMs: optional(time),
    dueAtMs: optional(time),
    error: optional(text),
    attempts: each(object(ATTEMPT)),
    attemptsOmitted: count,
  },
  result: {
    job_id: both(jobId, ownId),
    success: flag,
    execution_time_secs: number,
    output_files: each(text),
    metadata: anyObject,
    error_message: nullable(text),
    telemetry_data: nullable(text),
  },
  runner: {
    value: oneOf(RUNNER_STATUSES),
    runnerId: both(runnerId, ownId),
    name: text,
    instance: text,
    capabilities: object(CAPABILITIES),
    tags: each(text),
    heartbeatIntervalSecs: number,
    registeredAtMs: time,
    lastHeartbeatMs: time,
    heardAtMs: time,
    held: each(object(HELD)),
    drained: flag,
    drainReason: optional(text),
    completed: count,
    failed: count,
  },
  scenario: {
    name: text,
    about: text,
    machine: oneOf(['job', 'batch', 'runner', 'supervisor']),
    input: anyObject,
    start: anyObject,
    startFacts: optional(list),
    steps: each(anyObject),
    end: anyObject,
  },
  study: { name: text, about: text, turns: each(anyObject) },
  export: { made_by: text, taken_at: text, batch_id: nullable(batchId) },
};

const IDS: Partial<Record<string, Check>> = {
  batch: batchId,
  submission: batchId,
  job: jobId,
  result: jobId,
  runner: runnerId,
};

/** The faults of a record or of the head of a file; empty when it is valid. */
export function stateFaults(name: keyof typeof SHAPES, value: Record<string, unknown>, id = ''): string[] {
  const fault = IDS[name]?.(id, id);
  if (fault !== undefined) return [`its id ${fault}`];
  return faultsOf(SHAPES[name], value, id);
}

function faultsOf(members: Members, value: Record<string, unknown>, id: string): string[] {
  const faults: string[] = [];
  for (const [member, check] of Object.entries(members)) {
    const fault = check(Object.hasOwn(value, member) ? value[member] : undefined, id);
    if (fault !== undefined) faults.push(`"${member}" ${fault}`);
  }
  return faults;
}
