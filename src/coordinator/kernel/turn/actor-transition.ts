/** One event that one actor took, as the feed, the inspector and the recorder receive it. */
import type { Fact } from '../../../../machines/protocol.ts';
import type { AnyEvent } from '../../../../machines/protocol.ts';
import type { Kind } from '../actors/actor-kinds.ts';

/** `event` and `from` are undefined for a new actor. */
export interface ActorTransition {
  kind: Kind;
  id: string;
  event: AnyEvent | undefined;
  from: string | undefined;
  to: string;
  /** The context after the event; must not be modified. */
  context: object;
  now: number;
}

/** A group of changes that is on disk, for watchers. */
export interface Commit {
  facts: readonly Fact[];
  /** Every event that an actor took, in order. Empty for turns that ran before the first watcher subscribed. */
  transitions: readonly ActorTransition[];
}
