/** One event that one actor took, as the feed, the inspector and the recorder receive it. */
import type { AnyEvent, Fact } from '../../../../machines/protocol.ts';
import type { MachineName } from '../../../../machines/kinds.ts';

/** `event` and `from` are undefined for a new actor. */
export interface ActorTransition {
  kind: MachineName;
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
  /** Every event that an actor took, in order, after those of the supervisor. Empty for turns that ran before the first watcher subscribed. */
  transitions: readonly ActorTransition[];
}
