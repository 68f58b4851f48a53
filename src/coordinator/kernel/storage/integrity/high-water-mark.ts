/**
 * The high-water mark: a small file that names the last group known to be on the disk. LevelDB cannot distinguish a log whose end
 * is missing from one whose last write was interrupted; this file can, up to the groups of the last moments.
 *
 * It is written after a group, at most 50 ms later, and never before it: it never names a group that is not on the disk. Its two
 * slots are written in turn and lie in different pages: a torn write leaves the other slot.
 */
import { close, fdatasync, openSync, readFileSync, write } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../../../base/clock.ts';
import { seal, unseal } from './checksum.ts';

export interface Mark {
  /** The identity of the store that the mark is of. */
  store: string;
  number: number;
  hash: string;
  /** LevelDB's sequence number after the group. */
  sequence: number;
}

export const MARK_FILE = 'high-water-mark';
const SLOT_BYTES = 4096;
/** The least time between two writes of the mark: a write for each small group would cost more than it is worth. */
const INTERVAL_MS = 50;
/** Writes between two syncs; the system writes the file by itself after some seconds too. */
const SYNC_EVERY = 50;

/** The mark of a store: undefined without a file, 'damaged' when neither slot can be read. */
export function readMark(directory: string): Mark | 'damaged' | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(directory, MARK_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const marks = [0, 1].map((slot) => decode(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)));
  const valid = marks.filter((it) => it !== undefined);
  return valid.toSorted((a, b) => b.number - a.number)[0] ?? 'damaged';
}

const encode = ({ store, number, hash, sequence }: Mark): string =>
  `${seal(MARK_FILE, `${store} ${number} ${hash} ${sequence}`)}\n`;

function decode(slot: Buffer): Mark | undefined {
  const text = slot.toString('latin1');
  const fields = unseal(MARK_FILE, text.slice(0, Math.max(0, text.indexOf('\n'))))?.split(' ');
  if (fields?.length !== 4) return undefined;
  const [store = '', number, hash = '', sequence] = fields;
  return { store, number: Number(number), hash, sequence: Number(sequence) };
}

/** Creates the file with a first mark. It appears whole or not at all. */
export async function createMark(directory: string, mark: Mark): Promise<void> {
  const path = join(directory, MARK_FILE);
  const bytes = Buffer.alloc(2 * SLOT_BYTES);
  bytes.write(encode(mark), 0, 'latin1');
  bytes.write(encode(mark), SLOT_BYTES, 'latin1');
  const file = await open(`${path}.new`, 'w', 0o600);
  await file.writeFile(bytes);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
  await syncDirectory(dirname(path));
}

/** Waits until the names in a directory are on the disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const writeAt = promisify(write);
const syncData = promisify(fdatasync);
const closeFile = promisify(close);

/** Keeps the file of an open store up to date. */
export class HighWaterMark {
  readonly #file: number;
  readonly #onFailure: (error: unknown) => void;
  #slot = 0;
  #written = 0;
  #next: Mark | undefined;
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @throws the system's error when the file cannot be opened */
  constructor(directory: string, onFailure: (error: unknown) => void) {
    this.#file = openSync(join(directory, MARK_FILE), 'r+');
    this.#onFailure = onFailure;
  }

  /** Notes a group that is on the disk. Does not wait: of the notes within an interval only the last is written. */
  advance(mark: Mark): void {
    this.#next = mark;
    this.#cancel ??= systemClock.after(INTERVAL_MS, () => {
      this.#cancel = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  async #write(): Promise<void> {
    const mark = this.#next;
    if (mark === undefined) return;
    this.#next = undefined;
    this.#slot = 1 - this.#slot;
    try {
      await writeAt(this.#file, encode(mark), this.#slot * SLOT_BYTES, 'latin1');
      this.#written += 1;
      if (this.#written % SYNC_EVERY === 0) await syncData(this.#file);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  async close(): Promise<void> {
    this.#cancel?.();
    await this.#writing;
    await this.#write();
    await syncData(this.#file).catch(this.#onFailure);
    await closeFile(this.#file);
  }
}
