/** Runners as resources, and the requests of the runner protocol except reports (`reports.ts`). */
import { Type, type Static } from 'typebox';
import { RUNNER_STATUSES } from '../enums.ts';
import { answered, enumOf, flag, listOf, mapOf, named, ref, submitted, text } from '../build.ts';
import { SitePool } from './demand.ts';
import { Job } from './jobs.ts';
import { engines, RunnerEngine } from '../code/identity.ts';
import { LIMITS } from '../limits.ts';
import {
  count,
  double,
  instance,
  int32,
  name,
  plainName,
  resourceCounts,
  resourceName,
  runnerId,
  timestamp,
  uuid,
} from '../scalars.ts';
import { BatchConfig } from '../study.ts';

export const RunnerCapabilities = named(
  'RunnerCapabilities',
  'The resources of a runner.',
  submitted({
    max_concurrent_jobs: int32('Number of jobs it executes at once.'),
    cpu_cores: int32('Number of cores; 0 means undeclared: no limit.'),
    memory_gb: double('Memory; 0 means undeclared: no limit.', { minimum: 0 }),
    gpu_available: flag('Whether it has a GPU.'),
    supported_simulation_types: listOf(
      name('A simulation name, or `*`.'),
      'Simulations it accepts; empty or `*` means any.',
      LIMITS.tags,
    ),
    environment_allowed: Type.Optional(
      listOf(
        name('A name, or a prefix with `*`.'),
        'Variables that a study may set in `container.environment`: a run with another one goes to no such runner; absent: not stated.',
        LIMITS.tags,
      ),
    ),
    container_images: Type.Optional(
      listOf(
        text('An image, or a prefix with `*`.', { maxLength: LIMITS.pathLength }),
        'Images that a study may name, with `container_runtime`; absent: not stated.',
        LIMITS.tags,
      ),
    ),
    features: Type.Optional(
      listOf(
        name('A feature.'),
        'What it knows beyond the first version of this protocol. `histories`: it computes histories and derived outputs; runs of a study with any go to such runners alone. Absent: none.',
        LIMITS.features,
      ),
    ),
    resources: Type.Optional(
      resourceCounts(
        'Counted resources that it has for runs, such as `{ "gpu": 2 }`; absent: none. 0: it was asked to look for them and has found none.',
        0,
      ),
    ),
    only_with: Type.Optional(
      listOf(
        resourceName('A resource.'),
        'It takes only runs that ask for one of these; absent: any run. Launchers state it for allocations with GPUs.',
        LIMITS.resources,
      ),
    ),
    python_version: Type.Optional(Type.String({ maxLength: LIMITS.nameLength, description: 'Version of its Python.' })),
    container_runtime: Type.Optional(
      Type.String({
        maxLength: LIMITS.nameLength,
        description: 'The runtime that executes runs in the image of their study, e.g. `podman`; absent: none does.',
      }),
    ),
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
    tags: listOf(Type.String(), 'Its labels.'),
    registered_at: timestamp('When it first registered.'),
    last_heartbeat: timestamp('Time of its last heartbeat.'),
    total_jobs_completed: count('Jobs it completed.'),
    total_jobs_failed: count('Jobs that failed on it.'),
    accepting_jobs: Type.Optional(flag('False while drained.')),
    drain_reason: Type.Optional(text('The reason of the drain.')),
    drained_until: Type.Optional(timestamp('When the drain ends by itself; absent: when it is resumed.')),
    quarantined: Type.Optional(
      flag('True when the coordinator has drained it since attempts failed on it and not on others; absent otherwise.'),
    ),
    slots_lost: Type.Optional(int32('Slots of `max_concurrent_jobs` that it cannot use now; absent: none.')),
    resources_used: Type.Optional(
      resourceCounts('Of its counted resources, those of the runs that it holds; absent: none.', 0),
    ),
    allocation: Type.Optional(text('The allocation of a cluster that it runs in.')),
    ends_at: Type.Optional(timestamp('When its machine is taken from it.')),
    ephemeral: Type.Optional(flag('True: it is forgotten when it has signed off.')),
    hostname: Type.Optional(text('The name of its machine.')),
    engines: Type.Optional(
      listOf(ref(RunnerEngine), 'Its engines with their code, as of its latest claim; absent: it does not state them.'),
    ),
    leaving: Type.Optional(text('Why it takes no more runs although it is connected: it leaves.')),
    disk_free_bytes: Type.Optional(count('Free space for artifacts, as of its last heartbeat; absent: not reported.')),
    clock_offset_secs: Type.Optional(
      double(
        'How far its clock is ahead of the coordinator (negative: late), without the time that a heartbeat may have travelled; absent: not reported.',
      ),
    ),
  }),
);
export type Runner = Static<typeof Runner>;

export const RunnerListResponse = named(
  'RunnerListResponse',
  'The runner pool.',
  answered({
    runners: listOf(ref(Runner), 'The runners.'),
    active_runners: int32('Number of runners that are not Offline.'),
    offline_runners: int32('Number of Offline runners.'),
    total_capacity: count('Number of jobs that the active runners execute at once, without lost slots.'),
    site_resources: Type.Optional(listOf(ref(SitePool), 'The pools of the coordinator; absent: it holds none.')),
  }),
);
export type RunnerListResponse = Static<typeof RunnerListResponse>;

export const AttemptRef = named(
  'AttemptRef',
  'One attempt of one job.',
  submitted({ job_id: uuid('The job.'), attempt: int32('Number of the attempt, from 1.', { minimum: 1 }) }),
);
export type AttemptRef = Static<typeof AttemptRef>;

const holding = listOf(ref(AttemptRef), 'The attempts that the runner process holds.', LIMITS.holding);
const slots_lost = Type.Optional(
  int32(
    'Slots that a process which survives SIGKILL or a file system that does not answer keeps. No job is assigned to them.',
  ),
);
const lost = listOf(ref(AttemptRef), 'Attempts in `holding` that the runner no longer holds: it must stop them.');

export const RegisterRequest = named(
  'RegisterRequest',
  'Registration of a runner.',
  submitted({
    id: runnerId('Unique in the pool.'),
    name: Type.Optional(name('Display name; the id when absent.')),
    capabilities: ref(RunnerCapabilities),
    tags: Type.Optional(listOf(name('A label.'), 'Labels to filter by.', LIMITS.tags)),
    engines,
    instance,
    heartbeat_interval_secs: Type.Optional(
      int32('Planned interval of its heartbeats.', { minimum: 1, maximum: 3_600 }),
    ),
    holding: Type.Optional(holding),
    slots_lost,
    allocation: Type.Optional(plainName('The allocation of a cluster that it runs in, e.g. `slurm/main/7f3c`.')),
    ends_at: Type.Optional(
      timestamp(
        'When its machine is taken from it. It gets only runs whose time limit, or mean duration, ends before.',
      ),
    ),
    hostname: Type.Optional(name('The name of its machine.')),
    ephemeral: Type.Optional(
      flag('True: it is forgotten when it has signed off, or within two hours after its last heartbeat.'),
    ),
    replaces: Type.Optional({
      ...instance,
      description: 'The dead instance that this process replaces.',
    }),
  }),
);
export type RegisterRequest = Static<typeof RegisterRequest>;

export const RegisterResponse = named(
  'RegisterResponse',
  'The intervals that the runner must keep.',
  answered({
    runner: ref(Runner),
    heartbeat_interval_secs: int32('Interval of heartbeats.'),
    offline_after_secs: int32('The runner is Offline after this time without a heartbeat.'),
    lease_secs: int32('Its jobs are requeued after this time without a heartbeat.'),
    lost,
  }),
);
export type RegisterResponse = Static<typeof RegisterResponse>;

export const MachineState = named(
  'MachineState',
  'The state of a machine, as its runner measures it.',
  submitted({
    clock_ms: Type.Optional(double('Its time when the heartbeat was sent, in milliseconds since the epoch.')),
    round_trip_ms: Type.Optional(double('How long its previous heartbeat took until its answer.', { minimum: 0 })),
    disk_free_bytes: Type.Optional(count('Free space for artifacts.')),
  }),
);
export type MachineState = Static<typeof MachineState>;

export const HeartbeatRequest = named(
  'HeartbeatRequest',
  'A heartbeat.',
  submitted({
    instance,
    holding,
    slots_lost,
    machine: Type.Optional(ref(MachineState)),
    leaving: Type.Optional(
      text('Why it takes no more runs; it asks for none, and launchers do not count it. Absent: it does not leave.', {
        maxLength: LIMITS.reasonLength,
      }),
    ),
  }),
);
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;

export const CancelNotice = named(
  'CancelNotice',
  'An attempt that the runner must kill.',
  answered({
    job_id: uuid('The job.'),
    attempt: int32('Number of the attempt.'),
    reason: text('The reason.'),
  }),
);
export type CancelNotice = Static<typeof CancelNotice>;

export const HeartbeatResponse = named(
  'HeartbeatResponse',
  'Changes that concern the runner.',
  answered({ runner: ref(Runner), cancel: listOf(ref(CancelNotice), 'Attempts to kill.'), lost }),
);
export type HeartbeatResponse = Static<typeof HeartbeatResponse>;

export const ClaimRequest = named(
  'ClaimRequest',
  'A request for work.',
  submitted({
    instance,
    max_jobs: int32('Most jobs to assign, those that would wait included.', { minimum: 1, maximum: LIMITS.maxJobs }),
    ahead: Type.Optional(
      int32(
        'Number of further jobs that may wait on the runner until a slot is free; 0 when absent. A job that waits is given to another runner that could start it.',
        { maximum: LIMITS.maxJobs },
      ),
    ),
    wait_seconds: Type.Optional(double('Longest wait for work.', { minimum: 0, maximum: LIMITS.waitSeconds })),
    holding: Type.Optional(holding),
    slots_lost,
    engines,
  }),
);
export type ClaimRequest = Static<typeof ClaimRequest>;

export const Assignment = named(
  'Assignment',
  'A job assigned to the runner.',
  answered({
    job: ref(Job),
    attempt: int32('Number of the attempt; its reports carry it.'),
    extraction: Type.Optional(
      flag(
        'True: it is about a finished run, whose files `openParentFiles` names. The runner itself computes the histories and derived outputs of its study; without any, its simulation is started and finds copies of the files by `SVC_PARENT_DIR`. Absent: a run of its simulation.',
      ),
    ),
  }),
);
export type Assignment = Static<typeof Assignment>;

const BatchOfAssignment = named(
  'BatchOfAssignment',
  'The study of a job.',
  answered({
    config: ref(BatchConfig),
    priority: Type.Optional(
      int32('Of jobs that wait on the runner, those of the highest priority start first; absent: 0.', {
        minimum: -1_000,
      }),
    ),
    uploads: Type.Optional(
      flag('True: the runner uploads the files of its runs after their end; absent: it does not.'),
    ),
  }),
);

export const ClaimResponse = named(
  'ClaimResponse',
  'The assigned jobs.',
  answered({
    assignments: listOf(ref(Assignment), 'Empty without work.'),
    batches: mapOf(ref(BatchOfAssignment), { description: 'Batch id -> study, for each batch of the jobs.' }),
  }),
);
export type ClaimResponse = Static<typeof ClaimResponse>;

export const SignOffRequest = named(
  'SignOffRequest',
  'A runner leaves the pool; its jobs are requeued.',
  submitted({ instance }),
);
export type SignOffRequest = Static<typeof SignOffRequest>;
