/**
 * The audit log of a coordinator: `audit.ndjson` in its data directory, appended to and synced before anything depends on it.
 *
 *   append ─► waiting ─► one write and sync for all that wait ─► head ─► acknowledged
 *                │ fails: the file is cut back to its last whole line, and the lines are refused
 *                └ outcomes are kept and written with the next lines, since their actions are done
 */
import { open, readdir, readFile, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { SimbatchError } from '../../../domain/errors.ts';
import {
  AUDIT_FILE,
  auditFiles,
  chained,
  fullName,
  HEAD_FILE,
  headText,
  readHead,
  readLine,
  START,
  type AuditEntry,
  type Link,
} from './lines.ts';

/** The part of a file that the log uses. */
export type LogFile = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>;

export interface AuditLogOptions {
  directory: string;
  now: () => number;
  log: { error(facts: object, message: string): void };
  /** Size in bytes from which a new file is begun. */
  fileBytes?: number;
  /** Opens a file to write; for tests of a full disk. */
  openFile?: (path: string) => Promise<LogFile>;
}

interface Waiting {
  at: string;
  entry: AuditEntry;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const FILE_BYTES = 64 * 1024 * 1024;
const MODE = 0o600;
const openToWrite = (path: string): Promise<LogFile> =>
  open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return open(path, 'wx+', MODE);
    throw error;
  });

export class AuditLog {
  readonly #options: Required<AuditLogOptions>;
  #opened: Promise<void> | undefined;
  #file: LogFile | undefined;
  #head: LogFile | undefined;
  #link: Link = START;
  /** Bytes of whole lines in the file. */
  #size = 0;
  /** A failed write may have left a part of a line. */
  #isTorn = false;
  #waiting: Waiting[] = [];
  /** Outcomes that could not be written. */
  #owed: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: AuditLogOptions) {
    this.#options = { fileBytes: FILE_BYTES, openFile: openToWrite, ...options };
  }

  /**
   * Opens the files, once; a later call waits for the first.
   * @throws SimbatchError `invalid-configuration` when they are not as this program left them
   */
  open(): Promise<void> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Resolves when the line is on disk. @throws SimbatchError `unavailable` when it cannot be written */
  append(entry: AuditEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ at: new Date(this.#options.now()).toISOString(), entry, resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  /** Writes what waits, and closes the files. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    await this.#head?.close();
    this.#file = this.#head = undefined;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = [...this.#owed, ...this.#waiting];
      this.#waiting = [];
      this.#owed = [];
      try {
        await this.open();
        await this.#writeAll(batch);
        this.#isFailing = false;
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#refuse(batch, error as Error);
      }
    }
    // In the same step as the last look at what waits, so that no line comes between.
    this.#writing = undefined;
  }

  #refuse(batch: readonly Waiting[], cause: Error): void {
    const { log, directory } = this.#options;
    if (!this.#isFailing) log.error({ reason: cause.message }, 'the audit log cannot be written; actions are refused');
    this.#isFailing = true;
    const refusal = new SimbatchError(
      'unavailable',
      `the action is refused: the audit log in ${directory} cannot be written (${cause.message}); make room on its disk, or mend its files`,
      { cause },
    );
    for (const it of batch) {
      if (it.entry.event === 'ended') {
        this.#owed.push(it);
        it.resolve();
      } else it.reject(refusal);
    }
  }

  async #writeAll(batch: readonly Waiting[]): Promise<void> {
    if (this.#isTorn) await this.#file!.truncate(this.#size);
    if (this.#size >= this.#options.fileBytes) await this.#rotate();
    let link = this.#link;
    let text = '';
    for (const { at, entry } of batch) {
      const next = chained(link, at, entry);
      link = next.link;
      text += `${next.line}\n`;
    }
    this.#isTorn = true;
    await writeWhole(this.#file!, text, this.#size);
    await this.#file!.datasync();
    this.#isTorn = false;
    this.#size += Buffer.byteLength(text);
    this.#link = link;
    await writeWhole(this.#head!, headText(link), 0);
  }

  /** The full file gets a name by its last line. A crash after that leaves no `audit.ndjson`, which the next start makes. */
  async #rotate(): Promise<void> {
    await this.#file!.close();
    this.#file = this.#opened = undefined;
    const { directory } = this.#options;
    await rename(join(directory, AUDIT_FILE), join(directory, fullName(this.#link.n)));
    await this.open();
  }

  async #open(): Promise<void> {
    const { directory, openFile, now } = this.#options;
    const { link, whole, torn } = await lastLink(directory);
    const headBytes = await readFile(join(directory, HEAD_FILE), 'latin1').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    const head = headBytes === undefined ? undefined : readHead(headBytes);
    // A head without lines is that of a first start that was interrupted.
    if (head === undefined ? link.n > 0 : head.n > link.n || (head.n === link.n && head.hash !== link.hash))
      throw damaged(directory, `it ends with line ${link.n}, and ${HEAD_FILE} says otherwise or is missing`);
    this.#head ??= await openFile(join(directory, HEAD_FILE));
    await writeWhole(this.#head, headText(link), 0);
    await this.#head.datasync();
    this.#file ??= await openFile(join(directory, AUDIT_FILE));
    this.#link = link;
    this.#size = whole;
    this.#isTorn = false;
    await syncDirectory(directory);
    if (torn === 0) return;
    await this.#file.truncate(whole);
    const at = new Date(now()).toISOString();
    await this.#writeAll([{ at, entry: { event: 'torn', bytes: torn }, resolve: () => {}, reject: () => {} }]);
  }
}

async function writeWhole(file: LogFile, text: string, position: number): Promise<void> {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

const damaged = (directory: string, why: string): SimbatchError =>
  new SimbatchError(
    'invalid-configuration',
    `the audit log in ${directory} is not as it was written: ${why}; look with \`simbatch audit-log verify\`, and move audit*.ndjson and ${HEAD_FILE} to another place to begin a new one`,
  );

/** The longest end of a file that is read for its last line. */
const TAIL_BYTES = 1024 * 1024;

/** Returns the place of the last whole line, the bytes of whole lines in the present file, and those of a part of a line after them. */
async function lastLink(directory: string): Promise<{ link: Link; whole: number; torn: number }> {
  const files = auditFiles(await readdir(directory));
  let whole = 0;
  let torn = 0;
  for (const name of files.toReversed()) {
    const { line, end, size } = await lastLine(join(directory, name));
    if (name === AUDIT_FILE) [whole, torn] = [end, size - end];
    if (line === undefined) continue;
    const read = readLine(line);
    if (typeof read === 'string') throw damaged(directory, `the last line of ${name} ${read}`);
    return { link: read.link, whole, torn };
  }
  return { link: START, whole, torn };
}

async function lastLine(path: string): Promise<{ line: string | undefined; end: number; size: number }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const tail = buffer.subarray(0, bytesRead);
    const end = tail.lastIndexOf(10) + 1;
    if (end === 0) return { line: undefined, end: 0, size };
    const start = end < 2 ? 0 : tail.lastIndexOf(10, end - 2) + 1;
    return { line: tail.subarray(start, end - 1).toString('utf8'), end: from + end, size };
  } finally {
    await file.close();
  }
}
