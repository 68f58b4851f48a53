/**
 * The studies whose runs can have the same keys, and the probes of a simulation. One record for each group of such studies lists their
 * batches; it is written in the turn that creates or deletes a batch. The results themselves are found by the number of the run: equal keys have equal random seeds, so
 * equal numbers. So no run has an entry of its own, and what is found is the record of the run itself.
 */
import { isProbe, probeGroup } from '../../../domain/probe/group.ts';
import { keyGroup } from '../../../domain/reuse/run-key.ts';
import { seedToDecimal } from '../../../domain/seed.ts';
import type { BatchConfig, Seed, Uuid } from '../../../contract/types.ts';
import { keys } from '../storage/keys.ts';
import type { Turn } from '../turn/turn.ts';
import { decodeSubmission, type DecodedSubmission } from './study-cache.ts';
import type { ReadRecord } from './family.ts';

/** The group of a study with the seed that is used. */
export const groupOf = (config: BatchConfig, seed: Seed): string => keyGroup(config, seedToDecimal(seed));

/** The groups that list a study: that of its keys, and where it is a probe that of the probes of its simulation. */
export const groupsOf = ({ submission, seed, extraction }: DecodedSubmission): string[] =>
  // The results of an extraction are not those of a simulation, and no other study gets them.
  extraction === undefined
    ? [groupOf(submission.config, seed), ...(isProbe(submission) ? [probeGroup(submission.config)] : [])]
    : [];

/** The batches of a group, oldest first. */
export function groupMembers(read: ReadRecord, group: string): Uuid[] {
  const record = read(keys['key-group'](group));
  return record === undefined ? [] : (JSON.parse(record) as Uuid[]);
}

/** Lists a new batch. */
export function joinGroups(turn: Turn, batchId: Uuid, study: DecodedSubmission): void {
  for (const group of groupsOf(study)) {
    const members = groupMembers((key) => turn.read(key), group);
    turn.put(keys['key-group'](group), JSON.stringify([...members, batchId]));
  }
}

/** Removes a batch that is being deleted: from now on its results are not found. */
export function leaveGroups(turn: Turn, batchId: Uuid): void {
  const record = turn.read(keys.submission(batchId));
  if (record === undefined) return;
  for (const group of groupsOf(decodeSubmission(record))) {
    const left = groupMembers((key) => turn.read(key), group).filter((it) => it !== batchId);
    turn.put(keys['key-group'](group), left.length === 0 ? null : JSON.stringify(left));
  }
}

/** Collects the batches of submissions into the records of their groups. */
export class KeyGroups {
  readonly #members = new Map<string, Uuid[]>();

  /** The batches are added oldest first. */
  add(batchId: Uuid, study: DecodedSubmission): void {
    for (const group of groupsOf(study)) {
      const members = this.#members.get(group);
      if (members === undefined) this.#members.set(group, [batchId]);
      else members.push(batchId);
    }
  }

  /** The records by group. */
  *records(): Iterable<[group: string, record: string]> {
    for (const [group, members] of this.#members) yield [group, JSON.stringify(members)];
  }
}
