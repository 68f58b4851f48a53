/** What those who watch the machines hear: one event that one actor took. */
import type { AnyEvent } from '../../../machines/protocol.ts';
import type { Kind } from '../actors/actor-kinds.ts';

/** One event that one actor took, for those who watch the machines; `event` and `from` are undefined for a new actor. */
export interface ActorTransition {
  kind: Kind;
  id: string;
  event: AnyEvent | undefined;
  from: string | undefined;
  to: string;
  /** The context after it; not to be changed. */
  context: object;
  now: number;
}
