/**
 * The coordinator's interface, as `http/` uses it. The promise of a change resolves after the change is on disk; the promise
 * of a reading resolves to data that is on disk. No behaviour here: `coordinator.ts` has it.
 */
import type { SimbatchError } from '../domain/errors.ts';
import type { Sampler } from '../domain/sampling/sampler.ts';
import type { BatchFilter, JobFilter, RunnerFilter } from '../contract/queries.ts';
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

/** `after`: the position of the last item seen, as an earlier listing returned it. Without `limit` the listing is complete. */
export interface PageRequest {
  limit?: number;
  after?: string;
}

/** A listing as of one instant. `chunks` must be iterated to its end or returned from, which frees its store view. */
export interface Listing<T> {
  /** The number of matching items on all pages, if it is known without reading them. */
  total: number | undefined;
  chunks: AsyncIterable<readonly T[]>;
  /** The position of the last item, once `chunks` has been read and more items follow; else undefined. */
  next(): string | undefined;
}

/** A record of an export: its key in the file, and its value as stored. */
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
  /** A digest of the request's body, which distinguishes a repeat from another request under the same key. Required with a key. */
  bodyDigest?: string;
}

/** The outcome of one report among many: the job's status, or the refusal. */
export type ReportJudgement = { job_id: Uuid; status: JobStatus } | { job_id: Uuid; refusal: SimbatchError };

/** All errors are `SimbatchError`s; docs/api.md lists the codes of each operation. */
export interface CoordinatorApi {
  /** The submission has its documented shape and has passed `domain/submission.ts`. */
  submit(submission: BatchSubmission, options?: SubmitOptions): Promise<SubmissionResponse>;
  cancelBatch(batchId: Uuid, reason?: string): Promise<Batch>;
  /** Assigns no new runs until it is resumed; running ones continue. A paused batch is returned unchanged. */
  pauseBatch(batchId: Uuid, reason?: string): Promise<Batch>;
  /** Assigns runs again. A batch that is not paused is returned unchanged. */
  resumeBatch(batchId: Uuid): Promise<Batch>;
  /** Releases the runs after the canary runs. A batch without withheld runs is returned unchanged. */
  releaseBatch(batchId: Uuid): Promise<Batch>;
  cancelJob(jobId: Uuid, reason?: string): Promise<Job>;

  /** Deletes an ended batch with its jobs and results, and returns it. */
  deleteBatch(batchId: Uuid): Promise<Batch>;
  /** Deletes a runner that is Offline and holds nothing, and returns it. */
  forgetRunner(runnerId: string): Promise<Runner>;
  /** All records as of now, in the format of `backup.ts`. Must be iterated to its end or returned from. */
  backup(): Promise<AsyncIterable<string>>;

  register(request: RegisterRequest): Promise<RegisterResponse>;
  heartbeat(runnerId: string, request: HeartbeatRequest): Promise<HeartbeatResponse>;
  /** Waits up to `wait_seconds` for work. After `abandoned` (the client has disconnected) nothing is claimed for it. */
  claim(runnerId: string, request: ClaimRequest, abandoned?: AbortSignal): Promise<ClaimResponse>;
  start(jobId: Uuid, request: StartRequest): Promise<Job>;
  complete(jobId: Uuid, request: CompleteRequest): Promise<Job>;
  fail(jobId: Uuid, request: FailRequest): Promise<Job>;
  /** Returns one judgement per report, in their order. */
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
  /** The sampler of a batch, which computes the parameters of any run, and the number of runs. */
  samples(batchId: Uuid): Promise<{ sampler: Sampler; totalJobs: number }>;
  batches(filter: BatchFilter, page?: PageRequest): Promise<Listing<Batch>>;
  batchResults(batchId: Uuid, page?: PageRequest): Promise<{ batch: Batch; results: Listing<JobResult> }>;
  runner(runnerId: string): Promise<Runner>;
  runners(filter: RunnerFilter): Promise<RunnerListResponse>;
  /** All records of one batch, or of all batches, as of one instant. */
  exportSnapshot(batchId?: Uuid): Promise<ExportListing>;
}
