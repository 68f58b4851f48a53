/**
 * The archive of an attempt, `files.zip` in its folder, which has the other files as members; and what the runner and the thread that writes it
 * say to each other.
 */
import { basename, dirname } from 'node:path';
import { LIMITS } from '../../../contract/limits.ts';

/** Its name while it is written. A runner that is killed leaves it; its successor removes it. */
export const UNFINISHED = '.simbatch-files.zip';
/** The most members of an archive. */
export const MOST_MEMBERS = LIMITS.outputFiles;

/**
 * The comment of the archive of an attempt, by which a reader knows it from an archive that a simulation wrote or copied from another run.
 * No secret: members are read from the archive alone, also of a forged one.
 * @param directory of the attempt: `<batch_id>/<run_id>/attempt-<n>` are its last three names.
 */
export function commentOf(directory: string): string {
  const run = dirname(directory);
  return `simbatch archive 1: ${basename(dirname(run))}/${basename(run)}/${basename(directory)}`;
}

/** The outcome of a job. Notes are sentences for the reader of the result. */
export type ArchiveOutcome =
  /** `kept`: the regular files that are still in the folder, by their paths. */
  | { type: 'archived'; kept: readonly string[]; notes: readonly string[] }
  /** All files are as they were. `why`: undefined where there is nothing to archive. */
  | { type: 'unchanged'; why?: string };

/** `writing`: nothing has changed but `UNFINISHED`. `renaming`: the archive gets its name. `deleting`: it is durable; its members are deleted. */
const PHASES = ['writing', 'renaming', 'deleting', 'cancelled'] as const;
export type Phase = (typeof PHASES)[number];
const PHASE = 0;
const PROGRESS = 1;

/** The state of a job, in memory that the runner shares with the thread: it is known also when the thread does not answer. */
export class JobState {
  readonly #words: Int32Array;

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.#words = new Int32Array(memory);
  }

  get memory(): SharedArrayBuffer {
    return this.#words.buffer as SharedArrayBuffer;
  }

  get phase(): Phase {
    return PHASES[Atomics.load(this.#words, PHASE)] ?? 'writing';
  }

  /** Enters the next phase, unless a phase other than `from` has begun meanwhile. Returns whether it did. */
  advance(from: Phase, to: Phase): boolean {
    const expected = PHASES.indexOf(from);
    return Atomics.compareExchange(this.#words, PHASE, expected, PHASES.indexOf(to)) === expected;
  }

  /** Cancels a job whose archive has no name yet: its files stay as they are. Returns false for a job in a later phase. */
  cancel(): boolean {
    return this.advance('writing', 'cancelled') || this.phase === 'cancelled';
  }

  /** Another number after each step. */
  get progress(): number {
    return Atomics.load(this.#words, PROGRESS);
  }

  /** Notes a step of the job. @throws Cancelled */
  step(): void {
    Atomics.add(this.#words, PROGRESS, 1);
    if (this.phase === 'cancelled') throw new Cancelled();
  }
}

/** The job was cancelled. */
export class Cancelled extends Error {}
