/** The check of the index of studies: each submitted study has its entries, and nothing else has one. */
import { entriesOf } from '../../src/coordinator/kernel/records/study-index.ts';
import { allOf, idOf, keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { decodeBatch } from './decoded.ts';
import { insist } from './acknowledged.ts';

/** The entries by submission: worlds are checked after every step. */
const known = new Map<string, string[]>();
const MOST_KNOWN = 200;

function entriesFor(batchId: string, record: string): string[] {
  const found = known.get(batchId + record) ?? entriesOf(batchId, record);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(batchId + record, found);
  return found;
}

/** Compares the entries on the disk with those that follow from its submissions. */
export function checkListed(disk: ReadonlyMap<string, string>): void {
  const [batches, entries] = [allOf('batch'), allOf('study')];
  const expected = new Set<string>();
  for (const [key, record] of disk) {
    if (key < batches.gte || key >= batches.lt || decodeBatch(record).context.parent !== undefined) continue;
    for (const entry of entriesFor(idOf(key), disk.get(keys.submission(idOf(key)))!)) expected.add(entry);
  }
  for (const key of disk.keys()) {
    if (key < entries.gte || key >= entries.lt) continue;
    insist(expected.delete(key), () => `${key} is in the index of studies, and no study has this entry`);
  }
  insist(
    expected.size === 0,
    () => `${expected.size} entries are missing in the index of studies: ${[...expected].join()}`,
  );
}
