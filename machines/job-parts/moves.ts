/**
 * The transitions that jobs have taken, counted from their records, and the times that they were in each state. Memory does not grow
 * with the number of jobs. Pure.
 */
import type { JobStatus } from '../../src/contract/types.ts';
import { pastOf, type PastJob } from './past.ts';
import type { JobEvent } from '../protocol.ts';

/** One transition of a job. */
export interface JobMove {
  event: JobEvent['type'];
  from: JobStatus;
  to: JobStatus;
  /** Time of the move, in ms since the epoch. */
  now: number;
}

/** Stays in a state of which the beginning and the end are recorded; times in ms. */
export interface Stays {
  stays: number;
  totalMs: number;
  longestMs: number;
}

/** The transitions of a job that its record has, oldest first. */
export function movesOf(job: PastJob): JobMove[] {
  const moves: JobMove[] = [];
  let from: JobStatus = 'Pending';
  const events = pastOf(job).events.filter((it) => it.type !== 'restart');
  for (const [at, event] of events.entries()) {
    const to = at === events.length - 1 ? job.value : stateAfter(event);
    moves.push({ event: event.type, from, to, now: event.now });
    from = to;
  }
  return moves;
}

/** The state after an event that others follow: an attempt begins, or it has ended and the job waits for the next one. */
function stateAfter({ type }: JobEvent): JobStatus {
  if (type === 'CLAIM') return 'Claimed';
  return type === 'START' ? 'Running' : 'Pending';
}

/** A lost runner and a run that is handed back cost time, too, but by no failure of the run. */
const REPEATING: ReadonlySet<string> = new Set<JobMove['event']>(['FAIL', 'TIME_LIMIT']);

export class MoveTally {
  /** Numbers of moves by `from|event|to`. */
  readonly counts = new Map<string, number>();
  readonly stays = new Map<JobStatus, Stays>();
  /** Attempts that failed and were repeated, and the time for which they were running, in ms. */
  readonly repeated = { attempts: 0, totalMs: 0 };
  /** Attempts that the records no longer have. */
  omittedAttempts = 0;
  /** The first and the last transition, in ms since the epoch. */
  firstMs: number | undefined;
  lastMs: number | undefined;

  /** `createdAtMs`: when the job became Pending for the first time. */
  add(job: PastJob, createdAtMs: number): void {
    const { attemptsOmitted } = job.context;
    this.omittedAttempts += attemptsOmitted;
    let since = attemptsOmitted === 0 ? createdAtMs : undefined;
    for (const { event, from, to, now } of movesOf(job)) {
      this.#count(`${from}|${event}|${to}`);
      if (since !== undefined) this.#stay(from, now - since);
      if (from === 'Running' && to === 'Pending' && REPEATING.has(event)) {
        this.repeated.attempts += 1;
        this.repeated.totalMs += Math.max(0, now - (since ?? now));
      }
      since = now;
      this.firstMs = Math.min(this.firstMs ?? now, now);
      this.lastMs = Math.max(this.lastMs ?? now, now);
    }
  }

  /** Jobs without a record, which were cancelled with their batch: the time of the cancellation is not recorded. */
  addUntouched(jobs = 1): void {
    if (jobs > 0) this.#count('Pending|CANCEL|Cancelled', jobs);
  }

  #count(transition: string, times = 1): void {
    this.counts.set(transition, (this.counts.get(transition) ?? 0) + times);
  }

  #stay(state: JobStatus, ms: number): void {
    // A clock that was set back makes no negative stay.
    const time = Math.max(0, ms);
    const known = this.stays.get(state);
    if (known === undefined) this.stays.set(state, { stays: 1, totalMs: time, longestMs: time });
    else {
      known.stays += 1;
      known.totalMs += time;
      known.longestMs = Math.max(known.longestMs, time);
    }
  }
}
