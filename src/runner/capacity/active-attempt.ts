/** An attempt that the coordinator has assigned to this runner, until it needs nothing more from this process. */
import type { AttemptActor } from '../attempt-actor.ts';
import type { Slot } from './slots.ts';
import type { SpooledAttempt } from '../spool.ts';
import type { Execution } from '../attempt/run-attempt.ts';

/** Its members are all there from the beginning: hundreds are looked through for each claim, which is quick while they have one shape. */
export interface ActiveAttempt {
  actor: AttemptActor;
  /** In the spool, while it is not sure to be executed. */
  record: SpooledAttempt | undefined;
  /** Set from its slot on, until its processes have ended. */
  slot: Slot | undefined;
  /** The execution of the attempt, while there is one. */
  execution: Execution | undefined;
  /** Its processes have ended. */
  hasEnded: boolean;
  /** The run is not executed again, here or elsewhere. */
  isOver: boolean;
}

/** An attempt that has just been claimed. */
export function activeAttempt(actor: AttemptActor): ActiveAttempt {
  return { actor, record: undefined, slot: undefined, execution: undefined, hasEnded: false, isOver: false };
}
