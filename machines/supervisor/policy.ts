/**
 * The policy of the supervisor: the measure it takes when an actor throws, by the kind of the actor. The supervisor itself has none: its
 * failure ends the process, whose restart recovers all actors. `restart`: a new actor takes the address, with the last committed snapshot. `forget`: nothing was
 * committed at the address, so that it has no actor any more. The other actors of the turn are treated alike. Pure.
 */
import type { Measure } from '../protocol.ts';

type SupervisedKind = 'job' | 'batch' | 'runner' | 'notification';

export interface Policy {
  /** For an actor of which a snapshot was committed. */
  committed: Measure;
  /** For an actor that the failed turn created. */
  created: Measure;
}

const RESTARTED: Policy = { committed: 'restart', created: 'forget' };

export const SUPERVISION: Readonly<Record<SupervisedKind, Policy>> = {
  job: RESTARTED,
  batch: RESTARTED,
  runner: RESTARTED,
  notification: RESTARTED,
};
