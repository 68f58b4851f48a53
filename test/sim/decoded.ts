/** Decoders of stored records that remember the latest ones: the checks after each step read the same records again. Not to be modified. */
import * as actors from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import * as studies from '../../src/coordinator/kernel/records/study-cache.ts';

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
