/** The query parameters of the API. The server, the API description and the types of filters are derived from them. */
import { BATCH_STATUSES, FILE_FAULTS, JOB_STATUSES, RUNNER_STATUSES } from './enums.ts';
import { INT32_MAX, LIMITS } from './limits.ts';

/** A `list` parameter takes several values, by repetition or comma. */
export type QueryParameter = { readonly description: string; readonly required?: true } & (
  | { readonly kind: 'enum'; readonly list: boolean; readonly values: readonly string[] }
  | { readonly kind: 'uuid' | 'runner-id' | 'int32' | 'text'; readonly list: true }
  | { readonly kind: 'integer'; readonly list: false; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'number'; readonly list: boolean; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'text'; readonly list: false; readonly maxLength: number }
);
export type QueryParameters = Readonly<Record<string, QueryParameter>>;

export const PAGE_QUERY = {
  limit: {
    kind: 'integer',
    list: false,
    minimum: 1,
    maximum: LIMITS.pageSize,
    description: 'Send a page of at most this many. Without it the whole list is streamed.',
  },
  cursor: {
    kind: 'text',
    list: false,
    maxLength: 1_000,
    description: 'Position of the page, from the `Link` header of the previous page.',
  },
} as const satisfies QueryParameters;

export const FAMILY_QUERY = {
  family: {
    kind: 'enum',
    list: false,
    values: ['true', 'false'],
    description:
      '`true`: one row for each run of the batch and of its extensions and reruns, the latest that ended. `false` without it.',
  },
} as const satisfies QueryParameters;

export const BATCH_FILTER = {
  status: { kind: 'enum', list: true, values: BATCH_STATUSES, description: 'Only batches in one of these states.' },
  name: { kind: 'text', list: true, description: 'Only batches of one of these names.' },
  label: { kind: 'text', list: true, description: 'Only batches with all of these labels, each as `key=value`.' },
} as const satisfies QueryParameters;

/** The order of a list of batches. */
export const BATCH_ORDER = {
  order: {
    kind: 'enum',
    list: false,
    values: ['oldest', 'newest'],
    description:
      'First the `oldest` batches, as without it, or the `newest`; a page of the newest has no `X-Total-Count`.',
  },
} as const satisfies QueryParameters;

export const JOB_FILTER = {
  batch_id: { kind: 'uuid', list: true, description: 'Only jobs of one of these batches.' },
  status: { kind: 'enum', list: true, values: JOB_STATUSES, description: 'Only jobs in one of these states.' },
  runner_id: {
    kind: 'runner-id',
    list: true,
    description: 'Only jobs that one of these runners holds or held last.',
  },
  run_id: { kind: 'int32', list: true, description: 'Only these runs of their batch.' },
} as const satisfies QueryParameters;

export const RUNNER_FILTER = {
  status: { kind: 'enum', list: true, values: RUNNER_STATUSES, description: 'Only runners in one of these states.' },
  tag: { kind: 'text', list: true, description: 'Only runners with one of these tags.' },
} as const satisfies QueryParameters;

export const POOL_HISTORY_QUERY = {
  runner_id: { kind: 'runner-id', list: true, description: 'Runners whose latest attempts to read; 50 at most.' },
} as const satisfies QueryParameters;

export const DRAIN_QUERY = {
  reason: {
    kind: 'text',
    list: false,
    maxLength: LIMITS.reasonLength,
    description: 'The reason, shown with the runner.',
  },
  until: {
    kind: 'text',
    list: false,
    maxLength: 40,
    description: 'When the drain ends by itself, as RFC 3339 with a time zone: `2026-11-22T06:00:00Z`.',
  },
} as const satisfies QueryParameters;

export const FILE_QUERY = {
  attempt: {
    kind: 'integer',
    list: false,
    minimum: 1,
    maximum: INT32_MAX,
    description: 'The files of this attempt; without it, of the last one.',
  },
} as const satisfies QueryParameters;

export const READ_FILE_QUERY = {
  ...FILE_QUERY,
  redirect: {
    kind: 'enum',
    list: false,
    values: ['true', 'false'],
    description: '`false`: of a file in an object store, the address as `{url, expires_at}` in place of a redirect.',
  },
  through: {
    kind: 'enum',
    list: false,
    values: ['coordinator'],
    description:
      '`coordinator`: a file in an object store is read from there by the coordinator, up to 32 MiB an answer; not with `redirect`.',
  },
} as const satisfies QueryParameters;

/** The answer of a runner to a request for a file, apart from its bytes. */
export const FILE_PART_QUERY = {
  request: { kind: 'text', list: false, maxLength: 64, required: true, description: 'The `request_id`.' },
  size: {
    kind: 'integer',
    list: false,
    minimum: 0,
    maximum: 1e15 - 1,
    description: 'Size of the whole file.',
  },
  offset: { kind: 'integer', list: false, minimum: 0, maximum: 1e15 - 1, description: 'Where the part begins.' },
  version: { kind: 'text', list: false, maxLength: 100, description: 'Another one for each content of the file.' },
  modified_ms: {
    kind: 'number',
    list: false,
    minimum: 0,
    maximum: 253_402_300_799_999,
    description: 'When the file was last written, in milliseconds since the epoch.',
  },
  fault: { kind: 'enum', list: false, values: FILE_FAULTS, description: 'Why the runner does not send it.' },
  detail: { kind: 'text', list: false, maxLength: LIMITS.reasonLength, description: 'More about the fault.' },
} as const satisfies QueryParameters;

export const RUN_RANGE_QUERY = {
  from: { kind: 'integer', list: false, minimum: 0, maximum: INT32_MAX, description: 'The first run.' },
  to: { kind: 'integer', list: false, minimum: 0, maximum: INT32_MAX, description: 'The run before which to stop.' },
} as const satisfies QueryParameters;

type ValueOf<P extends QueryParameter> = P extends { values: readonly (infer V)[] }
  ? V
  : P['kind'] extends 'int32' | 'integer' | 'number'
    ? number
    : string;

/** The values of these parameters, as the server reads them. */
export type QueryOf<P extends QueryParameters> = {
  readonly [K in keyof P]?: P[K] extends { list: true } ? readonly ValueOf<P[K]>[] : ValueOf<P[K]>;
};

/** A filter of a list: each given member must match one of its values, and `label` all; an empty list does not restrict. */
export interface BatchFilter extends QueryOf<typeof BATCH_FILTER> {}
/** A filter of batches, and their order. */
export interface BatchListQuery extends BatchFilter, QueryOf<typeof BATCH_ORDER> {}
export interface JobFilter extends QueryOf<typeof JOB_FILTER> {}
export interface RunnerFilter extends QueryOf<typeof RUNNER_FILTER> {}
