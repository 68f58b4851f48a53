/** The demand for the pool and its use: runs that wait for a runner, resources of the site, core hours of owners. */
import { Type, type Static } from 'typebox';
import { answered, flag, listOf, named, nullable, ref, text } from '../build.ts';
import { BareMetalConfig, KubernetesConfig } from '../compute.ts';
import { count, double, int32, resourceCounts, timestamp, uuid } from '../scalars.ts';

export const DemandGroup = named(
  'DemandGroup',
  'Pending runs that need the same simulation, resources and place.',
  answered({
    simulation: text('Name of the simulation.'),
    cpu_cores: double('Cores that a run requests; 0: none.'),
    memory_gb: double('Memory that a run requests, in units of 2^30 bytes; 0: none.'),
    cpu_limit_cores: Type.Optional(double('Cores that a run may not exceed; absent: no limit.')),
    memory_limit_gb: Type.Optional(
      double('Memory that a run may not exceed, in units of 2^30 bytes; absent: no limit.'),
    ),
    timeout_secs: int32('Time limit of a run; 0: none.'),
    mean_seconds: nullable(
      double('Mean duration of the completed runs of this simulation since the coordinator started; null without one.'),
    ),
    image: text('Container image of the study.'),
    environment: Type.Optional(
      listOf(text('A name.'), 'The variables that the study sets in `container.environment`; absent: none.'),
    ),
    code: Type.Optional(
      nullable(
        text(
          'The digest of the code that the studies pin; null: that of the first run, any that a runner knows; absent: every code.',
        ),
      ),
    ),
    features: Type.Optional(
      listOf(text('A feature.'), 'What a runner must know beyond the first version of the protocol; absent: nothing.'),
    ),
    resources: Type.Optional(resourceCounts('Counted resources that a run requests; absent: none.', 1)),
    site_resources: Type.Optional(
      listOf(
        text('A resource.'),
        'Of these, the names of which the coordinator holds a pool: a runner need not state them. `runs` is no more than the pool has left for. Absent: none.',
      ),
    ),
    kubernetes: Type.Optional(ref(KubernetesConfig)),
    baremetal: Type.Optional(ref(BareMetalConfig)),
    runs: count(
      'Number of runs that could be claimed now: not those beyond `max_parallel_jobs` or held by the policy.',
    ),
    active: count('Number of runs of these batches that runners hold now.'),
    oldest_pending_at: timestamp('Since when the oldest of these runs is Pending.'),
    batches: listOf(uuid('A batch.'), 'The batches of these runs; at most 100 are named.'),
  }),
);
export type DemandGroup = Static<typeof DemandGroup>;

export const DemandResponse = named(
  'DemandResponse',
  'The runs that wait for a runner.',
  answered({
    runs: count('Number of runs in all groups.'),
    demand: listOf(ref(DemandGroup), 'The groups, the one with the oldest run first.'),
  }),
);
export type DemandResponse = Static<typeof DemandResponse>;

export const SitePool = named(
  'SitePool',
  'A resource of which the coordinator holds a pool for all runners.',
  answered({
    name: text('The resource.'),
    total: count('The most that runs of all runners have at once.'),
    used: count('The amount of the runs that runners hold.'),
    waiting: Type.Optional(
      count('Number of runs that ask for it and could be claimed now, were it and a runner free; absent: none.'),
    ),
    batches: listOf(uuid('A study.'), 'The studies of these runs; at most 100 are named.'),
  }),
);
export type SitePool = Static<typeof SitePool>;

export const PoolHistory = named(
  'PoolHistory',
  'The use of the pool since the start of the coordinator, for twelve hours at most.',
  answered({
    minutes: listOf(
      answered({
        at: timestamp('Start of the minute.'),
        slots: double('Mean number of slots of connected runners that are not drained.', { minimum: 0 }),
        busy: double('Mean number of these that held a run.', { minimum: 0 }),
      }),
      'The oldest first; a minute without the coordinator is missing.',
    ),
    attempts: listOf(
      answered({
        runner_id: text('The runner.'),
        job_id: uuid('The job.'),
        attempt: int32('Number of the attempt.'),
        started_at: timestamp('When it started.'),
        ended_at: timestamp('When it ended.'),
        outcome: text('`completed`, `failed`, `timeout`, `cancelled`, `released` or `lost`.'),
      }),
      'The latest 240 ended attempts of each runner asked for, in the order of their ends.',
    ),
  }),
);
export type PoolHistory = Static<typeof PoolHistory>;

export const OwnerBudget = named(
  'OwnerBudget',
  'The core hours of one owner today.',
  answered({
    owner: Type.Optional(text('The owner; absent: the studies that have none, together.')),
    limit_core_hours: nullable(double('The most of a UTC day; null: no limit.')),
    used_core_hours: double(
      'Cores that runs request (a run that requests none counts as one), times the hours that their attempts took today: of ended attempts and of those that are running.',
    ),
    is_used: flag('True when no further run of the owner starts today.'),
  }),
);
export type OwnerBudget = Static<typeof OwnerBudget>;

export const BudgetList = named(
  'BudgetList',
  'The budgets of the owners that have used core hours today or have a limit of their own.',
  answered({
    resets_at: timestamp('The next midnight, UTC, at which the budgets begin anew.'),
    budgets: listOf(ref(OwnerBudget), 'By owner; empty for a coordinator without budgets.'),
  }),
);
export type BudgetList = Static<typeof BudgetList>;
