/**
 * Backups: all records of the store as of one instant, one JSON text a line, between a line that says what this is and one
 * that proves that nothing is missing. The tokens are not part of it. Written while the coordinator serves, in memory that
 * does not grow; read back into a fresh directory only.
 */
import { createHash } from 'node:crypto';
import { SimbatchError } from '../../domain/errors.ts';
import { packageVersion } from '../../base/package.ts';
import { keys } from './keys.ts';
import { makeStore, refuseIfUsed } from './create-store.ts';
import { STORE_FORMAT, type Store } from './store.ts';

/** The version of the form of a backup. That of its records stands beside it. */
const BACKUP_FORMAT = 1;
/** Every key begins with `!`; `"` is the character behind it. */
const EVERYTHING = { gte: '!', lt: '"' };
const CHUNK = 500;

interface Head {
  simbatch_backup: number;
  store_format: number;
  simbatch_version: string;
  created_at: string;
}

interface Tail {
  records: number;
  /** SHA-256, in hex, of everything before this line. */
  sha256: string;
}

/** What a backup holds. */
export interface BackupSummary {
  records: number;
  createdAt: string;
}

/** The text of a backup, piece by piece. The store as of the call is shown, whatever is written meanwhile. */
export function backupText(store: Store, now: number): AsyncIterable<string> {
  const snapshot = store.snapshot();
  const hash = createHash('sha256');
  const hashed = (text: string): string => {
    hash.update(text);
    return text;
  };
  async function* pieces(): AsyncGenerator<string> {
    try {
      const head: Head = {
        simbatch_backup: BACKUP_FORMAT,
        store_format: Number(snapshot.get(keys.meta('format')) ?? STORE_FORMAT),
        simbatch_version: packageVersion,
        created_at: new Date(now).toISOString(),
      };
      yield hashed(`${JSON.stringify(head)}\n`);
      let records = 0;
      for await (const chunk of snapshot.entries(EVERYTHING, { chunkSize: CHUNK })) {
        records += chunk.length;
        yield hashed(chunk.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      }
      const tail: Tail = { records, sha256: hash.digest('hex') };
      yield `${JSON.stringify(tail)}\n`;
    } finally {
      await snapshot.close();
    }
  }
  return pieces();
}

const unusable = (why: string): SimbatchError =>
  new SimbatchError('store-unusable', `this is not a whole backup: ${why}; nothing was restored from it`);

/**
 * Reads a backup to its end and checks it; `take` is given its records in order, some hundred at a time.
 * @throws SimbatchError `store-unusable` when something is missing or was changed, `store-newer`
 */
export async function readBackup(
  source: AsyncIterable<Uint8Array>,
  take?: (records: readonly [string, string][]) => Promise<void>,
): Promise<BackupSummary> {
  const hash = createHash('sha256');
  let head: Head | undefined;
  let tail: Tail | undefined;
  let count = 0;
  let records: [string, string][] = [];
  for await (const line of linesOf(source)) {
    if (tail !== undefined) throw unusable('something stands behind its end');
    const value = parsed(line, count);
    if (head === undefined) head = checkedHead(value);
    else if (Array.isArray(value)) {
      count += 1;
      if (take !== undefined) records.push(value as [string, string]);
    } else {
      tail = value as Tail;
      continue;
    }
    hash.update(line).update('\n');
    if (records.length === CHUNK) {
      await take?.(records);
      records = [];
    }
  }
  if (head === undefined) throw unusable('it is empty');
  if (tail === undefined) throw unusable(`it breaks off after ${count} records`);
  if (tail.records !== count) throw unusable(`it has ${count} records and says that they are ${tail.records}`);
  if (tail.sha256 !== hash.digest('hex')) throw unusable('its checksum does not fit');
  if (records.length > 0) await take?.(records);
  return { records: count, createdAt: head.created_at };
}

function parsed(line: Buffer, count: number): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    throw unusable(`what stands behind its record ${count} is not JSON`);
  }
}

function checkedHead(value: unknown): Head {
  const head = value as Partial<Head> | null;
  if (typeof head?.simbatch_backup !== 'number' || typeof head.store_format !== 'number') {
    throw unusable('it does not begin like one');
  }
  if (head.simbatch_backup > BACKUP_FORMAT || head.store_format > STORE_FORMAT) {
    throw new SimbatchError(
      'store-newer',
      `the backup was written by simbatch ${head.simbatch_version}, which is newer; restore it with that version`,
    );
  }
  return head as Head;
}

const NEWLINE = 10;

/** Lines without their ends. Split as bytes: a character may be cut in two between two pieces. */
async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const piece of source) {
    let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      begun.push(rest.subarray(0, end));
      yield Buffer.concat(begun);
      begun = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) begun.push(rest);
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}

/**
 * Makes the data directory that a backup is of. `open` gives the backup's bytes anew each time: it is read once to check it,
 * and once to restore. The directory appears when it is whole, or not at all.
 * @throws SimbatchError `store-unusable` when the directory holds something already, or the backup is not whole
 */
export async function restoreBackup(open: () => AsyncIterable<Uint8Array>, directory: string): Promise<BackupSummary> {
  await refuseIfUsed(directory);
  const summary = await readBackup(open());
  await makeStore(directory, (store) => readBackup(open(), (records) => store.write(records)));
  return summary;
}
