/**
 * The runner's durable state: attempts it executes (so that a successor finds their processes) and outcomes that the
 * coordinator has not acknowledged. A small LevelDB per runner id; its lock excludes a second process with this id,
 * and holding it proves that any former process is dead.
 */
import { join } from 'node:path';
import { Level } from 'level';
import { Coalescer } from '../base/async/coalescer.ts';
import { makeDirectory } from '../base/directories.ts';
import { SimbatchError } from '../domain/errors.ts';
import {
  readProcess,
  writeProcess,
  writeProcessNow,
  type SpoolOrigin,
  type SpoolOwner,
} from './config/process-file.ts';
import { ATTEMPTS, EndedAttempts, endedOperation, type Operation } from './ends/ended-attempts.ts';
import { oneLine } from './system-error.ts';
import type { Waits } from './waits.ts';
import type { AttemptRef, OutcomeReport, ReleaseReport } from '../contract/types.ts';

/** An outcome as it is reported. */
export type Outcome = OutcomeReport | ReleaseReport;

/** One attempt that the coordinator has assigned to this runner. */
export interface SpooledAttempt extends AttemptRef {
  /** The attempt's output directory: its processes carry it in their environment. */
  directory: string;
  /** The leader of its process group, once there is one. */
  pid?: number;
  /** Start time of the process `pid` as `processStart` returns it; distinguishes a recycled pid. */
  pidStart?: string;
  /** Files to send to the object store once the outcome is acknowledged, by their paths in the directory. */
  upload?: {
    files: readonly string[];
    /** Their versions at the end of the run, by path; absent: of an older runner. */
    versions?: Readonly<Record<string, string>>;
  };
  /** Set once the attempt is over and not yet acknowledged. */
  outcome?: Outcome;
  /** A function that has asked for no directory. */
  hasNoFolder?: true;
}

interface PendingWrite {
  /** Undefined: only the records of settled attempts are deleted. */
  record: SpooledAttempt | undefined;
  /** The record as JSON. */
  text: string;
  /** The write must reach the disk, not only the operating system. */
  sync: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Longest time of an operation, whatever the disk does. */
const DEADLINE_MS = 15_000;
/** A record of a settled attempt is deleted with the next write, at the latest after this time. */
const DELETED_MS = 200;

export class Spool {
  readonly directory: string;
  /** Instances of former processes that did not sign off, the latest first. All of them are dead. */
  readonly replaces: readonly string[];
  /** Attempts whose folders may be deleted when they are old. */
  readonly ends: EndedAttempts;
  readonly #level: Level<string, string>;
  readonly #own: SpoolOwner;
  readonly #waits: Waits;
  readonly #writes = new Coalescer<PendingWrite>((group) => this.#writeTogether(group));
  /** Records to delete from the disk, by their keys, each with what takes its place: the next write includes them. */
  readonly #settled = new Map<string, Operation | undefined>();
  /** The same of records that are being deleted. */
  readonly #deleting = new Map<string, Operation | undefined>();
  #cancelDeletion: (() => void) | undefined;

  private constructor(
    directory: string,
    level: Level<string, string>,
    own: SpoolOwner,
    replaces: readonly string[],
    waits: Waits,
  ) {
    this.#waits = waits;
    this.directory = directory;
    this.replaces = replaces;
    this.#level = level;
    this.#own = own;
    this.ends = new EndedAttempts(level, (what, operation) =>
      waits.within(DEADLINE_MS, `${what} ${directory}`, operation),
    );
  }

  /** Where the state of a runner is kept. */
  static directoryOf(outputRoot: string, runnerId: string): string {
    return join(outputRoot, '.simbatch-runner', runnerId);
  }

  /**
   * Opens `<output_root>/.simbatch-runner/<runner_id>/`.
   * @throws SimbatchError `store-locked` when a process with this id lives on this machine, `store-unusable` when the
   * directory cannot be written.
   */
  static async open(outputRoot: string, runnerId: string, own: SpoolOwner, waits: Waits): Promise<Spool> {
    const directory = Spool.directoryOf(outputRoot, runnerId);
    const level = new Level<string, string>(join(directory, 'spool'));
    try {
      makeDirectory(directory);
      await level.open();
    } catch (error) {
      throw unusable(error, directory, runnerId);
    }
    const spool = new Spool(directory, level, own, readProcess(directory).instances, waits);
    // The coordinator may know this process or the one before, until it has answered.
    writeProcessNow(directory, own, [own.instance, ...spool.replaces]);
    return spool;
  }

  /**
   * Opens what a runner has left, without a trace of this process for its successor.
   * @throws SimbatchError as `open` does
   */
  static async openLeft(outputRoot: string, runnerId: string, waits: Waits): Promise<Spool> {
    const directory = Spool.directoryOf(outputRoot, runnerId);
    const level = new Level<string, string>(join(directory, 'spool'), {
      createIfMissing: false,
    });
    try {
      await level.open();
    } catch (error) {
      throw unusable(error, directory, runnerId);
    }
    const { origin } = readProcess(directory);
    return new Spool(directory, level, { pid: 0, instance: '', ...origin }, [], waits);
  }

  /** As it was when the runner was started for the last time. */
  get origin(): SpoolOrigin {
    const { endpoint, tokenFile } = this.#own;
    return { ...(endpoint === undefined ? {} : { endpoint }), ...(tokenFile === undefined ? {} : { tokenFile }) };
  }

  /** Every attempt left here by a former process, in no particular order. */
  async leftovers(): Promise<SpooledAttempt[]> {
    const read = async (): Promise<SpooledAttempt[]> => {
      // A write that failed may have left it closed.
      if (this.#level.status !== 'open') await this.#reopen();
      const all: SpooledAttempt[] = [];
      for await (const text of this.#level.values(ATTEMPTS)) {
        const record = JSON.parse(text) as SpooledAttempt;
        const it = key(record);
        if (!this.#settled.has(it) && !this.#deleting.has(it)) all.push(record);
      }
      return all;
    };
    return await this.#waits.within(DEADLINE_MS, `reading ${this.directory}`, read());
  }

  /** Attempts whose outcome the coordinator may not have. */
  async undelivered(): Promise<SpooledAttempt[]> {
    return (await this.leftovers()).filter((it) => it.upload === undefined || it.outcome !== undefined);
  }

  /**
   * The attempt is about to have processes, or has them. Survives the death of this process, which is all that is asked:
   * the machine's own death takes the processes along.
   */
  async running(attempt: SpooledAttempt): Promise<void> {
    await this.#write(attempt);
  }

  /** Records an attempt before its process exists, so that a successor knows of every process. Resolves to why it failed, if so. */
  async recorded(attempt: SpooledAttempt): Promise<string | undefined> {
    try {
      await this.running(attempt);
      return undefined;
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      return `the runner cannot write to ${this.directory}: ${oneLine(cause)}`;
    }
  }

  /**
   * Records an outcome. It is on disk when the promise resolves: from then on it reaches the coordinator whatever happens to this process.
   * @returns the length of the record, which is a little more than that of the report.
   */
  async ended(attempt: SpooledAttempt, outcome: Outcome): Promise<number> {
    return await this.#write({ ...attempt, outcome }, true);
  }

  /**
   * The attempt is not executed. The record is deleted with the next write, or soon. Never fails: what the disk does not take is deleted later.
   */
  settled(attempt: AttemptRef): void {
    this.#settle(attempt, undefined);
  }

  /**
   * The coordinator has the outcome or refuses it, and no file of the attempt is to be sent: its folder may be deleted one day. Deletes the
   * record as `settled`: a crash before costs one report that is refused or repeated.
   */
  finished(attempt: SpooledAttempt): void {
    const hasFolder = attempt.directory !== '' && attempt.hasNoFolder !== true;
    this.#settle(attempt, hasFolder ? endedOperation(attempt, this.#waits.clock.now()) : undefined);
  }

  #settle(attempt: AttemptRef, instead: Operation | undefined): void {
    this.#settled.set(key(attempt), instead);
    this.#cancelDeletion ??= this.#waits.clock.after(DELETED_MS, () => {
      void this.#write(undefined).catch(() => {});
    });
  }

  /** The coordinator knows this process: the former ones are forgotten. */
  async registered(): Promise<void> {
    await this.#writeInstances([this.#own.instance]);
  }

  /** The coordinator knows that this process is gone: the next one replaces none. */
  async signedOff(): Promise<void> {
    await this.#writeInstances([]);
  }

  async close(): Promise<void> {
    if (this.#settled.size > 0) await this.#write(undefined).catch(() => {});
    this.#cancelDeletion?.();
    await this.#waits.within(DEADLINE_MS, `closing ${this.directory}`, this.#level.close());
  }

  /** Writes that arrive while one group is being written share the next and its one sync. */
  #write(record: SpooledAttempt | undefined, sync = false): Promise<number> {
    // A record that is written again is not to be deleted.
    if (record !== undefined) this.#settled.delete(key(record));
    const text = record === undefined ? '' : JSON.stringify(record);
    const written = new Promise<number>((resolve, reject) => {
      this.#writes.add({ record, text, sync, resolve: () => resolve(text.length), reject });
    });
    return this.#waits.within(DEADLINE_MS, `writing to ${this.directory}`, written);
  }

  async #writeTogether(group: readonly PendingWrite[]): Promise<void> {
    this.#cancelDeletion?.();
    this.#cancelDeletion = undefined;
    const operations: Operation[] = [];
    for (const { record, text } of group) {
      // An attempt that is settled meanwhile needs no record.
      if (record !== undefined && !this.#settled.has(key(record)))
        operations.push({ type: 'put', key: key(record), value: text });
    }
    for (const [gone, instead] of this.#settled) {
      operations.push({ type: 'del', key: gone }, ...(instead === undefined ? [] : [instead]));
      this.#deleting.set(gone, instead);
    }
    this.#settled.clear();
    try {
      await this.#writeGroup(
        operations,
        group.some((it) => it.sync),
      );
      for (const it of group) it.resolve();
    } catch (error) {
      for (const [gone, instead] of this.#deleting) this.#settled.set(gone, instead);
      for (const it of group) it.reject(error);
    } finally {
      this.#deleting.clear();
    }
  }

  /** A LevelDB that could not write (a full disk) takes nothing more until it has been opened anew. */
  async #writeGroup(operations: Operation[], sync: boolean): Promise<void> {
    try {
      await this.#apply(operations, sync);
    } catch {
      await this.#reopen();
      await this.#apply(operations, sync);
    }
  }

  /** A chained batch: one of an array copies each operation twice. */
  async #apply(operations: readonly Operation[], sync: boolean): Promise<void> {
    const batch = this.#level.batch();
    for (const it of operations) {
      if (it.type === 'put') batch.put(it.key, it.value);
      else batch.del(it.key);
    }
    await batch.write({ sync });
  }

  async #reopen(): Promise<void> {
    await this.#level.close();
    await this.#level.open();
  }

  async #writeInstances(instances: readonly string[]): Promise<void> {
    const written = writeProcess(this.directory, this.#own, instances);
    await this.#waits.within(DEADLINE_MS, `writing to ${this.directory}`, written);
  }
}

function key(attempt: AttemptRef): string {
  return `${attempt.job_id}/${String(attempt.attempt)}`;
}

function unusable(error: unknown, directory: string, runnerId: string): SimbatchError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && (cause as NodeJS.ErrnoException).code === 'LEVEL_LOCKED') {
    const message = `a runner with the id ${runnerId} is already running here (${directory}); give this one another --runner-id`;
    return new SimbatchError('store-locked', message, { cause: error });
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the runner cannot keep its state in ${directory}: ${why}; choose another --output-root`;
  return new SimbatchError('store-unusable', message, { cause: error });
}
