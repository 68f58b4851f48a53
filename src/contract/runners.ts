/** Runners: as clients see them, and how a runner registers, lives and asks for work. Its reports are in `reports.ts`. */
import { Type, type Static } from 'typebox';
import { RUNNER_STATUSES } from './enums.ts';
import { answered, enumOf, flag, listOf, mapOf, named, ref, submitted, text } from './build.ts';
import { Job } from './jobs.ts';
import { LIMITS } from './limits.ts';
import { count, double, instance, int32, name, runnerId, timestamp, uuid } from './scalars.ts';
import { BatchConfig } from './study.ts';

export const RunnerCapabilities = named(
  'RunnerCapabilities',
  'What a runner has to offer.',
  submitted({
    max_concurrent_jobs: int32('How many jobs it executes at once.'),
    cpu_cores: int32('Its cores; 0 means undeclared, so no limit.'),
    memory_gb: double('Its memory; 0 means undeclared, so no limit.', { minimum: 0 }),
    gpu_available: flag('Whether it has a GPU.'),
    supported_simulation_types: listOf(
      name('A simulation name, or `*`.'),
      'Simulations it accepts; empty or `*` means any.',
      LIMITS.tags,
    ),
    python_version: Type.Optional(Type.String({ maxLength: LIMITS.nameLength, description: 'Its Python.' })),
  }),
);
export type RunnerCapabilities = Static<typeof RunnerCapabilities>;

export const Runner = named(
  'Runner',
  'A worker process.',
  answered({
    id: text('Unique runner id.'),
    name: text('Display name.'),
    status: enumOf(
      RUNNER_STATUSES,
      '`Idle`: ready. `Busy`: executing. `Offline`: no heartbeat. `Maintenance`: drained, takes no new jobs.',
    ),
    capabilities: ref(RunnerCapabilities),
    current_jobs: listOf(uuid('A job.'), 'Jobs it holds now.'),
    tags: listOf(Type.String(), 'Labels of its own.'),
    registered_at: timestamp('When it registered first.'),
    last_heartbeat: timestamp('When it was last heard of.'),
    total_jobs_completed: count('Jobs it completed.'),
    total_jobs_failed: count('Jobs that failed on it.'),
    accepting_jobs: Type.Optional(flag('False while drained.')),
    drain_reason: Type.Optional(text('Why it was drained.')),
  }),
);
export type Runner = Static<typeof Runner>;

export const RunnerListResponse = named(
  'RunnerListResponse',
  'The pool.',
  answered({
    runners: listOf(ref(Runner), 'The runners.'),
    active_runners: int32('How many are not Offline.'),
    offline_runners: int32('How many are Offline.'),
    total_capacity: count('How many jobs the active ones execute at once.'),
  }),
);
export type RunnerListResponse = Static<typeof RunnerListResponse>;

export const AttemptRef = named(
  'AttemptRef',
  'One attempt of one job.',
  submitted({ job_id: uuid('The job.'), attempt: int32('Number of the attempt, from 1.', { minimum: 1 }) }),
);
export type AttemptRef = Static<typeof AttemptRef>;

const holding = listOf(ref(AttemptRef), 'What the runner process holds now.', LIMITS.holding);
const lost = listOf(ref(AttemptRef), 'What it says it holds and does not any more: stop these, they are not yours.');

export const RegisterRequest = named(
  'RegisterRequest',
  'A runner introduces itself.',
  submitted({
    id: runnerId('Unique in the pool.'),
    name: Type.Optional(name('Display name; the id when absent.')),
    capabilities: ref(RunnerCapabilities),
    tags: Type.Optional(listOf(name('A label.'), 'Labels to filter by.', LIMITS.tags)),
    instance,
    heartbeat_interval_secs: Type.Optional(int32('How often it means to be heard.', { minimum: 1, maximum: 3_600 })),
    holding: Type.Optional(holding),
    replaces: Type.Optional({
      ...instance,
      description: 'The instance this process knows to be dead and takes over from.',
    }),
  }),
);
export type RegisterRequest = Static<typeof RegisterRequest>;

export const RegisterResponse = named(
  'RegisterResponse',
  'What the coordinator expects of the runner.',
  answered({
    runner: ref(Runner),
    heartbeat_interval_secs: int32('Send a heartbeat this often.'),
    offline_after_secs: int32('Without one for this long the runner is Offline.'),
    lease_secs: int32('Without one for this long its jobs are given away.'),
    lost,
  }),
);
export type RegisterResponse = Static<typeof RegisterResponse>;

export const HeartbeatRequest = named('HeartbeatRequest', 'A sign of life.', submitted({ instance, holding }));
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;

export const CancelNotice = named(
  'CancelNotice',
  'An attempt to be killed.',
  answered({
    job_id: uuid('The job.'),
    attempt: int32('Number of the attempt.'),
    reason: text('Why.'),
  }),
);
export type CancelNotice = Static<typeof CancelNotice>;

export const HeartbeatResponse = named(
  'HeartbeatResponse',
  'What the runner must know.',
  answered({ runner: ref(Runner), cancel: listOf(ref(CancelNotice), 'Kill these.'), lost }),
);
export type HeartbeatResponse = Static<typeof HeartbeatResponse>;

export const ClaimRequest = named(
  'ClaimRequest',
  'A runner asks for work.',
  submitted({
    instance,
    max_jobs: int32('How many it can take now.', { minimum: 1, maximum: LIMITS.maxJobs }),
    wait_seconds: Type.Optional(
      double('How long to wait for work when there is none.', { minimum: 0, maximum: LIMITS.waitSeconds }),
    ),
    holding: Type.Optional(holding),
  }),
);
export type ClaimRequest = Static<typeof ClaimRequest>;

export const Assignment = named(
  'Assignment',
  "A job that is the runner's now.",
  answered({ job: ref(Job), attempt: int32('Number of the attempt; every report of it carries it.') }),
);
export type Assignment = Static<typeof Assignment>;

const BatchOfAssignment = named('BatchOfAssignment', 'The study a job is of.', answered({ config: ref(BatchConfig) }));

export const ClaimResponse = named(
  'ClaimResponse',
  'Work, or none.',
  answered({
    assignments: listOf(ref(Assignment), 'Empty when there is no work.'),
    batches: mapOf(ref(BatchOfAssignment), { description: 'Batch id -> its study, for each batch among the jobs.' }),
  }),
);
export type ClaimResponse = Static<typeof ClaimResponse>;

export const SignOffRequest = named(
  'SignOffRequest',
  'A runner leaves; what it claimed and did not start goes back.',
  submitted({ instance }),
);
export type SignOffRequest = Static<typeof SignOffRequest>;
