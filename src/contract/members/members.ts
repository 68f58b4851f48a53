/** The stored members of a job and of its attempts, one line each; every shape of a job follows from these two tables. */
import type { AttemptOutcome } from '../enums.ts';

/**
 * `count`: an integer from 0. `time`: ms since the epoch when stored, ISO 8601 in the API. `text`: any string.
 * `runner-id`: the id of a runner. `outcome`: how an attempt ended. `attempts`: the attempts of a job, oldest first.
 */
export type MemberType = 'count' | 'time' | 'text' | 'runner-id' | 'outcome' | 'attempts';

export interface Member {
  readonly type: MemberType;
  /** A required `count` starts at 0 and `attempts` starts empty; any other member of a job must be optional. */
  readonly optional?: true;
  /** The name in the API; absent: the API does not show the member. */
  readonly api?: string;
  /** The name in a row of the live feed; absent: rows do not carry the member. */
  readonly live?: string;
  /** The description in the API; required with `api`. */
  readonly description?: string;
}

export type Members = Readonly<Record<string, Member>>;

/** One claim of a job, and its outcome. */
export const ATTEMPT_MEMBERS = {
  n: { type: 'count', api: 'attempt', description: 'Number of the attempt, from 1.' },
  runner: { type: 'text', api: 'runner_id', description: 'The runner that claimed the job.' },
  claimed: { type: 'time', api: 'claimed_at', description: 'When the runner claimed the job.' },
  started: { type: 'time', optional: true, api: 'started_at', description: 'When the simulation started.' },
  code: {
    type: 'text',
    optional: true,
    api: 'code',
    description: 'The code that was started: the first 12 digits of its digest; absent: not known.',
  },
  ended: { type: 'time', optional: true, api: 'ended_at', description: 'When the attempt ended.' },
  outcome: { type: 'outcome', optional: true, api: 'outcome', description: 'How it ended; absent while it is open.' },
  reason: {
    type: 'text',
    optional: true,
    api: 'reason',
    description: 'The reason the runner or the coordinator gave.',
  },
  message: { type: 'text', optional: true, api: 'message', description: 'More about it.' },
  ownError: {
    type: 'text',
    optional: true,
    api: 'own_error',
    description:
      'The error that the simulation itself ended with, without numbers, paths, addresses and times; with the same one again, the job is not retried.',
  },
} as const satisfies Members;

/** The history of a job: everything stored of it except its status. What its batch fixes for all jobs is not stored. */
export const JOB_MEMBERS = {
  attempt: { type: 'count' },
  retries: { type: 'count', api: 'retries', live: 'retries', description: 'Number of retries so far.' },
  losses: { type: 'count' },
  /** Attempts that failed with the reason `infrastructure`; absent: none. */
  infrastructureFaults: { type: 'count', optional: true },
  runnerId: {
    type: 'runner-id',
    optional: true,
    api: 'assigned_runner',
    live: 'runner',
    description: 'The runner that holds it or held it last.',
  },
  claimedAtMs: { type: 'time', optional: true, api: 'claimed_at', description: 'When it was claimed.' },
  startedAtMs: {
    type: 'time',
    optional: true,
    api: 'started_at',
    live: 'started',
    description: 'When it started to run.',
  },
  completedAtMs: { type: 'time', optional: true, api: 'completed_at', live: 'ended', description: 'When it ended.' },
  /** The end of the claim time (Claimed) or of the time limit (Running). */
  dueAtMs: { type: 'time', optional: true },
  error: { type: 'text', optional: true, api: 'error_message', live: 'error', description: 'Why it failed.' },
  attempts: { type: 'attempts' },
  attemptsOmitted: { type: 'count' },
  /** The job whose result it has, when that ended, and the code that executed it; absent: it was executed, or has no result. */
  reusedFrom: { type: 'text', optional: true, live: 'reused' },
  reusedEndedAtMs: { type: 'time', optional: true },
  reusedCode: { type: 'text', optional: true },
} as const satisfies Members;

/** The longest text in a row of the live feed, in UTF-16 code units; longer ones are cut. */
export const LIVE_TEXT_LENGTH = 2_000;

interface Values {
  count: number;
  time: number;
  text: string;
  'runner-id': string;
  outcome: AttemptOutcome;
  attempts: readonly AttemptRecord[];
}

type Flat<T> = { [K in keyof T]: T[K] };
export type OptionalNames<M extends Members> = {
  [K in keyof M]: M[K] extends { optional: true } ? K : never;
}[keyof M];
export type ValueOf<M extends Member> = Values[M['type']];

/** The members as a record has them: an optional member is absent while it has no value. */
export type RecordOf<M extends Members> = Flat<
  { -readonly [K in Exclude<keyof M, OptionalNames<M>>]: ValueOf<M[K]> } & {
    -readonly [K in OptionalNames<M>]?: ValueOf<M[K]>;
  }
>;

/** The members as a machine's context has them: all present, undefined while without value, so that objects share one shape. */
export type StateOf<M extends Members> = {
  -readonly [K in keyof M]: ValueOf<M[K]> | (M[K] extends { optional: true } ? undefined : never);
};

export interface AttemptRecord extends RecordOf<typeof ATTEMPT_MEMBERS> {}
export interface JobHistoryState extends StateOf<typeof JOB_MEMBERS> {}

/** The state in which each count is 0, each list is empty and each optional member is undefined. */
export function initialState<M extends Members>(members: M): StateOf<M> {
  const values = Object.entries(members).map(([name, { type, optional }]): [string, unknown] => {
    if (optional === true) return [name, undefined];
    if (type === 'count') return [name, 0];
    if (type === 'attempts') return [name, []];
    throw new Error(`the member ${name} has no initial value: it is a required ${type}; make it optional`);
  });
  return Object.fromEntries(values) as StateOf<M>;
}
