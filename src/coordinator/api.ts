/**
 * What the coordinator can be asked, as `http/` asks it. Every promise of a change resolves after the change is on disk;
 * every promise of a reading resolves after what it shows is on disk. No behaviour here: `coordinator.ts` has it.
 */
import type { SimbatchError } from '../domain/errors.ts';
import type { Sampler } from '../domain/sampling/sampler.ts';
import type { BatchFilter, JobFilter, RunnerFilter } from '../contract/filters.ts';
import type {
  Batch,
  BatchStatusResponse,
  BatchSubmission,
  ClaimRequest,
  ClaimResponse,
  CompleteRequest,
  FailRequest,
  HeartbeatRequest,
  HeartbeatResponse,
  Job,
  JobHistory,
  JobResult,
  JobStatus,
  RegisterRequest,
  RegisterResponse,
  ReportsRequest,
  Runner,
  RunnerListResponse,
  SignOffRequest,
  StartRequest,
  SubmissionResponse,
  Uuid,
} from '../contract/types.ts';
import type { Export } from './snapshots/format.ts';

/** `after`: the position (as an earlier listing told it) behind which to go on. Without `limit` the listing is whole. */
export interface PageRequest {
  limit?: number;
  after?: string;
}

/** A listing as of one instant. `chunks` must be iterated to its end or returned from, which frees the snapshot behind it. */
export interface Listing<T> {
  /** How many items match in all (not only on this page), where that is known without reading them. */
  total: number | undefined;
  chunks: AsyncIterable<readonly T[]>;
  /** The position behind the last item, once `chunks` has been read and there is more; else undefined. */
  next(): string | undefined;
}

/** A record of an export: its key in the file, and its value as the store has it. */
export interface ExportedRecord {
  key: string;
  json: string;
}

export interface ExportListing {
  head: Export;
  records: Listing<ExportedRecord>;
}

export interface SubmitOptions {
  /** The request's `Idempotency-Key`. */
  idempotencyKey?: string;
  /** A digest of the request's body, to tell a repeat from another request under the same key. Required with a key. */
  bodyDigest?: string;
}

/** What became of one report among many: the job's status, or why it was not taken. */
export type ReportJudgement = { job_id: Uuid; status: JobStatus } | { job_id: Uuid; refusal: SimbatchError };

/** All errors are `SimbatchError`s; which codes, is said with each operation in docs/api.md. */
export interface CoordinatorApi {
  /** The submission has its documented shape and has passed `domain/submission.ts`. */
  submit(submission: BatchSubmission, options?: SubmitOptions): Promise<SubmissionResponse>;
  cancelBatch(batchId: Uuid, reason?: string): Promise<Batch>;
  cancelJob(jobId: Uuid, reason?: string): Promise<Job>;

  /** Only of a batch that has ended; as it was. Its jobs and results go with it. */
  deleteBatch(batchId: Uuid): Promise<Batch>;
  /** Only of a runner that is Offline and holds nothing; as it was. */
  forgetRunner(runnerId: string): Promise<Runner>;
  /** All records as of now, as `backup.ts` writes them. Must be iterated to its end or returned from. */
  backup(): Promise<AsyncIterable<string>>;

  register(request: RegisterRequest): Promise<RegisterResponse>;
  heartbeat(runnerId: string, request: HeartbeatRequest): Promise<HeartbeatResponse>;
  /** Waits up to `wait_seconds` for work; `abandoned` says the requester has gone, so nothing is claimed for it any more. */
  claim(runnerId: string, request: ClaimRequest, abandoned?: AbortSignal): Promise<ClaimResponse>;
  start(jobId: Uuid, request: StartRequest): Promise<Job>;
  complete(jobId: Uuid, request: CompleteRequest): Promise<Job>;
  fail(jobId: Uuid, request: FailRequest): Promise<Job>;
  /** One judgement per report, in their order. */
  reports(runnerId: string, request: ReportsRequest): Promise<ReportJudgement[]>;
  signOff(runnerId: string, request: SignOffRequest): Promise<Runner>;
  drain(runnerId: string, reason?: string): Promise<Runner>;
  resume(runnerId: string): Promise<Runner>;

  job(jobId: Uuid): Promise<Job>;
  jobResult(jobId: Uuid): Promise<JobResult>;
  jobHistory(jobId: Uuid): Promise<JobHistory>;
  jobs(filter: JobFilter, page?: PageRequest): Promise<Listing<Job>>;
  batch(batchId: Uuid): Promise<BatchStatusResponse>;
  /** The submission as stored, with the seed that is used. */
  submission(batchId: Uuid): Promise<BatchSubmission>;
  /** Whatever run's parameters of a batch, and how many runs it has. */
  samples(batchId: Uuid): Promise<{ sampler: Sampler; totalJobs: number }>;
  batches(filter: BatchFilter, page?: PageRequest): Promise<Listing<Batch>>;
  batchResults(batchId: Uuid, page?: PageRequest): Promise<{ batch: Batch; results: Listing<JobResult> }>;
  runner(runnerId: string): Promise<Runner>;
  runners(filter: RunnerFilter): Promise<RunnerListResponse>;
  /** Everything that is stored of one batch, or of all, as of one instant. */
  exportSnapshot(batchId?: Uuid): Promise<ExportListing>;
}
