/** The shape of a route: its schema and its handler in one object, and properties derived from them. */
import type { Abandoned } from '../base/abandonment.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type {
  AllocationTokensRequest,
  AllocationTokensResponse,
  AllocationsEndedResponse,
  LimitsResponse,
  Runner,
  TokenScope,
} from '../contract/types.ts';
import type { QueryOf, QueryParameters } from '../contract/queries.ts';
import type { ByteRange } from '../domain/files/byte-range.ts';
import type { Static, TSchema } from 'typebox';
import type { NamedSchema } from '../contract/build.ts';
import type { CoordinatorApi } from '../coordinator/api.ts';
import type { PageRequest } from '../coordinator/reads/listings.ts';
import type { Idempotency } from '../coordinator/kernel/turn/idempotency.ts';

/** Values of a query by parameter; absent parameters are absent. */
export type Query = Record<string, string | number | readonly string[] | readonly number[] | undefined>;

/** The scope that a credential needs. `open` needs no credential. */
export type Scope = 'open' | TokenScope;

/**
 * How an action changes a study that exists. `steers`: it makes no runs; its owner may with the scope of the action, and every client with `operate`.
 * `grows`: it may make runs; its owner may with the scope of the action, and other clients with that scope and `operate`.
 */
export type StudyChange = 'steers' | 'grows';

/**
 * Form of the answer: `single` with an entity tag, `list` streamed or paged, `raw` not JSON, `computed` by the analysis worker,
 * `file` the bytes of a file, `plain` none of these.
 */
export type Answer = 'single' | 'list' | 'plain' | 'raw' | 'computed' | 'file';

/** A request that has passed all checks of its route. */
export interface Call<Body = unknown, Q = Query> {
  /** The identifier in the path; empty without one. */
  id: string;
  /** The further parameters in the path, decoded. */
  parameters: Readonly<Record<string, string>>;
  /** The path of a file, after the identifier; empty without one. */
  filePath: string;
  /** The range of bytes that the client asks for. */
  range: ByteRange | undefined;
  /** Only the headers are wanted. */
  isHead: boolean;
  query: Q;
  /** Limit and position of a list. */
  page: PageRequest;
  /** Valid by the route's body schema; undefined without a body. */
  body: Body;
  /** The body of a route with `bodyBytes`; empty without one. */
  bytes: Uint8Array;
  /** The request's `Idempotency-Key` with a digest of the request; empty without a key. */
  idempotency: () => Idempotency;
  /** Aborts when the client disconnects, the server stops, or the client loses its authorization; then the reason is the refusal. */
  abandoned: () => Abandoned;
  /** The only runner that the client's token may act as; undefined without such a restriction. */
  runnerId: string | undefined;
  /** The allocation of a cluster that the client's token was made for; undefined for other tokens. */
  allocation: string | undefined;
  /** The id of the client's token; undefined where none is needed. */
  tokenId: string | undefined;
  /** The name of the client; undefined where no token is needed. */
  actor: string | undefined;
  /** The scopes of the client; undefined where no token is needed. */
  scopes: readonly Scope[] | undefined;
  /** True for an entity tag that the client has. */
  isKnown: (tag: string) => boolean;
  /** Name of the media type that the client prefers; the first one without a preference. */
  preferred: <T extends string>(types: Readonly<Record<T, string>>) => T;
  /** The API description. */
  description: () => unknown;
  /** The limits and settings of this server. */
  service: Service;
}

export interface Service {
  /** The metrics in the Prometheus text format. */
  metrics(): Promise<string>;
  limits(): LimitsResponse;
  /** The prefix of addresses in answers, e.g. `/simbatch`; empty at the root. */
  basePath: string;
  /** See `security/allocation-tokens.ts`; `by` is the id of the launcher's token. */
  allocationTokens: {
    make(
      request: AllocationTokensRequest,
      by: string | undefined,
      pool: () => Promise<readonly Runner[]>,
    ): Promise<AllocationTokensResponse>;
    revoke(allocations: readonly string[], by: string | undefined): Promise<AllocationsEndedResponse>;
    requireOwn(allocations: readonly string[], by: string | undefined): void;
    ownerOf(by: string | undefined): string | undefined;
  };
}

/** The header of a route whose repeated requests get the first answer. */
export const IDEMPOTENCY = {
  'Idempotency-Key':
    'Up to 255 visible characters of your choice. A repeat with the same key and body gets the same answer and changes nothing. Kept 24 hours.',
};

/** `study`: validated beyond its schema. `limit`: the size limit that applies. */
export interface RouteBody {
  schema: NamedSchema;
  optional?: true;
  study?: true;
  /** The operation validates it, in slices: it may have millions of numbers. */
  sliced?: true;
  /** A list of it that is parsed and validated in slices where the body is long: the member, the schema of its items, and the most of them. */
  items?: { member: string; schema: NamedSchema; most: number };
  limit: 'submission' | 'reports' | 'rows' | 'small';
}

interface Definition<B extends RouteBody | undefined, Q extends QueryParameters> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, with `{job_id}`, `{batch_id}` or `{runner_id}` for the identifiers, and `{path}` at its end for the path of a file. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  scope: Scope;
  /** How it changes the study in its path (see `security/permissions.ts`); absent: its owner does not matter. */
  changes?: StudyChange;
  /** The kind of the answer; `plain` when absent. */
  answer?: Answer;
  /** The answer has an entity tag once the batch has ended; otherwise `single` and `computed` alone have one. */
  isTagged?: true;
  /** Schema of the answer; undefined: any JSON object, or text. */
  response?: NamedSchema;
  /** Media types of a `raw` answer; the first one is the default. */
  media?: readonly string[];
  body?: B;
  /** The parameters in the path after the identifier. */
  pathParameters?: Readonly<Record<string, TSchema>>;
  /** Further successful answers, by status. */
  statuses?: Readonly<Partial<Record<201 | 202, { description: string; schema: NamedSchema }>>>;
  /** Most bytes of a body that is not JSON but any bytes. */
  bodyBytes?: number;
  query?: Q;
  /** Request headers with a meaning for this route, beside the usual ones. */
  headers?: Record<string, string>;
  /** Error codes beyond those of every route of its kind (see `errorsOf`). */
  errors?: readonly ErrorCode[];
  /**
   * Calls the operation and returns its answer: a ListAnswer for `list`, a RawAnswer for `raw`, an Answer of the worker for `computed`, a FileAnswer for `file`,
   * else a value that is sent as JSON, or a LateAnswer with it. Contains no rule of the product.
   */
  handle: (coordinator: CoordinatorApi, call: Call<BodyOf<B>, QueryOf<Q>>) => Promise<unknown>;
}

type BodyOf<B> = B extends RouteBody
  ? Static<B['schema']> | (B extends { optional: true } ? undefined : never)
  : undefined;

/** A route as the application serves it. */
export interface Route extends Omit<Definition<RouteBody | undefined, QueryParameters>, 'handle'> {
  tag: Tag;
  answer: Answer;
  errors: readonly ErrorCode[];
  handle: (coordinator: CoordinatorApi, call: Call) => Promise<unknown>;
}

/** How a request waits that may ask for that. Without a wait a disconnect need not be noticed. */
export function waitOf({ query: { wait = 0 }, abandoned }: { query: { wait?: number }; abandoned: () => Abandoned }): {
  waitMs?: number;
  abandoned?: Abandoned;
} {
  return wait === 0 ? {} : { waitMs: wait * 1_000, abandoned: abandoned() };
}

/** Returns a function that makes the routes of a tag. A handler's body and query have the types of the route's schemas. */
export function routesOf(tag: Tag) {
  return <const B extends RouteBody | undefined = undefined, const Q extends QueryParameters = QueryParameters>(
    definition: Definition<B, Q>,
  ): Route => ({ tag, answer: 'plain', errors: [], ...definition }) as Route;
}

export const TAGS = {
  studies: 'Submitting studies, and their progress and results.',
  analysis: 'Statistics, verdicts and causes of a study.',
  jobs: 'The single runs of a study.',
  runners: 'The runner pool.',
  launchers: 'Programs that start runners on clusters.',
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

/** Whether the path of the route ends in the path of a file. */
export const hasFilePath = (route: Pick<Route, 'path'>): boolean => route.path.endsWith('/{path}');

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
    ...(route.bodyBytes === undefined ? [] : (['malformed-body', 'unsupported-media-type', 'body-too-large'] as const)),
    ...route.errors,
  ];
}
