/**
 * Keys of the store: one prefix per kind of record, in the form of abstract-level's sublevels (`!job!<id>`). So the store can
 * be read with sublevels and written without their cost.
 */
import type { Uuid } from '../../../contract/types.ts';
import { commonPrefix } from '../../../domain/ids.ts';

/** A half-open range of keys. */
export interface KeyRange {
  gte: string;
  lt: string;
}

export const keys = {
  /** Stored state of a batch. */
  batch: (id: Uuid) => `!batch!${id}`,
  /** The submission as accepted, with the seed in use. Never changes. */
  submission: (id: Uuid) => `!submission!${id}`,
  /** Exists while the batch is not terminal, so that a restart reads only those. */
  open: (id: Uuid) => `!open!${id}`,
  /** The batches that came of the family's first batch, directly or not. */
  family: (id: Uuid) => `!family!${id}`,
  /** Stored state of a touched job. */
  job: (id: Uuid) => `!job!${id}`,
  result: (jobId: Uuid) => `!result!${jobId}`,
  /** A history of a run, by its place in the study: those of all runs are one range. Its value is base64, and bytes on the disk. */
  history: (batchId: Uuid, place: number, run: number) => `!history!${batchId}/${hex(place, 2)}/${hex(run, 8)}`,
  /** The batches whose runs can have the same keys; see `key-groups.ts`. Follows from their submissions. */
  'key-group': (group: string) => `!key-group!${group}`,
  /** Names a submitted study under its design or its name; see `study-index.ts`. Follows from its submission. */
  study: (group: string, id: Uuid) => `!study!${group}/${id}`,
  /** The verdicts of a batch with requirements, as far as its runs are judged. Follows from its runs. */
  verdicts: (id: Uuid) => `!verdicts!${id}`,
  /** A round of an adaptive batch. Never changes. */
  round: (id: Uuid, round: number) => `!round!${roundId(id, round)}`,
  /** The rows of a round in blocks. Never changes. */
  rows: (id: Uuid, round: number, block: number) => `!rows!${roundId(id, round)}/${block}`,
  /** The number of the round that a client's key names. */
  'round-key': (id: Uuid, key: string) => `!round-key!${id}/${key}`,
  /** Named views of the plots of a batch; absent: none. */
  views: (id: Uuid) => `!views!${id}`,
  /** Files of a batch that were lost before they could be uploaded; absent: none. */
  unsent: (id: Uuid) => `!unsent!${id}`,
  /** Files of a batch that a runner has to send to the object store; absent: none. */
  outbox: (id: Uuid, runnerId: string) => `!outbox!${id}/${runnerId}`,
  /** The checkpoint of a run in the object store, and what is to be removed there. It outlives the records of its batch. */
  checkpoint: (jobId: Uuid) => `!checkpoint!${jobId}`,
  runner: (id: string) => `!runner!${id}`,
  /** Exists while a touched job is Pending. */
  requeue: (jobId: Uuid) => `!requeue!${jobId}`,
  /** The core time of an owner by day. */
  budget: (owner: string) => `!budget!${owner}`,
  /** An event of a study for one receiver. */
  notification: (id: string) => `!notification!${id}`,
  /** Exists while records of a deleted batch are left. */
  deletion: (batchId: Uuid) => `!deletion!${batchId}`,
  idempotency: (key: string) => `!idempotency!${key}`,
  /** The store's own records: format, identity, last group. */
  meta: (name: string) => `!meta!${name}`,
};

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

/** The id of a round: the batch, and 8 hexadecimal digits. */
const roundId = (id: Uuid, round: number): string => `${id}/${hex(round, 8)}`;

export type KeyKind = keyof typeof keys;
/** The kinds of records of the rounds of a batch. */
export const ROUND_KINDS = ['round', 'rows', 'round-key'] as const;

/** Is this the key of a batch's stored state? */
export const isBatchKey = (key: string): boolean => key.startsWith('!batch!');

/** Is this the key of the result of a run? */
export const isResultKey = (key: string): boolean => key.startsWith('!result!');

/** Is this the key of the batches of a family? */
export const isFamilyKey = (key: string): boolean => key.startsWith('!family!');

/** All records of a kind. `"` is the character after `!`. */
export const allOf = (kind: KeyKind): KeyRange => ({ gte: `!${kind}!`, lt: `!${kind}"` });

/** The histories of all runs of a batch; with a place: one history of all runs, in their order, from the run `from` on. */
export const historiesOf = (batchId: Uuid, place?: number, from = 0): KeyRange =>
  place === undefined
    ? { gte: `!history!${batchId}/`, lt: `!history!${batchId}0` }
    : { gte: keys.history(batchId, place, from), lt: `!history!${batchId}/${hex(place, 2)}0` };

/** The place in its study and the run of a history. */
export const historyAt = (id: string): { batchId: Uuid; place: number; run: number } => ({
  batchId: id.slice(0, 36),
  place: Number.parseInt(id.slice(37, 39), 16),
  run: Number.parseInt(id.slice(40), 16),
});

/** The run of the key of a history. */
export const runOfHistory = (key: string): number => historyAt(idOf(key)).run;

/** All records of a kind that belong to one batch: their ids begin with it, or are those of its jobs, which share all but the low 32 bits. */
export const ofBatch = (kind: 'job' | 'result' | 'requeue' | 'outbox', batchId: Uuid): KeyRange => ({
  gte: `!${kind}!${batchId}`,
  lt: `!${kind}!${commonPrefix(batchId)}g`,
});

/** All records of a kind of the rounds of one batch. `0` is the character after `/`. */
export const roundsOf = (kind: (typeof ROUND_KINDS)[number], batchId: Uuid): KeyRange => ({
  gte: `!${kind}!${batchId}/`,
  lt: `!${kind}!${batchId}0`,
});

/** The entries of the submitted studies of a group, oldest first. `0` is the character after `/`. */
export const studiesOf = (group: string): KeyRange => ({ gte: `!study!${group}/`, lt: `!study!${group}0` });

/** The id within a key. */
export const idOf = (key: string): string => key.slice(key.indexOf('!', 1) + 1);
