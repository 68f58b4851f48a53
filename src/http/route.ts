/** What an entry of the table of routes says, and what follows from it. The table itself is `routes.ts`. */
import type { ErrorCode } from '../domain/errors.ts';
import type { TokenScope } from '../coordinator/storage/tokens.ts';
import type { HandlerName } from './handlers.ts';
import type { QueryParameters } from './request/query.ts';
import type { NamedSchema } from '../contract/build.ts';

/** What a credential must allow. `open` needs none, ever. */
export type Scope = 'open' | TokenScope;

/** How the answer is sent: `single` with an entity tag, `list` streamed or as a page, `raw` not as JSON, `plain` none of it. */
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
  /** Undefined: any JSON object. */
  response?: NamedSchema;
  /** The media types that a `raw` answer can have; the first where the answer does not say. */
  media?: readonly string[];
  /** `study`: also checked for what a schema cannot say. `limit`: which body limit applies. */
  body?: { schema: NamedSchema; optional?: true; study?: true; limit: 'submission' | 'reports' | 'small' };
  query?: QueryParameters;
  /** Request headers that mean something here, beside the usual ones. */
  headers?: Record<string, string>;
  /** Beyond those any route of its kind can have (see `errorsOf`). */
  errors: readonly ErrorCode[];
}

export const TAGS = {
  studies: 'Submitting studies, and their progress and results.',
  jobs: 'The single runs of a study.',
  runners: 'The pool, as its operator sees it.',
  'runner protocol':
    'What a runner program says and asks. The coordinator comes with one; these are for those who write another.',
  service: 'The service itself.',
} as const;
export type Tag = keyof typeof TAGS;

/** The identifiers in a path, and what is answered when nothing has it. A malformed one is as unknown as any other. */
export const PATH_PARAMETERS = {
  job_id: { unknown: 'unknown-job', noun: 'job' },
  batch_id: { unknown: 'unknown-batch', noun: 'batch' },
  runner_id: { unknown: 'unknown-runner', noun: 'runner' },
} as const;
export type PathParameter = keyof typeof PATH_PARAMETERS;

/** The identifier in the route's path, if there is one. */
export function pathParameter(route: Route): PathParameter | undefined {
  return /\{(\w+)\}/.exec(route.path)?.[1] as PathParameter | undefined;
}

/** Every error code the route can answer with, but for those of any address (foreign origin, internal, unavailable). */
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
