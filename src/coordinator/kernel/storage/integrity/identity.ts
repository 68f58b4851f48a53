/** The identity of a store and its last group, compared with the high-water mark. */
import { SimbatchError } from '../../../../domain/errors.ts';
import type { Engine } from '../engine.ts';
import { keys } from '../keys.ts';
import type { FileFault } from '../leveldb/inspection.ts';
import { unseal } from './checksum.ts';
import { decodeGroup, GROUP_KEY, type GroupRecord } from './group-chain.ts';
import { MARK_FILE, type Mark } from './high-water-mark.ts';

/** The key of the store's identity, which its high-water mark repeats. */
export const STORE_KEY = keys.meta('store');

export interface Identity {
  store: string;
  last: GroupRecord;
  /** Empty when the records and the mark belong together. */
  faults: FileFault[];
}

export function readIdentity(engine: Engine, mark: Mark | undefined): Identity {
  const store = unsealed(engine, STORE_KEY) ?? '';
  const last = decodeGroup(unsealed(engine, GROUP_KEY) ?? '') ?? { number: 0, before: '', hash: '' };
  return { store, last, faults: faultsOf(store, last, mark) };
}

function faultsOf(store: string, last: GroupRecord, mark: Mark | undefined): FileFault[] {
  if (store === '') return [missingRecord(STORE_KEY)];
  if (last.number === 0) return [missingRecord(GROUP_KEY)];
  if (mark === undefined) {
    // The mark is created after the first group. Without one a store has that group at most.
    return last.number === 1 ? [] : [{ file: MARK_FILE, problem: 'the file is missing' }];
  }
  if (mark.store !== store) {
    return [{ file: MARK_FILE, problem: `it is of store ${mark.store}, and the records are of store ${store}` }];
  }
  const isOlder = last.number < mark.number || (last.number === mark.number && last.hash !== mark.hash);
  const problem = `the last group is ${last.number} ${last.hash}, and ${MARK_FILE} has ${mark.number} ${mark.hash}`;
  return isOlder ? [{ file: GROUP_KEY, problem }] : [];
}

function unsealed(engine: Engine, key: string): string | undefined {
  const sealed = engine.get(key);
  return sealed === undefined ? undefined : unseal(key, sealed);
}

export const missingRecord = (key: string): FileFault => ({ file: key, problem: 'the record is missing or damaged' });

const MOST_FAULTS = 20;

/** A refusal that lists the faults, a line each. */
export function damaged(directory: string, faults: readonly FileFault[]): SimbatchError {
  const lines = faults.slice(0, MOST_FAULTS).map(({ file, problem }) => `  ${file}: ${problem}`);
  const more = faults.length - lines.length;
  return new SimbatchError(
    'store-damaged',
    [
      `the data directory ${directory} is damaged: nothing in it was changed; restore a backup, or save the readable ` +
        `records with simbatch repair NEW-DIRECTORY --data-dir ${directory}`,
      ...lines,
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join('\n'),
  );
}
