/** Runners leave: they sign off, or are forgotten by an operator or after the retention time. */
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Clock } from '../../base/clock.ts';
import type { ClaimResponse, Runner, SignOffRequest } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { decodeRunner } from '../kernel/actors/actor-kinds.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { runnerOrThrow, sameInstanceOrThrow, unlessGone } from '../kernel/records/lookup.ts';
import { toRunner } from '../kernel/records/to-resource.ts';
import { allOf, keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { GroupCommit } from '../kernel/turn/group-commit.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import type { LongPolls } from '../scheduling/long-polls.ts';

interface DepartureParts {
  turns: Turns;
  groupCommit: GroupCommit;
  directory: Directory;
  longPolls: LongPolls<ClaimResponse>;
}

interface SweepParts extends DepartureParts {
  clock: Clock;
  share: EventLoopShare;
  store: Store;
  /** How long an Offline runner is kept, in ms; undefined: until an operator forgets it. */
  retainMs: number | undefined;
}

/**
 * Forgets a runner that is gone. It may register again as a new one.
 * @throws SimbatchError `unknown-runner`, or `illegal-transition` while it is connected or still holds jobs
 */
export async function forgetRunner(parts: DepartureParts, runnerId: string): Promise<Runner> {
  const { turns, groupCommit: commits, directory } = parts;
  for (;;) {
    await commits.durable();
    const forgotten = await turns.run('forget-runner', (turn) => {
      const { value, context } = runnerOrThrow(turn, runnerId);
      if (value !== 'Offline' || context.held.length > 0) {
        const why = value !== 'Offline' ? `is ${value}` : 'still holds runs, which are requeued when its lease ends';
        throw new SimbatchError(
          'illegal-transition',
          `runner "${runnerId}" ${why}; only an Offline runner without runs can be forgotten`,
        );
      }
      const live = directory.runners.get(runnerId);
      // A change of it that is being written would overwrite the deletion.
      if (live !== undefined && commits.holds(live)) return undefined;
      turn.put(keys.runner(runnerId), null);
      turn.emit({ type: 'runner.forgotten', runnerId, now: turn.now });
      directory.forgetRunner(runnerId);
      parts.longPolls.forget(runnerId);
      return toRunner({ value, context });
    });
    if (forgotten !== undefined) return forgotten;
  }
}

/** An ephemeral runner that has signed off is forgotten. After a crash in between, the sweep of retention does so. */
export async function signOff(parts: DepartureParts, runnerId: string, { instance }: SignOffRequest): Promise<Runner> {
  const runner = await parts.turns.run('sign-off', (turn) => {
    sameInstanceOrThrow(runnerOrThrow(turn, runnerId), instance);
    turn.send('runner', runnerId, { type: 'SIGN_OFF', instance, now: turn.now });
    turn.deliverFacts();
    parts.longPolls.dismiss(runnerId, { assignments: [], batches: {} });
    parts.longPolls.forget(runnerId);
    return toRunner(runnerOrThrow(turn, runnerId));
  });
  if (runner.ephemeral === true) await unlessGone(forgetRunner(parts, runnerId));
  return runner;
}

/** An ephemeral runner that did not sign off is forgotten so long after its last heartbeat, at the next sweep. */
const EPHEMERAL_MS = 3_600_000;

/** Forgets the Offline runners that were last seen before the retention time; ephemeral runners sooner. */
export async function sweepRunners(parts: SweepParts): Promise<void> {
  const { clock, directory, retainMs, share, store } = parts;
  const before = retainMs === undefined ? -Infinity : clock.now() - retainMs;
  const ephemeralBefore = clock.now() - EPHEMERAL_MS;
  const snapshot = store.snapshot();
  try {
    for await (const chunk of snapshot.entries(allOf('runner'))) {
      for await (const [, record] of share.paced(chunk)) {
        const { runnerId, drained, ephemeral, lastHeartbeatMs } = decodeRunner(record).context;
        const live = directory.runners.get(runnerId);
        const isOffline = live !== undefined && stateOf(live).value === 'Offline';
        // An operator's drain of a runner outlives its absence, but an ephemeral runner does not come back.
        const isOld = ephemeral === true ? lastHeartbeatMs < ephemeralBefore : !drained && lastHeartbeatMs < before;
        if (isOffline && isOld) await unlessGone(forgetRunner(parts, runnerId));
      }
    }
  } finally {
    await snapshot.close();
  }
}
