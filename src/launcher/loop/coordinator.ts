/** The coordinator as the launcher uses it: the public client, with deadlines and without retries; the next round asks again. */
import type { Client } from '../../client/client.ts';
import { endOfMachine } from '../../../machines/allocation/context.ts';
import type { EndedAllocation, LauncherReport } from '../../contract/types.ts';
import { isLive } from '../decision/usage.ts';
import { runnerNameOf } from './observe.ts';
import type { CoordinatorPort } from './ports.ts';
import type { LauncherStatus } from './status.ts';

export function coordinatorPort(client: Client): CoordinatorPort {
  return {
    demand: () => client.demand(),
    runners: async () => (await client.runners()).runners,
    async timeLimits(runnerIds) {
      const limits = new Map<string, number>();
      const jobs = client.jobs({ runner_id: [...runnerIds], status: ['Claimed', 'Running'] });
      for await (const { assigned_runner: id, timeout_secs: secs } of jobs) {
        const known = id === undefined ? undefined : limits.get(id);
        if (id !== undefined) limits.set(id, secs === 0 || known === 0 ? 0 : Math.max(known ?? 0, 1_000 * secs));
      }
      return limits;
    },
    async makeTokens(requests) {
      const { tokens } = await client.launching.makeTokens({
        allocations: requests.map((it) => ({
          allocation: it.allocation,
          runner_id: it.runnerId,
          lifetime_secs: it.lifetimeSecs,
        })),
      });
      return new Map(tokens.map((it) => [it.allocation, it.token ?? undefined]));
    },
    async revokeTokens(allocations) {
      await client.launching.revokeTokens({ allocations: [...allocations] });
    },
  };
}

/** The most that a report names; the coordinator refuses a longer one. */
const MAX_ALLOCATIONS = 1_000;
/** An end is repeated for so long: it counts once the runner has fallen silent, which takes less. */
const ENDED_MS = 600_000;
const MAX_SENTENCES = 100;
const MAX_BATCHES = 100;

/** The status as the coordinator keeps it, for findings and the dashboard. */
export function reportOf(status: LauncherStatus): LauncherReport {
  const live = status.allocations.filter(isLive);
  const endedSinceMs = Date.parse(status.at) - ENDED_MS;
  const ended = status.allocations.flatMap(({ context: c }): EndedAllocation[] => {
    const end = (c.endedAtMs ?? 0) > endedSinceMs ? endOfMachine(c) : undefined;
    return end === undefined ? [] : [{ allocation: runnerNameOf(c), end: end.kind, reason: end.reason }];
  });
  return {
    launcher: status.launcher,
    poll_seconds: status.pollSeconds,
    problems: status.problems.slice(0, MAX_SENTENCES),
    queues: status.queues.map(({ name, engine, max, counts, blocked, failing, why, demand }) => ({
      name,
      engine,
      max,
      counts,
      ...(blocked === undefined ? {} : { blocked }),
      ...(failing === undefined ? {} : { failing }),
      why: why.slice(0, MAX_SENTENCES),
      // A part of the groups would say of the other runs that they do not fit.
      ...(demand === undefined || demand.length > MAX_SENTENCES
        ? {}
        : { demand: demand.map((it) => ({ ...it, batches: it.batches.slice(0, MAX_BATCHES) })) }),
    })),
    unserved: status.unserved
      .slice(0, MAX_SENTENCES)
      .map((it) => ({ ...it, batches: it.batches.slice(0, MAX_BATCHES) })),
    allocations: live.slice(0, MAX_ALLOCATIONS).map(({ value, context: c }) => ({
      allocation: runnerNameOf(c),
      queue: c.queue,
      state: value,
      ...(c.handle === undefined ? {} : { handle: c.handle }),
      ...(c.reason === undefined ? {} : { reason: c.reason }),
    })),
    ended: ended.slice(0, MAX_ALLOCATIONS),
  };
}
