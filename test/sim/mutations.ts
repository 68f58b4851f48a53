/** Injected bugs: the simulation must find each of them. */
import { batchMachine } from '../../machines/batch.ts';
import { runnerDeadline } from '../../machines/runner-context.ts';
import { runnerMachine } from '../../machines/runner.ts';
import { ACTOR_KINDS, type RunnerState } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { CrowdedRunners, type WaitingSources } from '../../src/coordinator/scheduling/crowded-runners.ts';
import { SitePools } from '../../src/coordinator/scheduling/site-pools.ts';
import { Scheduler } from '../../src/coordinator/scheduling/scheduler.ts';
import { WIRING } from '../../src/coordinator/kernel/turn/wiring.ts';
import type { ClaimResponse } from '../../src/contract/types.ts';
import { altered, replaced } from './finds.ts';
import { JUDGEMENT_MUTATIONS, type Mutation } from './judgement-mutations.ts';

/** The number of seeds within which a bug must be found. */
export const SEEDS = 400;

interface HeartbeatArgs {
  context: { instance: string };
  event: { instance?: string };
}

let uses = 0;

export const MUTATIONS: readonly Mutation[] = [
  ...JUDGEMENT_MUTATIONS,
  {
    name: 'replies go out before the write',
    bug: { ackEarly: true },
    says: /is lost|not on disk|was given to|took|is missing|has signed off and is/,
  },
  {
    name: 'writes are not synced',
    bug: { unsynced: true },
    says: /is lost|not on disk|a recount gives|open key|no record|not active|requeue record|is missing|holds attempt/,
  },
  {
    name: 'the read cache is filled ahead of the disk',
    bug: { cacheAhead: true },
    says: /a reading of batch .* shows .*, and the disk has/,
  },
  {
    name: "a runner's outcome is not synced",
    bug: { spool: 'unsynced' },
    says: /reported (complete|fail), and forgot it/,
  },
  {
    name: 'an outcome is reported before it is spooled',
    bug: { spool: 'late' },
    says: /reported (complete|fail), and forgot it/,
  },
  {
    name: 'a stale attempt is accepted',
    bug: {
      api: (coordinator) => ({
        complete: (jobId, request) => {
          const { attempt, runnerId } = coordinator.parts.directory.state('job', jobId)?.context ?? {};
          return coordinator.complete(jobId, { ...request, attempt: attempt ?? 0, runner_id: runnerId ?? '' });
        },
      }),
    },
    says: /took complete of attempt|completion by attempt .* is lost|not on disk/,
  },
  {
    name: 'a lease never ends',
    patch: () => replaced(WIRING, 'runner.lost', []),
    says: /do not come to their end/,
  },
  {
    name: 'no deadline passes',
    patch: () => replaced(WIRING, 'deadline.passed', []),
    says: /do not come to their end|has not ended/,
  },
  {
    name: 'a counter is off by one',
    bug: {
      written: (key, value) =>
        value !== null && key.startsWith('!batch!')
          ? altered(value, (it) => ({ ...it, completed: it.completed === 2 ? 3 : it.completed }))
          : value,
    },
    says: /completed is 3, a recount gives 2/,
  },
  {
    name: 'a batch receives no job.started',
    patch: () => replaced(WIRING, 'job.started', []),
    says: /claimed is|running is/,
  },
  {
    name: 'a drain is lost at a restart',
    bug: {
      read: (key, value) =>
        key.startsWith('!runner!')
          ? altered(value, (it) => ({ ...it, value: it.value === 'Maintenance' ? 'Idle' : it.value, drained: false }))
          : value,
    },
    says: /the drain of runner .* is lost|gained/,
  },
  {
    name: 'the end of a drain is not a deadline',
    patch: () =>
      replaced(ACTOR_KINDS.runner, 'deadline', ({ value, context }: RunnerState) =>
        runnerDeadline(value, { ...context, drainedUntilMs: undefined }),
      ),
    says: /the drain of runner .* has not ended/,
  },
  {
    name: 'a pause is lost at a restart',
    bug: {
      read: (key, value) =>
        key.startsWith('!batch!') ? altered(value, (it) => ({ ...it, pausedAtMs: undefined })) : value,
    },
    says: /the pause of batch .* is lost/,
  },
  {
    name: 'an amendment is lost at a restart',
    bug: {
      read: (key, value) =>
        key.startsWith('!batch!') ? altered(value, (it) => ({ ...it, judgement: undefined })) : value,
    },
    says: /amendment .* of batch .* is lost/,
  },
  {
    name: 'the limit on failures is not acted on',
    patch: () => replaced(batchMachine.implementations.guards, 'tooManyFailures', () => false),
    says: /goes beyond its/,
  },
  {
    name: 'a requeue record is not written',
    bug: { written: (key, value) => (key.startsWith('!requeue!') && value !== null ? undefined : value) },
    says: /its requeue record false/,
  },
  {
    name: 'a history is not written',
    bug: { written: (key, value) => (key.startsWith('!history!') ? undefined : value) },
    says: /has lost its history/,
  },
  {
    name: 'a result is not written',
    bug: { written: (key, value) => (key.startsWith('!result!') ? undefined : value) },
    says: /has no result|its result false/,
  },
  {
    name: 'a heartbeat revives a runner that has signed off',
    patch: () =>
      replaced(runnerMachine.implementations.guards, 'isFromRegistered', ({ context, event }: HeartbeatArgs) => {
        return event.instance === undefined || event.instance === context.instance;
      }),
    says: /has signed off and is/,
  },
  {
    name: 'a planned run takes nothing from the pools',
    patch: () => replaced(SitePools.prototype, 'take', () => {}),
    says: /the pool of comsol has 2, and runs use/,
  },
  {
    name: 'the pools are empty after a restart',
    bug: {
      read: (key, value) =>
        key.startsWith('!runner!')
          ? altered(value, (it) => ({
              ...it,
              held: (it.held as { resources?: unknown }[]).map((one) => ({ ...one, resources: undefined })),
            }))
          : value,
    },
    says: /the pool of comsol has 2, and runs use|counts undefined for job/,
  },
  {
    name: 'a batch is not listed under its parent',
    bug: { written: (key, value) => (key.startsWith('!family!') ? undefined : value) },
    says: /families are on disk, and .* exist|by the batches/,
  },
  {
    name: 'a batch of selected runs has a seed of its own',
    bug: {
      written: (key, value) =>
        key.startsWith('!submission!') && value?.includes('"run_ids":"') === true
          ? altered(value, (it) => ({ ...it, seed: '1001' }))
          : value,
    },
    says: /has other parameters|lists .*, and its studies are/,
  },
  {
    name: 'an open batch is forgotten',
    bug: { written: (key, value) => (key.startsWith('!open!') ? undefined : value) },
    says: /its open key false/,
  },
  {
    name: 'a requeued run stays in the queue when it is claimed',
    patch: () => replaced(Scheduler.prototype, 'unqueue', () => {}),
    says: /does not allow CLAIM/,
  },
  {
    name: 'the same attempt is given to two runners',
    bug: {
      api: (coordinator) => {
        let last: ClaimResponse = { assignments: [], batches: {} };
        return {
          claim: async (...args) => {
            const answer = await coordinator.claim(...args);
            if (answer.assignments.length === 0) return last;
            last = answer;
            return answer;
          },
        };
      },
    },
    says: /was given to .* as well/,
  },
  {
    name: 'a run that waits is not given to a free runner',
    patch: () => replaced(CrowdedRunners.prototype, 'reassign', () => []),
    says: /waits on .* while .* is free/,
  },
  {
    name: 'a run that has started is given to a free runner',
    patch: () =>
      replaced(CrowdedRunners.prototype, 'waitingOn', (runnerId: string, sources: WaitingSources) =>
        (sources.runner(runnerId)?.held ?? []).map(({ jobId, attempt }) => ({ runnerId, jobId, attempt })),
      ),
    says: /does not allow UNCLAIM|waits on .* while .* is free/,
  },
  {
    name: 'more runs wait on a runner than it allows',
    bug: {
      api: (coordinator) => ({
        claim: (runnerId, { ahead = 0, ...request }, gone) =>
          coordinator.claim(runnerId, { ...request, ahead: ahead === 0 ? 0 : ahead + 1 }, gone),
      }),
    },
    says: /runs wait on runner/,
  },
  {
    name: 'a hand-back counts as a retry',
    bug: {
      written: (key, value) =>
        value !== null && key.startsWith('!job!') && value.includes('handed-back')
          ? altered(value, (it) => ({ ...it, retries: Number(it.retries ?? 0) + 1 }))
          : value,
    },
    says: /failures of .* attempts that were started/,
  },
  {
    name: 'a preemption counts as a loss',
    bug: {
      written: (key, value) =>
        value !== null && key.startsWith('!job!') && value.includes('runner-stopped')
          ? altered(value, (it) => ({ ...it, losses: Number(it.losses ?? 0) + 1 }))
          : value,
    },
    says: /failures of .* attempts that were started/,
  },
  {
    name: 'the hand-back of a preempted run is lost',
    bug: {
      api: (coordinator) => ({
        reports: async (runnerId, { instance, reports }) => {
          const kept = reports.filter((it) => it.type !== 'release');
          const judged = kept.length === 0 ? [] : await coordinator.reports(runnerId, { instance, reports: kept });
          const answers = judged.values();
          return reports.map(({ type, job_id }) =>
            type === 'release' ? { job_id, status: 'Pending' as const } : answers.next().value!,
          );
        },
      }),
    },
    says: /the hand-back of .* is lost/,
  },
  {
    name: 'an idempotency key is not looked at',
    bug: {
      api: (coordinator) => ({
        submit: (submission, options) =>
          coordinator.submit(submission, { ...options, idempotencyKey: `${options?.idempotencyKey} ${(uses += 1)}` }),
      }),
    },
    says: /made two batches/,
  },
  {
    name: 'a retry gets other parameters',
    bug: {
      api: (coordinator) => ({
        claim: async (...args) => {
          const answer = await coordinator.claim(...args);
          for (const { job, attempt } of answer.assignments) if (attempt > 1) job.run_config.parameters.mass = attempt;
          return answer;
        },
      }),
    },
    says: /was given .* and not/,
  },
  {
    name: 'a cancelled batch forgets it',
    bug: {
      written: (key, value) =>
        value !== null && key.startsWith('!batch!')
          ? altered(value, (it) => (it.value === 'Cancelled' ? { ...it, value: 'Failed' } : it))
          : value,
    },
    says: new RegExp('was cancelled and is Failed'),
  },
];
