/** The time at which an actor must be looked at again, as the machines state it. */

/** The kind of a deadline. The actor that owns the deadline decides whether it has expired. */
export type DeadlineKind =
  'claim' | 'time-limit' | 'canary' | 'silence' | 'lease' | 'missing' | 'drain' | 'expiry' | 'answer';

export interface Deadline {
  kind: DeadlineKind;
  atMs: number;
}
