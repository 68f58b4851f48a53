/**
 * The table of all endpoints. The router, validation, access, the API description and the tests of the documentation are
 * derived from it: adding an endpoint is one entry here, one handler, and its lines in docs/api.md.
 */
import type { ErrorCode } from '../domain/errors.ts';
import { BATCH_STATUSES, JOB_STATUSES, RUNNER_STATUSES } from '../domain/types.ts';
import type { HandlerName } from './handlers.ts';
import type { QueryParameters } from './query.ts';
import * as batches from './schemas/batches.ts';
import type { NamedSchema } from './schemas/build.ts';
import * as jobs from './schemas/jobs.ts';
import { HealthResponse } from './schemas/problem.ts';
import * as reports from './schemas/reports.ts';
import * as runners from './schemas/runners.ts';
import { LIMITS } from './schemas/scalars.ts';
import * as study from './schemas/study.ts';

/** What a credential must allow. `open` needs none, ever. */
export type Scope = 'open' | 'read' | 'submit' | 'operate' | 'runner';

/** How the answer is sent: `single` with an entity tag, `list` streamed or as a page, `plain` neither. */
export type Answer = 'single' | 'list' | 'plain';

export interface Route {
  method: 'GET' | 'POST';
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

const page: QueryParameters = {
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
    description: 'Where to go on, from the `Link` header of the page before.',
  },
};
const reason: QueryParameters = {
  reason: { kind: 'text', list: false, maxLength: 1_000, description: 'Why, for those who look at the runner later.' },
};

const studies: Route[] = [
  {
    method: 'POST',
    path: '/jobs',
    operationId: 'submitBatch',
    summary: 'Submit a study',
    description: 'Creates one batch and one job per run.',
    tag: 'studies',
    scope: 'submit',
    handler: 'submitBatch',
    answer: 'plain',
    body: { schema: study.BatchSubmission, study: true, limit: 'submission' },
    headers: {
      'Idempotency-Key':
        'Up to 255 visible characters of your choice. A repeat with the same key and body gets the same answer and creates nothing. Kept 24 hours.',
    },
    response: study.SubmissionResponse,
    errors: ['idempotency-key-reused'],
  },
  {
    method: 'GET',
    path: '/batches',
    operationId: 'listBatches',
    summary: 'List batches',
    tag: 'studies',
    scope: 'read',
    handler: 'listBatches',
    answer: 'list',
    query: {
      status: { kind: 'enum', list: true, values: BATCH_STATUSES, description: 'Only batches in one of these states.' },
      name: { kind: 'text', list: true, description: 'Only batches of one of these names.' },
      ...page,
    },
    response: batches.BatchList,
    errors: [],
  },
  {
    method: 'GET',
    path: '/batches/{batch_id}',
    operationId: 'getBatch',
    summary: 'Read the progress of a batch',
    tag: 'studies',
    scope: 'read',
    handler: 'getBatch',
    answer: 'single',
    response: batches.BatchStatusResponse,
    errors: [],
  },
  {
    method: 'GET',
    path: '/batches/{batch_id}/results',
    operationId: 'getBatchResults',
    summary: 'Read the results of a batch',
    description: 'The results of the jobs that have one, in order of run; also while the batch is still running.',
    tag: 'studies',
    scope: 'read',
    handler: 'getBatchResults',
    answer: 'list',
    query: page,
    response: batches.BatchResultsResponse,
    errors: [],
  },
  {
    method: 'GET',
    path: '/batches/{batch_id}/submission',
    operationId: 'getBatchSubmission',
    summary: 'Read what was submitted',
    description: 'The submission as stored, with the seed that is used: submitting it again makes the same runs.',
    tag: 'studies',
    scope: 'read',
    handler: 'getBatchSubmission',
    answer: 'single',
    response: study.BatchSubmission,
    errors: [],
  },
  {
    method: 'POST',
    path: '/batches/{batch_id}/cancel',
    operationId: 'cancelBatch',
    summary: 'Cancel a batch',
    description: 'Every job that has not ended becomes Cancelled; running simulations are killed.',
    tag: 'studies',
    scope: 'submit',
    handler: 'cancelBatch',
    answer: 'plain',
    body: { schema: batches.CancelRequest, optional: true, limit: 'small' },
    response: batches.Batch,
    errors: ['illegal-transition'],
  },
];

const jobRoutes: Route[] = [
  {
    method: 'GET',
    path: '/jobs',
    operationId: 'listJobs',
    summary: 'List jobs',
    tag: 'jobs',
    scope: 'read',
    handler: 'listJobs',
    answer: 'list',
    query: {
      batch_id: { kind: 'uuid', list: true, description: 'Only jobs of one of these batches.' },
      status: { kind: 'enum', list: true, values: JOB_STATUSES, description: 'Only jobs in one of these states.' },
      runner_id: {
        kind: 'runner-id',
        list: true,
        description: 'Only jobs that one of these runners holds or held last.',
      },
      run_id: { kind: 'int32', list: true, description: 'Only these runs of their batch.' },
      ...page,
    },
    response: jobs.JobList,
    errors: [],
  },
  {
    method: 'GET',
    path: '/jobs/{job_id}',
    operationId: 'getJob',
    summary: 'Read a job',
    tag: 'jobs',
    scope: 'read',
    handler: 'getJob',
    answer: 'single',
    response: jobs.Job,
    errors: [],
  },
  {
    method: 'GET',
    path: '/jobs/{job_id}/results',
    operationId: 'getJobResult',
    summary: 'Read the result of a job',
    tag: 'jobs',
    scope: 'read',
    handler: 'getJobResult',
    answer: 'single',
    response: jobs.JobResult,
    errors: ['result-not-ready'],
  },
  {
    method: 'GET',
    path: '/jobs/{job_id}/history',
    operationId: 'getJobHistory',
    summary: 'Read the attempts of a job',
    tag: 'jobs',
    scope: 'read',
    handler: 'getJobHistory',
    answer: 'single',
    response: jobs.JobHistory,
    errors: [],
  },
  {
    method: 'POST',
    path: '/jobs/{job_id}/cancel',
    operationId: 'cancelJob',
    summary: 'Cancel a job',
    tag: 'jobs',
    scope: 'submit',
    handler: 'cancelJob',
    answer: 'plain',
    body: { schema: batches.CancelRequest, optional: true, limit: 'small' },
    response: jobs.Job,
    errors: ['illegal-transition'],
  },
];

const pool: Route[] = [
  {
    method: 'GET',
    path: '/runners',
    operationId: 'listRunners',
    summary: 'List runners',
    tag: 'runners',
    scope: 'read',
    handler: 'listRunners',
    answer: 'plain',
    query: {
      status: {
        kind: 'enum',
        list: true,
        values: RUNNER_STATUSES,
        description: 'Only runners in one of these states.',
      },
      tag: { kind: 'text', list: true, description: 'Only runners with one of these tags.' },
    },
    response: runners.RunnerListResponse,
    errors: [],
  },
  {
    method: 'GET',
    path: '/runners/{runner_id}',
    operationId: 'getRunner',
    summary: 'Read a runner',
    tag: 'runners',
    scope: 'read',
    handler: 'getRunner',
    answer: 'single',
    response: runners.Runner,
    errors: [],
  },
  {
    method: 'POST',
    path: '/runners/{runner_id}/drain',
    operationId: 'drainRunner',
    summary: 'Drain a runner',
    description: 'It takes no new jobs; those it has run to their end.',
    tag: 'runners',
    scope: 'operate',
    handler: 'drainRunner',
    answer: 'plain',
    query: reason,
    response: runners.Runner,
    errors: ['illegal-transition'],
  },
  {
    method: 'POST',
    path: '/runners/{runner_id}/resume',
    operationId: 'resumeRunner',
    summary: 'Resume a drained runner',
    tag: 'runners',
    scope: 'operate',
    handler: 'resumeRunner',
    answer: 'plain',
    response: runners.Runner,
    errors: ['illegal-transition'],
  },
];

const protocol: Route[] = [
  {
    method: 'POST',
    path: '/runners',
    operationId: 'registerRunner',
    summary: 'Register a runner',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'registerRunner',
    answer: 'plain',
    body: { schema: runners.RegisterRequest, limit: 'submission' },
    response: runners.RegisterResponse,
    errors: ['runner-id-in-use'],
  },
  {
    method: 'POST',
    path: '/runners/{runner_id}/heartbeat',
    operationId: 'heartbeat',
    summary: 'Say that the runner lives, and what it holds',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'heartbeat',
    answer: 'plain',
    body: { schema: runners.HeartbeatRequest, limit: 'submission' },
    response: runners.HeartbeatResponse,
    errors: ['wrong-instance'],
  },
  {
    method: 'POST',
    path: '/runners/{runner_id}/claims',
    operationId: 'claimJobs',
    summary: 'Ask for work',
    description: 'With `wait_seconds` the answer comes the moment there is work, or empty after that time.',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'claimJobs',
    answer: 'plain',
    body: { schema: runners.ClaimRequest, limit: 'submission' },
    response: runners.ClaimResponse,
    errors: ['wrong-instance'],
  },
  {
    method: 'POST',
    path: '/runners/{runner_id}/reports',
    operationId: 'report',
    summary: 'Report on many jobs at once',
    description: 'Each report is judged alone; a refused one has its problem among the outcomes.',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'report',
    answer: 'plain',
    body: { schema: reports.ReportsRequest, limit: 'reports' },
    response: reports.ReportsResponse,
    errors: ['wrong-instance'],
  },
  {
    method: 'POST',
    path: '/runners/{runner_id}/sign-off',
    operationId: 'signOffRunner',
    summary: 'Leave the pool',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'signOffRunner',
    answer: 'plain',
    body: { schema: runners.SignOffRequest, limit: 'small' },
    response: runners.Runner,
    errors: ['wrong-instance'],
  },
  {
    method: 'POST',
    path: '/jobs/{job_id}/start',
    operationId: 'startJob',
    summary: 'Report that the simulation started',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'startJob',
    answer: 'plain',
    body: { schema: reports.StartRequest, limit: 'small' },
    response: jobs.Job,
    errors: ['illegal-transition', 'stale-attempt'],
  },
  {
    method: 'POST',
    path: '/jobs/{job_id}/complete',
    operationId: 'completeJob',
    summary: 'Report that the simulation finished',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'completeJob',
    answer: 'plain',
    body: { schema: reports.CompleteRequest, limit: 'reports' },
    response: jobs.Job,
    errors: ['illegal-transition', 'stale-attempt'],
  },
  {
    method: 'POST',
    path: '/jobs/{job_id}/fail',
    operationId: 'failJob',
    summary: 'Report that the simulation failed',
    tag: 'runner protocol',
    scope: 'runner',
    handler: 'failJob',
    answer: 'plain',
    body: { schema: reports.FailRequest, limit: 'reports' },
    response: jobs.Job,
    errors: ['illegal-transition', 'stale-attempt'],
  },
];

const service: Route[] = [
  {
    method: 'GET',
    path: '/healthz',
    operationId: 'health',
    summary: 'Ask whether the coordinator is alive',
    tag: 'service',
    scope: 'open',
    handler: 'health',
    answer: 'plain',
    response: HealthResponse,
    errors: [],
  },
  {
    method: 'GET',
    path: '/openapi.json',
    operationId: 'describe',
    summary: 'Read this description',
    tag: 'service',
    scope: 'read',
    handler: 'describe',
    answer: 'single',
    errors: [],
  },
];

export const routes: readonly Route[] = [...studies, ...jobRoutes, ...pool, ...protocol, ...service];

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
    ...(parameter === undefined ? [] : [PATH_PARAMETERS[parameter].unknown]),
    ...(route.body === undefined
      ? []
      : (['malformed-body', 'unsupported-media-type', 'body-too-large', 'invalid-request'] as const)),
    ...route.errors,
  ];
}
