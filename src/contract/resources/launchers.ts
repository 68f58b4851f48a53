/** Launchers: tokens of the runners in their allocations, and their reports. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, flag, listOf, mapOf, named, nullable, ref, submitted, text } from '../build.ts';
import { ALLOCATION_ENDS, LAUNCHER_FINDINGS } from '../enums.ts';
import { LIMITS } from '../limits.ts';
import { count, double, freeText, int32, name, plainName, runnerId, timestamp, uuid } from '../scalars.ts';

/** The most allocations of one request or report. */
const MAX_ALLOCATIONS = 10_000;
const MAX_QUEUES = 100;
const MAX_SENTENCES = 100;
/** 90 days: a queue where an allocation waits longer is of no use. */
const MAX_TOKEN_SECS = 90 * 86_400;

const allocation = plainName('Name of the allocation, without control characters, e.g. `slurm/main/a1b2c3d4e5f6`.');

export const AllocationTokenRequest = named(
  'AllocationTokenRequest',
  'An allocation whose runner needs a token.',
  submitted({
    allocation,
    runner_id: runnerId('The only runner that the token is for.'),
    lifetime_secs: int32('The token expires after this time.', { minimum: 1, maximum: MAX_TOKEN_SECS }),
  }),
);
export type AllocationTokenRequest = Static<typeof AllocationTokenRequest>;

export const AllocationTokensRequest = named(
  'AllocationTokensRequest',
  'Allocations whose runners need tokens.',
  submitted({ allocations: listOf(ref(AllocationTokenRequest), 'The allocations.', MAX_ALLOCATIONS) }),
);
export type AllocationTokensRequest = Static<typeof AllocationTokensRequest>;

export const AllocationTokensResponse = named(
  'AllocationTokensResponse',
  'The tokens, in the order of the request.',
  answered({
    tokens: listOf(
      answered({
        allocation: text('The allocation.'),
        token: nullable(text('The token, shown only now; null where the coordinator needs none.')),
      }),
      'The tokens.',
    ),
  }),
);
export type AllocationTokensResponse = Static<typeof AllocationTokensResponse>;

export const AllocationsEndedRequest = named(
  'AllocationsEndedRequest',
  'Allocations that have ended.',
  submitted({ allocations: listOf(allocation, 'Their names.', MAX_ALLOCATIONS) }),
);
export type AllocationsEndedRequest = Static<typeof AllocationsEndedRequest>;

export const AllocationsEndedResponse = named(
  'AllocationsEndedResponse',
  'The effect of a revocation.',
  answered({ revoked: count('Number of tokens that were revoked.') }),
);
export type AllocationsEndedResponse = Static<typeof AllocationsEndedResponse>;

export const QueueDemand = named(
  'QueueDemand',
  'Pending runs that fit a queue, and what the launcher does for them.',
  submitted({
    batches: listOf(uuid('A batch.'), 'Their batches; at most 100 are named.', 100),
    why: freeText('The decision, as a sentence.'),
  }),
);
export type QueueDemand = Static<typeof QueueDemand>;

export const LauncherQueue = named(
  'LauncherQueue',
  'A queue of a launcher, and its last decision.',
  submitted({
    name: name('Its name.'),
    engine: name('Its engine.'),
    max: int32('The most allocations at once.'),
    counts: mapOf(int32('Number of allocations.'), {
      description: 'Live allocations by state.',
      maxProperties: 20,
      propertyNames: { type: 'string', maxLength: LIMITS.nameLength },
    }),
    blocked: Type.Optional(freeText('Why it submits nothing now; absent when it may.')),
    failing: Type.Optional(freeText('Why its last allocations failed; absent once one was of use.')),
    why: listOf(freeText('A sentence.'), 'The reasons of the last decision.', MAX_SENTENCES),
    demand: Type.Optional(
      listOf(ref(QueueDemand), 'Runs that fit it; absent: every run may. At most 100 are named.', MAX_SENTENCES),
    ),
  }),
);
export type LauncherQueue = Static<typeof LauncherQueue>;

export const UnservedRuns = named(
  'UnservedRuns',
  'Pending runs that no queue of a launcher can execute.',
  submitted({
    code: enumOf(
      LAUNCHER_FINDINGS,
      '`lifetime-too-short`: a queue would fit, were its allocations longer. `settings-refuse`: one would, did its runners allow the variables and the image, execute the pinned code and have the features.',
    ),
    message: freeText('Why, as a sentence.'),
    runs: count('Number of runs.'),
    batches: listOf(uuid('A batch.'), 'Their batches; at most 100 are named.', 100),
  }),
);
export type UnservedRuns = Static<typeof UnservedRuns>;

export const LauncherAllocation = named(
  'LauncherAllocation',
  'A live allocation of a launcher.',
  submitted({
    allocation,
    queue: name('Its queue.'),
    state: name('Its state.'),
    handle: Type.Optional(freeText('The identification of the engine, e.g. a Slurm job id.')),
    reason: Type.Optional(freeText('The reason of the engine for the state.')),
  }),
);
export type LauncherAllocation = Static<typeof LauncherAllocation>;

export const EndedAllocation = named(
  'EndedAllocation',
  'An allocation that has ended. Runs of its runner, once it has missed a heartbeat, are executed again at once, as the end permits.',
  submitted({
    allocation,
    end: enumOf(
      ALLOCATION_ENDS,
      'How it ended. `failed` and `out-of-memory` count as the loss of a runner, which its runs may have caused; `completed`, `timeout`, `preempted`, `evicted`, `node-failure` and `cancelled` count nothing; `unknown` and `gone` leave it to the lease of the runner.',
    ),
    reason: freeText('The end as a clause, with the words of the engine.'),
  }),
);
export type EndedAllocation = Static<typeof EndedAllocation>;

const REPORT = {
  launcher: plainName('Its name, without control characters.'),
  poll_seconds: double('Time between two reports.', { minimum: 0 }),
  problems: listOf(freeText('A sentence.'), 'Engines that gave no answer.', MAX_SENTENCES),
  queues: listOf(ref(LauncherQueue), 'Its queues.', MAX_QUEUES),
  unserved: listOf(ref(UnservedRuns), 'Runs that no queue can execute.', MAX_SENTENCES),
  allocations: listOf(ref(LauncherAllocation), 'Live allocations; at most 1,000 are named.', 1_000),
  ended: Type.Optional(
    listOf(ref(EndedAllocation), 'Allocations that ended in the last ten minutes; at most 1,000 are named.', 1_000),
  ),
};

export const LauncherReport = named('LauncherReport', 'The state of a launcher after a round.', submitted(REPORT));
export type LauncherReport = Static<typeof LauncherReport>;

export const Launcher = named(
  'Launcher',
  'The last report of a launcher.',
  answered({
    ...REPORT,
    reported_at: timestamp('Time of the report.'),
    current: flag(
      'False when three further reports are missing: the launcher does not run, or cannot reach this address.',
    ),
  }),
);
export type Launcher = Static<typeof Launcher>;

export const LauncherListResponse = named(
  'LauncherListResponse',
  'The launchers that have reported since the coordinator started.',
  answered({ launchers: listOf(ref(Launcher), 'The launchers.') }),
);
export type LauncherListResponse = Static<typeof LauncherListResponse>;

export const LauncherReportResponse = named(
  'LauncherReportResponse',
  'The receipt of a report.',
  answered({ reported_at: timestamp('Time of the report.') }),
);
export type LauncherReportResponse = Static<typeof LauncherReportResponse>;
