/**
 * What a snapshot file holds, in words of the product: one JSON document in one of three kinds. docs/snapshots.md is written
 * for those who read such files; reading is `read.ts`. No behaviour here.
 */
import type { AnyEvent, Fact } from '../../../machines/protocol.ts';
import type { Kind } from '../actors/actor-kinds.ts';

/** The version of what this program writes. Older ones are read for ever. */
export const SNAPSHOT_FORMAT = 1;

/** The machines a scenario can be of. */
export type MachineName = Kind | 'supervisor';

/** A state as it is kept: which state (`value`), and the members of its context beside it. */
export type StoredState = { value: string } & Record<string, unknown>;

/** What one event did. Members of the context that it changed; `null` for one that is no longer set. */
export interface Consequence {
  state: string;
  changed?: Record<string, unknown>;
  facts?: Fact[];
}

/** An event and what it did, or that the machine did not take it; or a restart of the coordinator at that time. */
export type Step =
  | ({ event: AnyEvent } & Consequence)
  | { event: AnyEvent; refused: true }
  | { restart: number; changed?: Record<string, unknown> };

/** One machine, from its beginning to its end. */
export interface Scenario {
  format: number;
  kind: 'scenario';
  name: string;
  /** One sentence for people. */
  about: string;
  machine: MachineName;
  input: Record<string, unknown>;
  start: StoredState;
  startFacts?: Fact[];
  steps: Step[];
  /** The state after the last step, as the store keeps it. */
  end: StoredState;
}

/** An event for an address, or the input with which the actor there began. */
export type RecordedMessage = { to: string; event: AnyEvent } | { to: string; create: Record<string, unknown> };

/** One request, all that it set off, and the states it left. */
export interface RecordedTurn {
  /** ms since the epoch. */
  at: number;
  operation: string;
  /** As it was asked; absent for what the coordinator does by itself. */
  request?: unknown[];
  answer?: unknown;
  /** The code of the error it was refused with. */
  refusal?: string;
  messages?: RecordedMessage[];
  facts?: Fact[];
  /** Address -> state, of every actor that was sent something. */
  states?: Record<string, string>;
}

/** The coordinator ended here and was started again. */
export interface RecordedRestart {
  at: number;
  restart: true;
}

/** A whole study through a whole coordinator. */
export interface Study {
  format: number;
  kind: 'study';
  name: string;
  about: string;
  turns: (RecordedTurn | RecordedRestart)[];
  records: SnapshotRecord[];
}

/** What a coordinator holds, of one batch or of all. */
export interface Export {
  format: number;
  kind: 'export';
  /** Version of the program that wrote it. */
  made_by: string;
  taken_at: string;
  /** The batch asked for; null: all. */
  batch_id: string | null;
}

export const RECORD_NAMES = ['batch', 'submission', 'job', 'result', 'runner'] as const;
export type RecordName = (typeof RECORD_NAMES)[number];

/** A record as it is stored. A batch comes before its submission, its touched jobs and its results; runners come last. */
export interface SnapshotRecord {
  key: `${RecordName}/${string}`;
  value: Record<string, unknown>;
}

/** A file that was opened. The records of an export are read as they are asked for, once. */
export type Snapshot = Scenario | (Omit<Study, 'records'> & WithRecords) | (Export & WithRecords);
export interface WithRecords {
  records: AsyncIterable<SnapshotRecord>;
}

/** The name and the id in a record's key. */
export function splitKey(key: string): { name: string; id: string } {
  const slash = key.indexOf('/');
  return { name: key.slice(0, slash), id: key.slice(slash + 1) };
}
