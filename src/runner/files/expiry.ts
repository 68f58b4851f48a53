/**
 * Deletes, once an hour, what runs have left in an output root: the folders of attempts that were finished long ago, by the time that their runner
 * recorded, and the state of runners that have nothing left. Never the folder of an attempt that runs, or has an outcome to report or files to send.
 */
import { readFileSync } from 'node:fs';
import { lstat, opendir, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sleep, settlesWithin, type Clock } from '../../base/clock.ts';
import { formatBytes } from '../../base/text/number-text.ts';
import type { AttemptRef } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf, isJobId, runIdOf } from '../../domain/ids.ts';
import { plural } from '../../domain/plural.ts';
import { leapWarning, SWEEP_MS, SweepTimes } from '../../domain/retention/sweep-times.ts';
import type { Log } from '../log.ts';
import { Spool } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import type { Waits } from '../waits.ts';
import { attemptDirectory } from './artifacts.ts';
import { runnersIn } from './push.ts';

export interface ExpiryOptions {
  outputRoot: string;
  /** Whole days, at least 1. */
  keepDays: number;
  spool: Spool;
  waits: Waits;
  clock: Clock;
  log: Log;
}

const DAY_MS = 86_400_000;
/** Attempts whose deletion is noted together. */
const AT_ONCE = 100;
/** One folder of an attempt, however many files it has. */
const DELETION_MS = 600_000;
/** Former runners whose state is opened in one sweep; the next one sees others, since those without anything left are gone. */
const MOST_RUNNERS = 500;
/** The end of the runner waits so long for the deletion of one folder. */
const END_MS = 5_000;
const REMOVED = '.removed-';

/** The deletions of a sweep. */
interface Swept {
  folders: number;
  bytes: number;
  runners: number;
  /** Folders that could not be deleted, and the first reason. */
  failed: number;
  why?: string;
}

export class Expiry {
  readonly #options: ExpiryOptions;
  readonly #waits: Waits;
  readonly #stop = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(options: ExpiryOptions) {
    this.#options = options;
    this.#waits = options.waits.child();
  }

  /** Sweeps until `end`. Never rejects. */
  run(): Promise<void> {
    this.#working = this.#run();
    return this.#working;
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await settlesWithin(this.#options.clock, END_MS, this.#working);
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    let times: SweepTimes | undefined;
    while (!this.#stop.signal.aborted) {
      try {
        times ??= await this.#times();
        if (times.begin(clock.now())) await this.#sweepNow();
      } catch (error) {
        this.#warn(oneLine(error));
      }
      await sleep(clock, SWEEP_MS, this.#stop.signal);
    }
  }

  async #times(): Promise<SweepTimes> {
    const { clock, log, outputRoot } = this.#options;
    const times = new SweepTimes(await this.#knownMs(), clock.now());
    if (times.leap !== undefined) log.warn(leapWarning(times.leap, outputRoot, 'runner'));
    return times;
  }

  async #sweepNow(): Promise<void> {
    const { clock, log, keepDays } = this.#options;
    // Not before a sweep: a restart within the wait for the clock must wait again.
    await this.#within('writing to', writeFile(this.#instantFile, `${String(clock.now())}\n`));
    const swept = await this.#sweep();
    const others = swept.runners === 0 ? '' : `, and the state of ${plural(swept.runners, 'former runner')}`;
    if (swept.folders + swept.runners > 0) {
      log.info(
        `deleted the folders of ${plural(swept.folders, 'run')} (${formatBytes(swept.bytes)}) that ended more than ${plural(keepDays, 'day')} ago${others}`,
      );
    }
    if (swept.failed > 0) this.#warn(`${plural(swept.failed, 'folder')}: ${swept.why ?? ''}`);
  }

  #warn(why: string): void {
    if (!this.#stop.signal.aborted)
      this.#options.log.warn(`folders of old runs cannot be deleted now: ${why}; tries again in an hour`);
  }

  get #instantFile(): string {
    return join(this.#options.outputRoot, '.simbatch-runner', 'instant');
  }

  /** The last instant that this output root knows: of a sweep, else of an end or of a start of another runner; Infinity for a new one. */
  async #knownMs(): Promise<number> {
    try {
      const noted = Number(readFileSync(this.#instantFile, 'utf8'));
      if (Number.isFinite(noted) && noted > 0) return noted;
    } catch {
      // None yet, or it cannot be read: the ends of the runs are known.
    }
    const { spool, outputRoot } = this.#options;
    const starts = runnersIn(outputRoot)
      .map((id) => Spool.directoryOf(outputRoot, id))
      .filter((it) => it !== spool.directory)
      .map(async (it) => (await stat(join(it, 'process.json')).catch(() => undefined))?.mtimeMs);
    const known = [await spool.ends.latestMs(), ...(await Promise.all(starts))].filter((it) => it !== undefined);
    return known.length === 0 ? Infinity : Math.max(...known);
  }

  async #sweep(): Promise<Swept> {
    const { spool, clock, keepDays, outputRoot } = this.#options;
    const swept: Swept = { folders: 0, bytes: 0, runners: 0, failed: 0 };
    const beforeMs = clock.now() - keepDays * DAY_MS;
    await this.#sweepSpool(spool, beforeMs, swept);
    let opened = 0;
    for (const id of runnersIn(outputRoot)) {
      if (this.#stop.signal.aborted || opened === MOST_RUNNERS) break;
      const directory = Spool.directoryOf(outputRoot, id);
      if (directory === spool.directory || !(await isOlder(join(directory, 'process.json'), beforeMs))) continue;
      opened += 1;
      await this.#sweepFormer(id, directory, beforeMs, swept);
    }
    return swept;
  }

  /** The folders of another runner, and its state if nothing is left of it. A runner that runs is left to itself. */
  async #sweepFormer(id: string, directory: string, beforeMs: number, swept: Swept): Promise<void> {
    let former: Spool;
    try {
      former = await Spool.openLeft(this.#options.outputRoot, id, this.#waits);
    } catch (error) {
      if (error instanceof SimbatchError) return;
      throw error;
    }
    try {
      await this.#sweepSpool(former, beforeMs, swept);
      const isEmpty = (await former.leftovers()).length === 0 && (await former.ends.latestMs()) === undefined;
      if (!isEmpty || this.#stop.signal.aborted) return;
      // Renamed while its lock is held: a runner that is started under this id meanwhile makes a state of its own.
      const removed = join(dirname(directory), `${REMOVED}${id.replace(REMOVED, '')}`);
      if (removed !== directory) await this.#within('renaming', rename(directory, removed));
      await this.#within('deleting', rm(removed, { recursive: true, force: true }));
      swept.runners += 1;
    } finally {
      await former.close().catch(() => {});
    }
  }

  async #sweepSpool(spool: Spool, beforeMs: number, swept: Swept): Promise<void> {
    const { clock, keepDays } = this.#options;
    let last: string | undefined;
    while (!this.#stop.signal.aborted) {
      const found = await spool.ends.before(beforeMs, AT_ONCE, last);
      if (found.length === 0) return;
      last = found.at(-1)?.key;
      const open = new Set((await spool.leftovers()).map(nameOf));
      const old = found.filter(({ ref }) => isJobId(ref.job_id) && !open.has(nameOf(ref)));
      await spool.ends.noteDeletion(
        old.map((it) => it.ref),
        { atMs: clock.now(), keepDays },
      );
      const gone = [];
      for (const it of old) {
        if (this.#stop.signal.aborted) break;
        if (await this.#remove(it.ref, swept)) gone.push(it);
      }
      await spool.ends.forget(gone);
    }
  }

  /** Returns whether nothing is left of the attempt. */
  async #remove(ref: AttemptRef, swept: Swept): Promise<boolean> {
    const { outputRoot } = this.#options;
    const directory = attemptDirectory(outputRoot, batchIdOf(ref.job_id), runIdOf(ref.job_id), ref.attempt);
    try {
      const bytes = await this.#within('deleting files in', removeAttempt(directory));
      if (bytes === undefined) return true;
      swept.folders += 1;
      swept.bytes += bytes;
      return true;
    } catch (error) {
      swept.failed += 1;
      swept.why ??= oneLine(error);
      return false;
    }
  }

  #within<T>(what: string, operation: Promise<T>): Promise<T> {
    return this.#waits.within(DELETION_MS, `${what} ${this.#options.outputRoot}`, operation);
  }
}

/**
 * Deletes the directory of an attempt and the files beside it; the folders of its run and its study when they are empty then.
 * @returns their bytes; undefined: there was nothing.
 * @throws the system's error
 */
async function removeAttempt(directory: string): Promise<number | undefined> {
  const folder = dirname(directory);
  const own = basename(directory);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const paths = names.filter((it) => it === own || it.startsWith(`${own}.`)).map((it) => join(folder, it));
  let bytes = 0;
  for (const path of paths) {
    bytes += await bytesIn(path);
    await rm(path, { recursive: true, force: true });
  }
  for (const it of [folder, dirname(folder)]) await rmdir(it).catch(() => {});
  return paths.length === 0 ? undefined : bytes;
}

/** The bytes of a file, or of all files below a folder. Links are not followed. */
async function bytesIn(path: string): Promise<number> {
  const pending = [path];
  let bytes = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const found = await lstat(next).catch(() => undefined);
    if (found?.isDirectory() !== true) bytes += found?.size ?? 0;
    else for await (const entry of await opendir(next)) pending.push(join(next, entry.name));
  }
  return bytes;
}

const isOlder = (path: string, beforeMs: number): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs < beforeMs,
    () => false,
  );

const nameOf = ({ job_id, attempt }: AttemptRef): string => `${job_id}/${String(attempt)}`;
