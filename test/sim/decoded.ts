/** Decoders of stored records that remember the latest ones: the checks after each step read the same records again. Not to be modified. */
import type { JobRecord } from '../../src/contract/types.ts';
import * as actors from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import * as groups from '../../src/coordinator/kernel/records/key-groups.ts';
import * as studies from '../../src/coordinator/kernel/records/study-cache.ts';
import { allOf, idOf, type KeyKind } from '../../src/coordinator/kernel/storage/keys.ts';

/** The stored records by key. */
export type Disk = ReadonlyMap<string, string>;

/** The records of a kind by id. */
export function* recordsOf(disk: Disk, kind: KeyKind): Iterable<[id: string, record: string]> {
  const { gte, lt } = allOf(kind);
  for (const [key, record] of disk) if (key >= gte && key < lt) yield [idOf(key), record];
}

/** More records than the checks of one step read. */
const MAX_KNOWN = 2_000;

function remembering<T>(decode: (record: string) => T): (record: string) => T {
  const known = new Map<string, T>();
  return (record) => {
    const found = known.get(record);
    if (found !== undefined) return found;
    if (known.size >= MAX_KNOWN) known.clear();
    const decoded = decode(record);
    known.set(record, decoded);
    return decoded;
  };
}

export const decodeBatch = remembering(actors.decodeBatch);
export const decodeRunner = remembering(actors.decodeRunner);
export const decodeSubmission = remembering(studies.decodeSubmission);
/** A run as it is stored: without the members that follow from its batch. */
export const storedJob = remembering((record) => JSON.parse(record) as JobRecord);
/** The groups of a study by its submission. */
export const groupsOf = remembering((record) => groups.groupsOf(decodeSubmission(record)));
