/** The query parameters of the API as schemas. The server, the API description and the types of filters are derived from them. */
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { enumOf } from './build.ts';
import { BATCH_STATUSES, FILE_FAULTS, JOB_STATUSES, RUNNER_STATUSES } from './enums.ts';
import { INT32_MAX, LIMITS } from './limits.ts';
import { RUNNER_ID_PATTERN } from './patterns.ts';

/** The schema of each parameter; required unless it is `Type.Optional`. */
export type QueryParameters = Readonly<Record<string, TSchema>>;

/** The values of these parameters, as the server reads them. */
export type QueryOf<P extends QueryParameters> = Readonly<Static<TObject<P>>>;

/** Most values of one list parameter. */
export const MAX_VALUES = 1_000;

/** `fallback` is the value that holds where the parameter is not given; without it, the description says what holds. */
const optional = <T extends TSchema>(schema: T, fallback?: Static<T>) =>
  Type.Optional(fallback === undefined ? schema : Type.Unsafe<Static<T>>({ ...schema, default: fallback }));

/** Text of 1 to `maxLength` characters. */
export const textValue = (description: string, maxLength: number = LIMITS.nameLength) =>
  Type.String({ minLength: 1, maxLength, description });
export const textQuery = (description: string, maxLength?: number, fallback?: string) =>
  optional(textValue(description, maxLength), fallback);
export const choiceQuery = <const V extends readonly string[]>(values: V, description: string, fallback?: V[number]) =>
  optional(enumOf(values, description), fallback);
export const integerQuery = (minimum: number, maximum: number, description: string, fallback?: number) =>
  optional(Type.Integer({ minimum, maximum, description }), fallback);
export const numberQuery = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Number({ minimum, maximum, description }));
/** A number between 0 and 1, neither included. */
export const shareQuery = (description: string, fallback?: number) =>
  optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1, description }), fallback);

/** Several values of one schema, by repetition or comma. */
const several = <T extends TSchema>(items: T, description: string) =>
  Type.Optional(Type.Unsafe<readonly Static<T>[]>({ type: 'array', maxItems: MAX_VALUES, items, description }));
export const textsQuery = (description: string) =>
  several(Type.String({ minLength: 1, maxLength: LIMITS.nameLength }), description);
export const choicesQuery = <const V extends readonly string[]>(values: V, description: string) =>
  several(Type.Unsafe<V[number]>({ type: 'string', enum: [...values] }), description);
export const numbersQuery = (minimum: number, maximum: number, description: string) =>
  several(Type.Number({ minimum, maximum }), description);
const uuidsQuery = (description: string) => several(Type.String({ format: 'uuid' }), description);
const runnerIdsQuery = (description: string) => several(Type.String({ pattern: RUNNER_ID_PATTERN }), description);
const int32sQuery = (description: string) =>
  several(Type.Integer({ format: 'int32', minimum: 0, maximum: INT32_MAX }), description);

export const PAGE_QUERY = {
  limit: integerQuery(1, LIMITS.pageSize, 'Send a page of at most this many. Without it the whole list is streamed.'),
  cursor: textQuery('Position of the page, from the `Link` header of the previous page.', 1_000),
};

export const FAMILY_QUERY = {
  family: choiceQuery(
    ['true', 'false'],
    '`true`: one row for each run of the batch and of its extensions and reruns, the latest that ended. `false` without it.',
  ),
};

export const BATCH_FILTER = {
  status: choicesQuery(BATCH_STATUSES, 'Only batches in one of these states.'),
  name: textsQuery('Only batches of one of these names.'),
  owner: textsQuery('Only batches of one of these owners.'),
  label: textsQuery('Only batches with all of these labels, each as `key=value`.'),
};

/** The filter for the batches of the client that asks. */
export const MINE_QUERY = {
  mine: choiceQuery(
    ['true', 'false'],
    '`true`: only batches of the client that asks, by the name of its token.',
    'false',
  ),
};

/** The order of a list of batches. */
export const BATCH_ORDER = {
  order: choiceQuery(
    ['oldest', 'newest'],
    'First the `oldest` batches, as without it, or the `newest`; a page of the newest has no `X-Total-Count`.',
  ),
};

export const JOB_FILTER = {
  batch_id: uuidsQuery('Only jobs of one of these batches.'),
  status: choicesQuery(JOB_STATUSES, 'Only jobs in one of these states.'),
  runner_id: runnerIdsQuery('Only jobs that one of these runners holds or held last.'),
  run_id: int32sQuery('Only these runs of their batch.'),
};

export const RUNNER_FILTER = {
  status: choicesQuery(RUNNER_STATUSES, 'Only runners in one of these states.'),
  tag: textsQuery('Only runners with one of these tags.'),
};

export const POOL_HISTORY_QUERY = {
  runner_id: runnerIdsQuery('Runners whose latest attempts to read; 50 at most.'),
};

export const DRAIN_QUERY = {
  reason: textQuery('The reason, shown with the runner.', LIMITS.reasonLength),
  until: textQuery('When the drain ends by itself, as RFC 3339 with a time zone: `2026-11-22T06:00:00Z`.', 40),
};

export const FILE_QUERY = {
  attempt: integerQuery(1, INT32_MAX, 'The files of this attempt; without it, of the last one.'),
};

export const READ_FILE_QUERY = {
  ...FILE_QUERY,
  redirect: choiceQuery(
    ['true', 'false'],
    '`false`: of a file in an object store, the address as `{url, expires_at}` in place of a redirect.',
  ),
  through: choiceQuery(
    ['coordinator'],
    '`coordinator`: a file in an object store is read from there by the coordinator, up to 32 MiB an answer; not with `redirect`.',
  ),
};

/** The answer of a runner to a request for a file, apart from its bytes. */
export const FILE_PART_QUERY = {
  request: textValue('The `request_id`.', 64),
  size: integerQuery(0, 1e15 - 1, 'Size of the whole file.'),
  offset: integerQuery(0, 1e15 - 1, 'Where the part begins.'),
  version: textQuery('Another one for each content of the file.', 100),
  modified_ms: numberQuery(0, 253_402_300_799_999, 'When the file was last written, in milliseconds since the epoch.'),
  fault: choiceQuery(FILE_FAULTS, 'Why the runner does not send it.'),
  detail: textQuery('More about the fault.', LIMITS.reasonLength),
};

export const RUN_RANGE_QUERY = {
  from: integerQuery(0, INT32_MAX, 'The first run.'),
  to: integerQuery(0, INT32_MAX, 'The run before which to stop.'),
};

export const ROUNDS_QUERY = {
  from: integerQuery(0, INT32_MAX, 'The number of the first round.'),
  limit: integerQuery(1, LIMITS.pageSize, 'At most so many rounds.'),
  step: integerQuery(1, LIMITS.rounds, 'Every so many rounds; 1 without it: all.'),
};

export const STUDY_WAIT_QUERY = {
  wait: integerQuery(
    0,
    LIMITS.waitSeconds,
    'Wait until the study has ended and is judged, waits for rows, or its canary has failed, in seconds.',
  ),
};

export const WAIT_QUERY = {
  wait: integerQuery(0, LIMITS.waitSeconds, 'Wait for the end of its runs, in seconds.'),
};

/** A filter of a list: each given member must match one of its values, and `label` all; an empty list does not restrict. */
export interface BatchFilter extends QueryOf<typeof BATCH_FILTER> {}
/** A filter of batches as clients send it. */
export interface ClientBatchFilter extends BatchFilter, QueryOf<typeof MINE_QUERY> {}
/** A filter of batches, and their order. */
export interface BatchListQuery extends BatchFilter, QueryOf<typeof BATCH_ORDER> {}
export interface JobFilter extends QueryOf<typeof JOB_FILTER> {}
export interface RunnerFilter extends QueryOf<typeof RUNNER_FILTER> {}
