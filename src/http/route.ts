/** The type of a route, and properties derived from it. The table is in `routes.ts`. */
import type { ErrorCode } from '../domain/errors.ts';
import type { TokenScope } from '../contract/types.ts';
import type { HandlerName } from './handlers.ts';
import type { QueryParameters } from '../contract/queries.ts';
import type { NamedSchema } from '../contract/build.ts';

/** The scope that a credential needs. `open` needs no credential. */
export type Scope = 'open' | TokenScope;

/** Form of the answer: `single` with an entity tag, `list` streamed or paged, `raw` not JSON, `plain` none of these. */
export type Answer = 'single' | 'list' | 'plain' | 'raw';

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** With `{job_id}`, `{batch_id}` or `{runner_id}` for the identifiers. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: Tag;
  scope: Scope;
  handler: HandlerName;
  answer: Answer;
  /** Schema of the answer; undefined: any JSON object. */
  response?: NamedSchema;
  /** Media types of a `raw` answer; the first one is the default. */
  media?: readonly string[];
  /** `study`: validated beyond its schema. `limit`: the size limit that applies. */
  body?: { schema: NamedSchema; optional?: true; study?: true; limit: 'submission' | 'reports' | 'small' };
  query?: QueryParameters;
  /** Request headers with a meaning for this route, beside the usual ones. */
  headers?: Record<string, string>;
  /** Error codes beyond those of every route of its kind (see `errorsOf`). */
  errors: readonly ErrorCode[];
}

export const TAGS = {
  studies: 'Submitting studies, and their progress and results.',
  jobs: 'The single runs of a study.',
  runners: 'The runner pool.',
  'runner protocol':
    'The operations of a runner program. The coordinator comes with one; these are for authors of another.',
  service: 'The service itself.',
} as const;
export type Tag = keyof typeof TAGS;

/** Identifiers in paths, and the error code for an unknown one. A malformed identifier is an unknown one. */
export const PATH_PARAMETERS = {
  job_id: { unknown: 'unknown-job', noun: 'job' },
  batch_id: { unknown: 'unknown-batch', noun: 'batch' },
  runner_id: { unknown: 'unknown-runner', noun: 'runner' },
} as const;
export type PathParameter = keyof typeof PATH_PARAMETERS;

/** Returns the identifier in the route's path, if there is one. */
export function pathParameter(route: Route): PathParameter | undefined {
  return /\{(\w+)\}/.exec(route.path)?.[1] as PathParameter | undefined;
}

/** Returns the error codes of a route, without those of every address (foreign origin, internal, unavailable). */
export function errorsOf(route: Route): ErrorCode[] {
  const parameter = pathParameter(route);
  return [
    'malformed-query' as const,
    ...(route.scope === 'open' ? [] : (['unauthenticated', 'forbidden', 'too-many-requests'] as const)),
    ...(parameter === undefined ? [] : [PATH_PARAMETERS[parameter].unknown]),
    ...(route.body === undefined
      ? []
      : (['malformed-body', 'unsupported-media-type', 'body-too-large', 'invalid-request'] as const)),
    ...route.errors,
  ];
}
