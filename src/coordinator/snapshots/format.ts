/**
 * Types of a snapshot file: one JSON document of one of three kinds. docs/snapshots.md describes it for its readers;
 * `read.ts` reads it. No behaviour here.
 */
import { RECORDS, type RecordName } from '../../contract/records/records.ts';
import type { AnyEvent, Fact } from '../../../machines/protocol.ts';
import type { Consequence, StoredState } from '../../../machines/actor-player.ts';
import type { MachineName } from '../../../machines/kinds.ts';

/** The version this program writes. It reads all older ones. */
export const SNAPSHOT_FORMAT = 1;

export type { Consequence, StoredState } from '../../../machines/actor-player.ts';
export type { MachineName } from '../../../machines/kinds.ts';

/** An event with its effect or its refusal, or a restart of the coordinator at that time. */
export type Step =
  | ({ event: AnyEvent } & Consequence)
  | { event: AnyEvent; refused: true }
  | { restart: number; changed?: Record<string, unknown> };

/** The life of one machine. */
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

/** An event for an address, or the input of a new actor there. */
export type RecordedMessage = { to: string; event: AnyEvent } | { to: string; create: Record<string, unknown> };

/** One request, its consequences, and the states after it. */
export interface RecordedTurn {
  /** Time of the entry, in ms since the epoch. */
  at: number;
  operation: string;
  /** The request's arguments; absent for a turn that the coordinator began by itself. */
  request?: unknown[];
  answer?: unknown;
  /** The code of the refusal. */
  refusal?: string;
  messages?: RecordedMessage[];
  facts?: Fact[];
  /** Address -> state, of every actor that received an event. */
  states?: Record<string, string>;
}

/** The coordinator was restarted here. */
export interface RecordedRestart {
  at: number;
  restart: true;
}

/** One study, executed by one coordinator. */
export interface Study {
  format: number;
  kind: 'study';
  name: string;
  about: string;
  turns: (RecordedTurn | RecordedRestart)[];
  records: SnapshotRecord[];
}

/** The records of a coordinator, of one batch or of all. */
export interface Export {
  format: number;
  kind: 'export';
  /** Version of the program that wrote it. */
  made_by: string;
  taken_at: string;
  /** The exported batch; null: all. */
  batch_id: string | null;
}

export const RECORD_NAMES = Object.keys(RECORDS) as readonly RecordName[];

/** A record as it is stored. A batch comes before its submission, its touched jobs and its results; runners come last. */
export interface SnapshotRecord {
  key: `${RecordName}/${string}`;
  value: Record<string, unknown>;
}

/** An open file. The records of an export are read lazily, once. */
export type Snapshot = Scenario | (Omit<Study, 'records'> & WithRecords) | (Export & WithRecords);
export interface WithRecords {
  records: AsyncIterable<SnapshotRecord>;
}

/** The name and the id in a record's key. */
export function splitKey(key: string): { name: string; id: string } {
  const slash = key.indexOf('/');
  return { name: key.slice(0, slash), id: key.slice(slash + 1) };
}
