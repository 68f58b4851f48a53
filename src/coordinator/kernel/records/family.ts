/**
 * The family of a study: the batches that grew from it by extensions and reruns. One record for each family lists the batches
 * that came of its members. It is written in the turn that creates or deletes such a batch, so it never disagrees with them.
 *
 * A comparison or an audit is listed under its parent and begins a family of its own: its runs are not further results of
 * the same study.
 */
import type { BatchContext, BatchInput } from '../../../../machines/batch.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { BatchLink, Relation, Uuid } from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { designEnd } from '../../../domain/study/growth.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import { decodeBatch, type BatchState } from '../actors/actor-kinds.ts';
import { decodeSubmission } from './study-cache.ts';
import { keys } from '../storage/keys.ts';
import type { Turn } from '../turn/turn.ts';

/** A batch that came of a member of the family. */
export interface FamilyEntry {
  batch_id: Uuid;
  parent: Uuid;
  relation: Relation;
}

/** A member of a family that exists. */
export interface FamilyMember {
  state: BatchState;
  /** The replicate of the design whose runs it holds. */
  replicate: number;
  /** The first run id of the design after those that it was made for. */
  designEnd: number;
}

/** Returns the value of a key. */
export type ReadRecord = (key: string) => string | undefined;

type Related = Pick<BatchInput, 'batchId' | 'parent'>;

/** The family of a batch: the id of the batch that it grew from, which may have been deleted. */
export function familyIdOf({ batchId, parent }: Related): Uuid {
  const isGrown = parent?.relation === 'extension' || parent?.relation === 'rerun';
  return isGrown ? parent.family : batchId;
}

/** The batches that came of the members of a family, oldest first. */
export function familyEntries(read: ReadRecord, familyId: Uuid): FamilyEntry[] {
  const record = read(keys.family(familyId));
  return record === undefined ? [] : (JSON.parse(record) as FamilyEntry[]);
}

/** The batches that came of a batch, oldest first. */
export function childrenOf(read: ReadRecord, batch: Related): BatchLink[] {
  return familyEntries(read, familyIdOf(batch))
    .filter(({ parent }) => parent === batch.batchId)
    .map(({ batch_id, relation }) => ({ batch_id, relation }));
}

/** The batches that were submitted together with a batch and exist, the first one first: those of one question with different seeds. */
export function repeatsOf(read: ReadRecord, { batchId, parent }: Related): Uuid[] {
  const first = parent?.relation === 'repeat' ? parent.batchId : batchId;
  const others = familyEntries(read, first).filter((it) => it.parent === first && it.relation === 'repeat');
  return [first, ...others.map((it) => it.batch_id)].filter(
    (it) => it === batchId || read(keys.batch(it)) !== undefined,
  );
}

/** The batches that a request about a batch reaches: those that were submitted together, of the first one of them; of any other the batch alone. */
export const ledBy = (read: ReadRecord, batch: Related): Uuid[] =>
  batch.parent?.relation === 'repeat' ? [batch.batchId] : repeatsOf(read, batch);

/** The record of a family; null when it lists no batch. */
export const encodeFamily = (entries: readonly FamilyEntry[]): string | null =>
  entries.length === 0 ? null : JSON.stringify(entries);

/** Returns the entry of a batch in the record of its parent's family; undefined for a batch that was submitted. */
export function entryOf({ batchId, parent }: Related): { familyId: Uuid; entry: FamilyEntry } | undefined {
  if (parent === undefined) return undefined;
  const entry = { batch_id: batchId, parent: parent.batchId, relation: parent.relation };
  return { familyId: parent.family, entry };
}

/** Collects the entries of batches into the records of their families. */
export class FamilyIndex {
  readonly #entries = new Map<Uuid, FamilyEntry[]>();

  add(batch: Related): void {
    const own = entryOf(batch);
    if (own === undefined) return;
    const entries = this.#entries.get(own.familyId);
    if (entries === undefined) this.#entries.set(own.familyId, [own.entry]);
    else entries.push(own.entry);
  }

  /** The records by family; the batches were added oldest first. */
  *records(): Iterable<[familyId: Uuid, record: string]> {
    for (const [familyId, entries] of this.#entries) yield [familyId, JSON.stringify(entries)];
  }
}

/**
 * Lists a new batch under its parent.
 * @throws SimbatchError `illegal-transition` when the family is full
 */
export function joinFamily(turn: Turn, batch: Related): void {
  const own = entryOf(batch);
  if (own === undefined) return;
  const entries = familyEntries((key) => turn.read(key), own.familyId);
  if (entries.length >= LIMITS.family) {
    throw new SimbatchError(
      'illegal-transition',
      `cannot derive another study: the family of study ${own.familyId} has ${entries.length} studies, the limit; delete old ones, or submit the study anew`,
    );
  }
  turn.put(keys.family(own.familyId), encodeFamily([...entries, own.entry]));
}

/** Removes a batch that is being deleted from the list of its parent. The batches that came of it keep their own entries. */
export function leaveFamily(turn: Turn, batch: Related): void {
  const own = entryOf(batch);
  if (own === undefined) return;
  const entries = familyEntries((key) => turn.read(key), own.familyId);
  turn.put(keys.family(own.familyId), encodeFamily(entries.filter((it) => it.batch_id !== batch.batchId)));
}

/**
 * The family of a batch as of a view of the store: the members that exist, by replicate and then newest last. So the last
 * member that holds a terminal run has its latest result. Long families are read in slices of the event loop.
 */
export async function familyOf(share: EventLoopShare, read: ReadRecord, batch: BatchContext): Promise<FamilyMember[]> {
  const familyId = familyIdOf(batch);
  const grown = familyEntries(read, familyId).filter(
    ({ relation }) => relation === 'extension' || relation === 'rerun',
  );
  const members: FamilyMember[] = [];
  for await (const id of share.paced([familyId, ...grown.map((it) => it.batch_id)])) {
    const record = read(keys.batch(id));
    const submission = read(keys.submission(id));
    if (record === undefined || submission === undefined) continue;
    const study = decodeSubmission(submission).submission;
    const { replicate } = study.config.monte_carlo;
    members.push({ state: decodeBatch(record), replicate: replicate ?? 0, designEnd: designEnd(study) });
  }
  const inOrder = (a: FamilyMember, b: FamilyMember): number =>
    a.replicate - b.replicate || (a.state.context.batchId < b.state.context.batchId ? -1 : 1);
  return members.sort(inOrder);
}

/** @throws SimbatchError `malformed-query` where there are too many members to be read side by side */
export function mergeable<T>(members: readonly T[]): readonly T[] {
  if (members.length <= LIMITS.mergedBatches) return members;
  throw new SimbatchError(
    'malformed-query',
    `the family is not merged: it has ${members.length} batches, and at most ${LIMITS.mergedBatches} are read side by side; leave out \`family\` and read its batches one by one`,
  );
}
