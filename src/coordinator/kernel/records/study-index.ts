/**
 * The submitted studies by their design and by their name, so that a submission finds the study to continue without reading any other.
 * Each has an entry under its design, one under its design and seed, and one under its name: written in the turn that creates it, removed
 * in the turn that deletes it. Batches that come of another one are not found, and have none.
 */
import { createHash } from 'node:crypto';
import type { BatchContext, BatchSubmission, Seed, Uuid } from '../../../contract/types.ts';
import { continuationHash } from '../../../domain/identity/design.ts';
import { seedToDecimal } from '../../../domain/seed.ts';
import { decodeBatch, type BatchState } from '../actors/actor-kinds.ts';
import { keys, studiesOf } from '../storage/keys.ts';
import type { StoreView } from '../storage/store.ts';
import type { Turn } from '../turn/turn.ts';
import { decodeSubmission } from './study-cache.ts';
import type { ReadRecord } from './family.ts';

/** The latest batch up to which every submitted study has its entries; a later one may have them. Absent in the store of an older version, and after a repair or an import. */
export const INDEXED_KEY = keys.meta('indexed-study');

const byName = (name: string): string => `name-${createHash('sha256').update(name).digest('hex')}`;

/** The study that a submission continues is listed here: with the same seed, or with any where it has none. */
function byDesign(submission: BatchSubmission): string {
  const { seed } = submission.config.monte_carlo;
  const name = continuationHash(submission);
  return seed === null || seed === undefined ? name : `${name}-${seedToDecimal(seed)}`;
}

/** The keys of the entries of a submitted study. `seed`: the seed in use. */
function studyKeys(batchId: Uuid, submission: BatchSubmission, seed: Seed): string[] {
  const name = continuationHash(submission);
  const groups = [name, `${name}-${seedToDecimal(seed)}`, byName(submission.name)];
  return groups.map((group) => keys.study(group, batchId));
}

/** The entry of a batch that could not be read when the studies were listed: its design and its name are not known. */
export const damagedEntry = (batchId: Uuid): string => keys.study('damaged', batchId);

/** Lists a new study, wherever the place of `INDEXED_KEY` is. */
export function listStudy(turn: Turn, batchId: Uuid, submission: BatchSubmission, seed: Seed): void {
  for (const key of studyKeys(batchId, submission, seed)) turn.put(key, '');
}

/** Removes the entries of a batch that is being deleted. */
export function unlistStudy(turn: Turn, { batchId, parent }: Pick<BatchContext, 'batchId' | 'parent'>): void {
  if (turn.read(damagedEntry(batchId)) !== undefined) turn.put(damagedEntry(batchId), null);
  const record = parent === undefined ? turn.read(keys.submission(batchId)) : undefined;
  if (record !== undefined) for (const key of entriesOf(batchId, record)) turn.put(key, null);
}

/** The keys of the entries of a study, by its stored submission. */
export function entriesOf(batchId: Uuid, record: string): string[] {
  const { submission, seed } = decodeSubmission(record);
  return studyKeys(batchId, submission, seed);
}

/** True when the store's entries are complete up to this batch. */
export function isIndexed(read: ReadRecord, batchId: Uuid): boolean {
  const last = read(INDEXED_KEY);
  return last !== undefined && batchId <= last;
}

/** The newest submitted study that the submission continues, of those that `mayContinue`; undefined when there is none. */
export const newestOfDesign = (
  view: StoreView,
  submission: BatchSubmission,
  mayContinue: (state: BatchState) => boolean,
) => newest(view, byDesign(submission), mayContinue);

/** The newest submitted study with this name. */
export const newestOfName = (view: StoreView, name: string) => newest(view, byName(name));

/** The batches that could not be read when they were to be listed, newest first, at most as many. */
export async function damagedStudies(view: StoreView, most: number): Promise<Uuid[]> {
  for await (const chunk of view.entries(studiesOf('damaged'), { reverse: true, chunkSize: most }))
    return chunk.slice(0, most).map(([key]) => listedBatch(key));
  return [];
}

async function newest(view: StoreView, group: string, isWanted: (state: BatchState) => boolean = () => true) {
  for await (const chunk of view.entries(studiesOf(group), { reverse: true, chunkSize: 1 })) {
    for (const [key] of chunk) {
      const record = view.get(keys.batch(listedBatch(key)));
      const state = record === undefined ? undefined : decodeBatch(record);
      if (state !== undefined && isWanted(state)) return state;
    }
  }
  return undefined;
}

/** The batch of an entry. */
export const listedBatch = (key: string): Uuid => key.slice(key.lastIndexOf('/') + 1);
