/**
 * Backups: all records of the store as of one instant, one JSON text a line, between a head with the versions and a tail with
 * number and checksum. Tokens are not included. A backup is written while the coordinator serves, in constant memory, and
 * restored into a new directory only. Each record is verified as it is read.
 */
import { createHash } from 'node:crypto';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { packageVersion } from '../../../base/package.ts';
import { allOf, keys } from './keys.ts';
import { makeStore, refuseIfUsed } from './create-store.ts';
import { STORE_FORMAT, type Store } from './store.ts';

/** The version of a backup's layout; its head also has the format of the records. */
const BACKUP_FORMAT = 1;
/** Every key begins with `!`; `"` is the character after it. */
const EVERYTHING = { gte: '!', lt: '"' };
const CHUNK = 100;

/** The store's own records, such as its format and its last group: each store has its own. */
const isOwnKey = (key: string): boolean => key.startsWith(allOf('meta').gte);

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

/** Ends a backup that met a damaged record, in place of the tail. */
interface Damage {
  damaged: string;
}

/** The size and the time of a backup. */
export interface BackupSummary {
  records: number;
  createdAt: string;
}

/**
 * The text of a backup, piece by piece, of the store as of the call. At a damaged record it ends with a line that names it,
 * and is refused by `readBackup`.
 */
export function backupText(store: Store, now: number, share: EventLoopShare): AsyncIterable<string> {
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
        const copied = chunk.filter(([key]) => !isOwnKey(key));
        records += copied.length;
        for await (const lines of share.mapped(copied, (entry) => hashed(`${JSON.stringify(entry)}\n`))) {
          yield lines.join('');
        }
      }
      const tail: Tail = { records, sha256: hash.digest('hex') };
      yield `${JSON.stringify(tail)}\n`;
    } catch (error) {
      if (!(error instanceof SimbatchError) || error.code !== 'store-damaged') throw error;
      // A broken connection could not name the record.
      yield `${JSON.stringify({ damaged: error.message } satisfies Damage)}\n`;
    } finally {
      await snapshot.close();
    }
  }
  return pieces();
}

export const unusableBackup = (why: string): SimbatchError =>
  new SimbatchError('store-unusable', `the backup cannot be used: ${why}; nothing was restored from it`);

/**
 * Reads a backup to its end and checks it; `take` receives its records in order, some hundred at a time.
 * @throws SimbatchError `store-unusable` when it is incomplete or altered, `store-damaged` when the store was, `store-newer`
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
    if (tail !== undefined) throw unusableBackup('it has data after its end');
    const value = parsed(line, count);
    if (head === undefined) head = checkedHead(value);
    else if (Array.isArray(value)) {
      count += 1;
      const entry = value as [string, string];
      if (take !== undefined && !isOwnKey(entry[0])) records.push(entry);
    } else {
      const { damaged } = value as Partial<Damage>;
      if (damaged !== undefined) throw new SimbatchError('store-damaged', `the backup is incomplete: ${damaged}`);
      tail = value as Tail;
      continue;
    }
    hash.update(line).update('\n');
    if (records.length === CHUNK) {
      await take?.(records);
      records = [];
    }
  }
  if (head === undefined) throw unusableBackup('it is empty');
  if (tail === undefined) throw unusableBackup(`it ends after ${count} records, without its last line`);
  if (tail.records !== count) throw unusableBackup(`it has ${count} records, and its last line says ${tail.records}`);
  if (tail.sha256 !== hash.digest('hex')) throw unusableBackup('its checksum does not match');
  if (records.length > 0) await take?.(records);
  return { records: count, createdAt: head.created_at };
}

function parsed(line: Buffer, count: number): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    throw unusableBackup(`the line after record ${count} is not JSON`);
  }
}

function checkedHead(value: unknown): Head {
  const head = value as Partial<Head> | null;
  if (typeof head?.simbatch_backup !== 'number' || typeof head.store_format !== 'number') {
    throw unusableBackup('its first line is not the head of a backup');
  }
  if (head.simbatch_backup > BACKUP_FORMAT || head.store_format > STORE_FORMAT) {
    throw new SimbatchError(
      'store-newer',
      `the backup cannot be used: it was written by the newer simbatch ${head.simbatch_version}; restore it with that version`,
    );
  }
  return head as Head;
}

const NEWLINE = 10;

/** Lines without their ends. Split as bytes: a character may be divided between two pieces. */
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
 * Creates a data directory from a backup. `open` returns the backup's bytes from their start at each call: one pass checks
 * the backup, a second one restores it. The directory appears when it is complete, or not at all.
 * @throws SimbatchError `store-unusable` when the directory is not empty or the backup is incomplete or altered
 */
export async function restoreBackup(open: () => AsyncIterable<Uint8Array>, directory: string): Promise<BackupSummary> {
  await refuseIfUsed(directory);
  const summary = await readBackup(open());
  await makeStore(directory, (store) => readBackup(open(), (records) => store.write(records)));
  return summary;
}
