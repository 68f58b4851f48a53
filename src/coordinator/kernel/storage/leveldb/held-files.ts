/**
 * Keeps the newest files of an open store open, so that LevelDB deletes them in no time.
 *
 * LevelDB 1.20 deletes files with its lock held, and every read and write waits meanwhile, reads of the main thread too. A file that is
 * open elsewhere only loses its name; its blocks are freed when it is closed, which happens here, on a thread of Node's pool. After a
 * crash the system frees the blocks of files without a name.
 */
import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../../../base/clock.ts';

/** Logs, and tables of the last compactions: LevelDB deletes new files far more often than old ones. */
const MOST_FILES = 256;
const INTERVAL_MS = 100;
/** Added to the interval for each file in the directory: a look at 5,000 names takes the main thread about a millisecond. */
const MS_PER_FILE = 0.2;
/** Looks without a change after which a compaction is over; the next write begins again. */
const CALM_LOOKS = 50;
/** Does not wait for the writer of a named pipe. */
const READING = constants.O_RDONLY | constants.O_NONBLOCK;

const isHeld = (name: string): boolean => /^\d+\.(log|ldb)$/.test(name);

export class HeldFiles {
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #files = new Map<string, FileHandle>();
  #calmLooks = 0;
  /** Defined while looks follow each other. */
  #cancel: (() => void) | undefined;
  #looking = Promise.resolve();
  #isClosed = false;

  constructor(directory: string, clock: Pick<Clock, 'after'> = systemClock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** The names of the files that are kept open. */
  get names(): string[] {
    return [...this.#files.keys()];
  }

  /** Resolves when no look is in progress. */
  get looked(): Promise<void> {
    return this.#looking;
  }

  /** Notes that LevelDB may create and delete files from now on. Does not wait. */
  expectChanges(): void {
    this.#calmLooks = 0;
    if (this.#cancel === undefined && !this.#isClosed) this.#lookAfter(INTERVAL_MS);
  }

  #lookAfter(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#looking = this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#calmLooks += 1;
    const files = await this.#update();
    this.#cancel = undefined;
    if (!this.#isClosed && this.#calmLooks < CALM_LOOKS) this.#lookAfter(INTERVAL_MS + files * MS_PER_FILE);
  }

  /** Opens new files and closes deleted ones. Returns the number of files in the directory; never rejects. */
  async #update(): Promise<number> {
    const names = await readdir(this.#directory).catch((): string[] => []);
    const newest = names
      .filter(isHeld)
      .toSorted((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))
      .slice(0, MOST_FILES);
    for (const name of newest) await this.#open(name);
    const kept = new Set(newest);
    for (const name of this.names) if (!kept.has(name)) await this.#close(name);
    return names.length;
  }

  async #open(name: string): Promise<void> {
    if (this.#files.has(name) || this.#isClosed) return;
    try {
      this.#files.set(name, await open(join(this.#directory, name), READING));
      this.#calmLooks = 0;
    } catch {
      // It is deleted by now, or the process has no file descriptor left: its deletion takes its time.
    }
  }

  /** The blocks of a deleted file are freed here, one file at a time. */
  async #close(name: string): Promise<void> {
    const file = this.#files.get(name);
    this.#files.delete(name);
    this.#calmLooks = 0;
    await file?.close().catch(() => {});
  }

  /** Closes all files. None is open when it resolves. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#looking;
    for (const name of this.names) await this.#close(name);
  }
}
