/**
 * The attempts that a runner has finished, in its spool: when each was, so that its folder can be deleted one day, and which folders were deleted, so
 * that a reader who asks for a file learns it. An attempt enters in the write that deletes its other record.
 */
import type { Level } from 'level';
import type { AttemptRef } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';

export type Operation = { type: 'put'; key: string; value: string } | { type: 'del'; key: string };

/** The keys of attempts that are not finished; those of this file begin with `!`. */
export const ATTEMPTS = { gt: '"' } as const;

const ENDED = '!ended!';
const DELETED = '!deleted!';
const DIGITS = 16;

/** Ordered by time. A time before 1970 counts as 1970. */
const timePart = (ms: number): string =>
  String(Math.floor(Math.min(Math.max(0, ms), Number.MAX_SAFE_INTEGER))).padStart(DIGITS, '0');

/** A runner of an older version takes the value for an attempt that has left nothing. */
const valueOf = ({ job_id, attempt }: AttemptRef): Record<string, unknown> => ({ job_id, attempt, directory: '' });

const deletedKey = ({ job_id, attempt }: AttemptRef): string => `${DELETED}${job_id}/${String(attempt)}`;

/** Records that the attempt was finished at this time. */
export function endedOperation(attempt: AttemptRef, atMs: number): Operation {
  const key = `${ENDED}${timePart(atMs)}!${attempt.job_id}/${String(attempt.attempt)}`;
  return { type: 'put', key, value: JSON.stringify(valueOf(attempt)) };
}

/** An attempt that was finished. */
export interface EndedAttempt {
  key: string;
  ref: AttemptRef;
  atMs: number;
}

/** A deletion of the folder of an attempt, in ms since the epoch, and the days that it was kept for. */
export interface Deletion {
  atMs: number;
  keepDays: number;
}

export class EndedAttempts {
  readonly #level: Level<string, string>;
  readonly #within: <T>(what: string, operation: Promise<T>) => Promise<T>;

  /** `within` gives an operation its deadline. */
  constructor(level: Level<string, string>, within: <T>(what: string, operation: Promise<T>) => Promise<T>) {
    this.#level = level;
    this.#within = within;
  }

  /** Attempts that were finished before, the earliest first; with keys above `after`. */
  async before(ms: number, limit: number, after = ENDED): Promise<EndedAttempt[]> {
    const range = { gt: after, lt: `${ENDED}${timePart(ms)}`, limit };
    const read = async (): Promise<EndedAttempt[]> => (await this.#level.iterator(range).all()).map(endedOf);
    return await this.#within('reading', read());
  }

  /** When the last attempt was finished; undefined: none. */
  async latestMs(): Promise<number | undefined> {
    const range = { gt: ENDED, lt: `${ENDED}~`, limit: 1, reverse: true };
    const [last] = await this.#within('reading', this.#level.iterator(range).all());
    return last === undefined ? undefined : endedOf(last).atMs;
  }

  /** Before a folder is deleted, so that a reader who finds it incomplete learns why. */
  async noteDeletion(refs: readonly AttemptRef[], deletion: Deletion): Promise<void> {
    const operations = refs.map((ref): Operation => ({
      type: 'put',
      key: deletedKey(ref),
      value: JSON.stringify({ ...valueOf(ref), ...deletion }),
    }));
    await this.#within('writing to', this.#level.batch(operations, { sync: true }));
  }

  /** After their folders were deleted. */
  async forget(attempts: readonly EndedAttempt[]): Promise<void> {
    const operations = attempts.map(({ key }): Operation => ({ type: 'del', key }));
    await this.#within('writing to', this.#level.batch(operations));
  }

  /** The deletion of the folder of an attempt; undefined: it was not deleted by a runner. */
  async deletionOf(ref: AttemptRef): Promise<Deletion | undefined> {
    const text = await this.#within('reading', this.#level.get(deletedKey(ref)));
    return text === undefined ? undefined : (JSON.parse(text) as Deletion);
  }
}

function endedOf([key, text]: readonly [string, string]): EndedAttempt {
  const { job_id, attempt } = JSON.parse(text) as AttemptRef;
  return { key, ref: { job_id, attempt }, atMs: Number(key.slice(ENDED.length, ENDED.length + DIGITS)) };
}

/** Where a reader asks for a file that was deleted. */
export const deletionText = ({ atMs, keepDays }: Deletion): string =>
  `the runner deleted the folder of this attempt at ${new Date(atMs).toISOString()}, since it ended more than ${plural(keepDays, 'day')} before (--keep-days)`;
