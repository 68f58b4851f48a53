/**
 * The typed HTTP client: one method per operation of the coordinator, named as in `coordinator/api.ts`. Used by the
 * runner, the command line, tests and users' programs. It neither retries nor logs; `client/transport.ts` documents errors.
 */
import { Analysis } from './analysis.ts';
import { Files } from './files.ts';
import { Launching } from './launching.ts';
import { Rounds } from './rounds.ts';
import { StudyChanges, type Repeatable } from './study-changes.ts';
import { DEFAULT_PAGE, everyItem, position, type ListOptions, type Page, type PageQuery } from './pages.ts';
import { Transport } from './transport.ts';
import type { Exchange, QueryValue, TransportOptions } from './transport.ts';
import type { BatchListQuery, ClientBatchFilter, JobFilter, RunnerFilter } from '../contract/queries.ts';
import type {
  AuditAnswer,
  AuditRequest,
  AuditResponse,
  BudgetList,
  Batch,
  BatchHistory,
  BatchResultsResponse,
  BatchStatusResponse,
  BatchSubmission,
  ClaimRequest,
  ClaimResponse,
  Finding,
  CompleteRequest,
  ExtendRequest,
  ExtendResponse,
  FailRequest,
  HealthResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  Job,
  JobHistory,
  JobResult,
  LimitsResponse,
  RegisterRequest,
  RegisterResponse,
  ReportsRequest,
  ReportsResponse,
  RerunRequest,
  RerunResponse,
  ReuseForecast,
  Runner,
  DemandResponse,
  RunnerListResponse,
  SignOffRequest,
  StartRequest,
  StudyCode,
  SubmissionResponse,
  Uuid,
} from '../contract/types.ts';

export { downloadFile } from './download.ts';
export type { DownloadOptions, DownloadOutcome } from './download.ts';
export type { Files, OpenFile, ReadFileOptions } from './files.ts';
export type { ListOptions, Page, PageQuery } from './pages.ts';
export type { Repeatable } from './study-changes.ts';
export { ApiError, UnreachableError } from './transport.ts';
export { SimbatchError } from '../domain/errors.ts';
export type * from '../contract/types.ts';

/**
 * `endpoint` is the coordinator's base address, e.g. `http://127.0.0.1:7070`; `token` goes as `Authorization: Bearer`;
 * `timeoutMs` (30,000) limits each exchange, without the waiting time of a claim; `fetch` replaces Node's own.
 */
export type ClientOptions = TransportOptions;

/** Every method throws `ApiError` (the request was refused) or `UnreachableError` (no answer). */
export class Client {
  readonly #transport: Transport;
  /** Questions about a study. */
  readonly analysis: Analysis;
  /** Files of runs. */
  readonly files: Files;
  /** Rounds of adaptive studies. */
  readonly rounds: Rounds;
  /** Changes of the judgement of studies. */
  readonly changes: StudyChanges;
  /** Requests of launchers. */
  readonly launching: Launching;

  /** @throws SimbatchError `invalid-configuration` when the endpoint is not an http(s) address. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.analysis = new Analysis(this.#transport);
    this.files = new Files(this.#transport);
    this.rounds = new Rounds(this.#transport);
    this.changes = new StudyChanges(this.#transport);
    this.launching = new Launching(this.#transport);
  }

  get endpoint(): string {
    return this.#transport.endpoint;
  }

  readonly health = (): Promise<HealthResponse> => this.#get(['healthz']);

  /** A repeat with the same `idempotencyKey` and submission returns the first answer and creates nothing. */
  readonly submit = (submission: BatchSubmission, options: Repeatable = {}): Promise<SubmissionResponse> =>
    this.#keyed(['jobs'], submission, options);
  /** Which runs of a submission would take results of finished runs. Creates nothing. */
  readonly reuseForecast = (it: BatchSubmission): Promise<ReuseForecast> => this.#post(['reuse'], it);
  /** Creates a batch with more runs of the design, or the next replicate of a Latin hypercube. */
  readonly extendBatch = (
    batchId: Uuid,
    request: ExtendRequest = {},
    options: Repeatable = {},
  ): Promise<ExtendResponse> => this.#keyed(['batches', batchId, 'extend'], request, options);
  /** Creates a batch with selected runs again, with the same parameters; without a selection with all. */
  readonly rerunBatch = (batchId: Uuid, request: RerunRequest = {}, options: Repeatable = {}): Promise<RerunResponse> =>
    this.#keyed(['batches', batchId, 'rerun'], request, options);

  /** `waitSecs` (0 to 30): the answer comes when the study has ended and is judged, waits for rows, or its canary has failed. */
  batch(batchId: Uuid, waitSecs = 0, signal?: AbortSignal): Promise<BatchStatusResponse> {
    const waiting = { query: { wait: waitSecs || undefined }, extraMs: waitSecs * 1000 };
    return this.#get(['batches', batchId], { ...waiting, ...(signal && { signal }) });
  }

  /** Pauses, releases, canary runs, cancellation, with times and reasons. */
  readonly batchHistory = (id: Uuid): Promise<BatchHistory> => this.#get(['batches', id, 'history']);

  /** Why the study does not run, or should not be trusted. */
  findings(batchId: Uuid): Promise<Finding[]> {
    return this.#get(['batches', batchId, 'findings']);
  }

  /** The submission as stored, with the seed that is used (a bigint above 2^53 - 1). */
  submission(batchId: Uuid): Promise<BatchSubmission> {
    return this.#get(['batches', batchId, 'submission']);
  }

  /** The function that a study carries, in base64. */
  studyCode(batchId: Uuid): Promise<StudyCode> {
    return this.#get(['batches', batchId, 'code']);
  }

  batches(query: ClientBatchFilter & BatchListQuery = {}, options: ListOptions = {}): AsyncIterable<Batch> {
    return everyItem((page) => this.batchesPage(query, page), options);
  }

  batchesPage(query: ClientBatchFilter & BatchListQuery = {}, page: PageQuery = {}): Promise<Page<Batch>> {
    return this.#page(['batches'], { ...query }, page);
  }

  batchResults(batchId: Uuid, options: ListOptions = {}): AsyncIterable<JobResult> {
    return everyItem((page) => this.batchResultsPage(batchId, page), options);
  }

  async batchResultsPage(batchId: Uuid, page: PageQuery = {}): Promise<Page<JobResult> & { batch: Batch }> {
    const { body, headers } = await this.#pageAnswer<BatchResultsResponse>(['batches', batchId, 'results'], {}, page);
    return { batch: body.batch, items: body.results, ...position(headers) };
  }

  cancelBatch(batchId: Uuid, reason?: string): Promise<Batch> {
    return this.#post(['batches', batchId, 'cancel'], reason === undefined ? {} : { reason });
  }

  /** Creates a batch that repeats a drawn part of the finished runs, on other runners where there are any. */
  readonly auditBatch = (batchId: Uuid, request: AuditRequest, options: Repeatable = {}): Promise<AuditResponse> =>
    this.#keyed(['batches', batchId, 'audit'], request, options);

  /** The runs of an audit beside the original ones. */
  auditAnswer(auditId: Uuid): Promise<AuditAnswer> {
    return this.#get(['batches', auditId, 'audit']);
  }

  /** Assigns no new runs of the batch until it is resumed. */
  pauseBatch(batchId: Uuid, reason?: string, options: Repeatable = {}): Promise<Batch> {
    return this.#keyed(['batches', batchId, 'pause'], reason === undefined ? {} : { reason }, options);
  }

  resumeBatch(batchId: Uuid, options: Repeatable = {}): Promise<Batch> {
    return this.#keyed(['batches', batchId, 'resume'], undefined, options);
  }

  /** Releases the runs after the canary runs. */
  releaseBatch(batchId: Uuid, reason?: string, options: Repeatable = {}): Promise<Batch> {
    return this.#keyed(['batches', batchId, 'release'], reason === undefined ? {} : { reason }, options);
  }

  /** Deletes a batch that has ended, with its jobs and results; returns its last state. */
  deleteBatch(batchId: Uuid): Promise<Batch> {
    return this.#call({ method: 'DELETE', path: ['batches', batchId] });
  }

  job(jobId: Uuid): Promise<Job> {
    return this.#get(['jobs', jobId]);
  }

  /** @throws ApiError 404 `result-not-ready` before the job has a result. */
  jobResult(jobId: Uuid): Promise<JobResult> {
    return this.#get(['jobs', jobId, 'results']);
  }

  jobHistory(jobId: Uuid): Promise<JobHistory> {
    return this.#get(['jobs', jobId, 'history']);
  }

  jobs(query: JobFilter = {}, options: ListOptions = {}): AsyncIterable<Job> {
    return everyItem((page) => this.jobsPage(query, page), options);
  }

  jobsPage(query: JobFilter = {}, page: PageQuery = {}): Promise<Page<Job>> {
    return this.#page(['jobs'], { ...query }, page);
  }

  cancelJob(jobId: Uuid, reason?: string): Promise<Job> {
    return this.#post(['jobs', jobId, 'cancel'], reason === undefined ? {} : { reason });
  }

  runners(query: RunnerFilter = {}): Promise<RunnerListResponse> {
    return this.#call({ method: 'GET', path: ['runners'], query: { ...query } });
  }

  /** The runs that a runner could claim now, grouped by what it must offer. */
  readonly demand = (): Promise<DemandResponse> => this.#get(['demand']);

  readonly runner = (runnerId: string): Promise<Runner> => this.#get(['runners', runnerId]);

  /** Stops new work for the runner until it is resumed, or until a time of RFC 3339; its active jobs run to completion. */
  drain(runnerId: string, reason?: string, until?: string): Promise<Runner> {
    return this.#call({ method: 'POST', path: ['runners', runnerId, 'drain'], query: { reason, until } });
  }

  resume(runnerId: string): Promise<Runner> {
    return this.#post(['runners', runnerId, 'resume']);
  }

  /** The text of a snapshot file, of one batch or of everything, as it arrives. docs/snapshots.md describes it. */
  exportSnapshot(batchId?: Uuid): AsyncIterable<Uint8Array> {
    const path = batchId === undefined ? ['snapshot'] : ['batches', batchId, 'snapshot'];
    return this.#transport.stream({ method: 'GET', path });
  }

  /** Forgets a runner that is Offline and holds nothing; returns its last state. */
  forgetRunner(runnerId: string): Promise<Runner> {
    return this.#call({ method: 'DELETE', path: ['runners', runnerId] });
  }

  /** The core hours of owners today: those that the token may see. */
  readonly budgets = (): Promise<BudgetList> => this.#get(['budgets']);

  readonly limits = (): Promise<LimitsResponse> => this.#get(['limits']);

  /** Streams a backup; `simbatch restore` reads it. */
  backup(): AsyncIterable<Uint8Array> {
    return this.#transport.stream({ method: 'GET', path: ['backup'] });
  }

  // Operations of runners.

  register(request: RegisterRequest): Promise<RegisterResponse> {
    return this.#post(['runners'], request);
  }

  heartbeat(
    runnerId: string,
    request: HeartbeatRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<HeartbeatResponse> {
    return this.#call({ method: 'POST', path: ['runners', runnerId, 'heartbeat'], body: request, ...options });
  }

  /** Waits up to `wait_seconds` for work, plus the usual time limit for the answer. */
  claim(runnerId: string, request: ClaimRequest, options: { signal?: AbortSignal } = {}): Promise<ClaimResponse> {
    const extraMs = (request.wait_seconds ?? 0) * 1000;
    return this.#call({ method: 'POST', path: ['runners', runnerId, 'claims'], body: request, extraMs, ...options });
  }

  start(jobId: Uuid, request: StartRequest): Promise<Job> {
    return this.#post(['jobs', jobId, 'start'], request);
  }

  complete(jobId: Uuid, request: CompleteRequest): Promise<Job> {
    return this.#post(['jobs', jobId, 'complete'], request);
  }

  fail(jobId: Uuid, request: FailRequest): Promise<Job> {
    return this.#post(['jobs', jobId, 'fail'], request);
  }

  /** Sends many reports in one exchange; each has its own outcome, and one with `problem` refuses that report only. */
  reports(runnerId: string, request: ReportsRequest): Promise<ReportsResponse> {
    return this.#post(['runners', runnerId, 'reports'], request);
  }

  signOff(runnerId: string, request: SignOffRequest): Promise<Runner> {
    return this.#post(['runners', runnerId, 'sign-off'], request);
  }

  async #call<T>(exchange: Exchange): Promise<T> {
    return (await this.#transport.send<T>(exchange)).body;
  }

  #get<T>(path: readonly string[], more: Partial<Exchange> = {}): Promise<T> {
    return this.#call({ method: 'GET', path, ...more });
  }

  #post<T>(path: readonly string[], body?: unknown): Promise<T> {
    return this.#call({ method: 'POST', path, body });
  }

  #keyed<T>(path: readonly string[], body: unknown, { idempotencyKey: key }: Repeatable): Promise<T> {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    return this.#call({ method: 'POST', path, body, headers });
  }

  #pageAnswer<T>(path: readonly string[], query: Record<string, QueryValue>, page: PageQuery) {
    const { limit = DEFAULT_PAGE, cursor, signal } = page;
    const whole = { ...query, limit, cursor };
    return this.#transport.send<T>({ method: 'GET', path, query: whole, ...(signal === undefined ? {} : { signal }) });
  }

  async #page<T>(path: readonly string[], query: Record<string, QueryValue>, page: PageQuery): Promise<Page<T>> {
    const { body, headers } = await this.#pageAnswer<T[]>(path, query, page);
    return { items: body, ...position(headers) };
  }
}
