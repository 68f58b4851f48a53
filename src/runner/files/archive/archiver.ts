/**
 * Has the files of ended attempts made into archives, by a thread of its own: reading and checking gigabytes takes processor time, and a file system that
 * does not answer holds nothing else of the runner.
 */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../base/clock.ts';
import { DeadlineError, type Waits } from '../../waits.ts';
import { ARCHIVE } from '../../../domain/files/file-path.ts';
import { JobState, type ArchiveOutcome } from './archive-job.ts';
import type { ArchiveAnswer, ArchiveJob } from './archive-worker.ts';

// The sources run without a build during development.
const WORKER_FILE = fileURLToPath(
  new URL(`./archive-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

/** A disk that takes nothing for so long does not answer. */
const SILENT_MS = 60_000;
/** The longest time of one archive. */
const LONGEST_MS = 3_600_000;
/** The same for a runner that leaves. */
const LEAVING_MS = 10_000;

const NEVER = new AbortController().signal;

interface Pending {
  worker: Worker;
  state: JobState;
  keep: readonly string[];
  settle: (outcome: ArchiveOutcome) => void;
  fail: (error: Error) => void;
}

export interface ArchiverOptions {
  clock: Clock;
  /** The script of the thread. */
  workerFile?: string;
}

export interface ArchiveLimits {
  /** Aborted when the runner leaves. */
  leaving?: AbortSignal | undefined;
  /** The longest time, in ms; at most an hour. */
  limitMs?: number;
}

export class Archiver {
  readonly #options: ArchiverOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #jobs = 0;

  constructor(options: ArchiverOptions) {
    this.#options = options;
  }

  /**
   * Makes one archive of the files in the directory of an attempt. Files stay as they are where that fails, which `why` says.
   * @param keep files that stay outside, by their paths in it
   * @throws DeadlineError when the disk does not answer while the archive gets its name: which files there are is not known
   */
  async archive(
    waits: Waits,
    directory: string,
    keep: readonly string[],
    { leaving = NEVER, limitMs = Infinity }: ArchiveLimits = {},
  ): Promise<ArchiveOutcome> {
    const state = new JobState();
    const ends: (() => void)[] = [];
    let onLeaving = (): void => {};
    const cancelled = new Promise<ArchiveOutcome>((resolve) => {
      const cancelAfter = (ms: number, why: string): void => {
        ends.push(this.#options.clock.after(ms, () => state.cancel() && resolve({ type: 'unchanged', why })));
      };
      if (limitMs < LONGEST_MS) cancelAfter(limitMs, 'the time limit of the run was near');
      else cancelAfter(LONGEST_MS, `it took longer than ${String(LONGEST_MS / 60_000)} min`);
      onLeaving = () => cancelAfter(LEAVING_MS, 'the runner leaves');
    });
    if (leaving.aborted) onLeaving();
    else leaving.addEventListener('abort', onLeaving);
    try {
      return await Promise.race([this.#answered(waits, { state, directory, keep }), cancelled]);
    } finally {
      leaving.removeEventListener('abort', onLeaving);
      for (const end of ends) end();
    }
  }

  /** Waits for the answer while the job has progress. */
  async #answered(waits: Waits, job: Job): Promise<ArchiveOutcome> {
    const { state, directory, keep } = job;
    const worker = this.#thread();
    const answer = this.#ask(worker, job);
    for (;;) {
      const { progress } = state;
      try {
        return await waits.within(SILENT_MS, `archiving the files of ${directory}`, answer);
      } catch (error) {
        if (!(error instanceof DeadlineError)) throw error;
        if (state.progress !== progress) continue;
        // A thread that hangs in one folder does nothing for the others.
        this.#forget(worker);
        void worker.terminate();
        const outcome = concluded(state, keep, 'the disk does not answer');
        if (outcome === undefined) throw error;
        return outcome;
      }
    }
  }

  #ask(worker: Worker, { state, directory, keep }: Job): Promise<ArchiveOutcome> {
    const id = this.#jobs++;
    return new Promise((settle, fail) => {
      this.#pending.set(id, { worker, state, keep, settle, fail });
      worker.postMessage({ id, directory, keep, state: state.memory } satisfies ArchiveJob);
    });
  }

  #thread(): Worker {
    return (this.#worker ??= this.#start());
  }

  #start(): Worker {
    const worker = new Worker(this.#options.workerFile ?? WORKER_FILE, { name: 'archive' });
    worker.on('message', ({ id, outcome }: ArchiveAnswer) => {
      this.#pending.get(id)?.settle(outcome);
      this.#pending.delete(id);
    });
    let why = 'its thread ended';
    worker.once('error', (error) => (why = `its thread ended: ${error.message}`));
    worker.once('exit', () => {
      this.#forget(worker);
      for (const [id, it] of this.#pending) {
        if (it.worker !== worker) continue;
        this.#pending.delete(id);
        const outcome = concluded(it.state, it.keep, why);
        if (outcome === undefined) it.fail(new Error(`the archive of its files may have its name or not: ${why}`));
        else it.settle(outcome);
      }
    });
    // A thread without a job does not keep the process alive. After the listeners: to listen takes it back.
    worker.unref();
    return worker;
  }

  #forget(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
  }
}

type Job = Pick<Pending, 'state' | 'keep'> & { directory: string };

/** The outcome of a job whose thread does not answer; undefined where it is not known. */
function concluded(state: JobState, keep: readonly string[], why: string): ArchiveOutcome | undefined {
  if (state.cancel()) return { type: 'unchanged', why };
  if (state.phase !== 'deleting') return undefined;
  return { type: 'archived', kept: keep, notes: [`files of ${ARCHIVE} may still be beside it: ${why}`] };
}
