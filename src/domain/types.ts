/**
 * What goes over the wire, field by field as the specification has it. Names are the wire's (snake_case), units stand in
 * the name. The request and response schemas in `http/schemas/` are checked against these types by the compiler.
 * No behaviour here.
 */

/** A UUID, version 8 for ids made by this coordinator (see `domain/ids.ts`). */
export type Uuid = string;

/** An ISO 8601 instant in UTC with milliseconds, e.g. `2026-03-01T12:00:00.000Z`. */
export type Timestamp = string;

/**
 * An integer in [0, 2^63 - 1]. A `number` up to 2^53 - 1 and a `bigint` above, so that no digit is ever lost;
 * `domain/seed.ts` reads and writes it.
 */
export type Seed = number | bigint;

export const SAMPLING_METHODS = ['latin_hypercube', 'monte_carlo', 'quasi_monte_carlo'] as const;
export type SamplingMethod = (typeof SAMPLING_METHODS)[number];

export const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

export const JOB_STATUSES = ['Pending', 'Claimed', 'Running', 'Completed', 'Failed', 'Timeout', 'Cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const BATCH_STATUSES = ['Pending', 'Running', 'Completed', 'Failed', 'Cancelled'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

export const RUNNER_STATUSES = ['Idle', 'Busy', 'Offline', 'Maintenance'] as const;
export type RunnerStatus = (typeof RUNNER_STATUSES)[number];

/** Why a runner says a job failed. `exit`, `signal` and `infrastructure` are retried; the others would end the same way. */
export const FAIL_REASONS = ['exit', 'signal', 'early_termination', 'timeout', 'invalid', 'infrastructure'] as const;
export type FailReason = (typeof FAIL_REASONS)[number];

/** `normal`: mean and standard deviation (>= 0), in the dispersion's units. */
export interface NormalDistribution {
  type: 'normal';
  mean: number;
  std_dev: number;
}
/** `uniform` on [min, max]. */
export interface UniformDistribution {
  type: 'uniform';
  min: number;
  max: number;
}
/** `exponential` with rate lambda (> 0): the mean is 1 / lambda. */
export interface ExponentialDistribution {
  type: 'exponential';
  lambda: number;
}
/** `gamma` with shape and scale (both > 0): the mean is shape * scale. */
export interface GammaDistribution {
  type: 'gamma';
  shape: number;
  scale: number;
}
/** `beta` on (0, 1) with alpha and beta (both > 0). */
export interface BetaDistribution {
  type: 'beta';
  alpha: number;
  beta: number;
}
/** `fixed`: always `value`; consumes no random number. */
export interface FixedDistribution {
  type: 'fixed';
  value: number;
}
export type DistributionType =
  | NormalDistribution
  | UniformDistribution
  | ExponentialDistribution
  | GammaDistribution
  | BetaDistribution
  | FixedDistribution;

export interface DispersionConfig {
  distribution: DistributionType;
  /** Free text, e.g. `m/s`; may be empty. */
  units: string;
}

export interface SimulationConfig {
  name: string;
  version: string;
  duration_minutes: number;
}

export interface MonteCarloConfig {
  runs: number;
  sampling_method: SamplingMethod;
  /** Null or absent: the coordinator draws one, stores it and reports it. */
  seed?: Seed | null;
}

export interface ContainerConfig {
  image: string;
  cpu_request: string;
  memory_request: string;
  cpu_limit?: string | null;
  memory_limit?: string | null;
  environment?: Record<string, string> | null;
}

export interface TolerationConfig {
  key: string;
  operator: string;
  effect: string;
  value?: string | null;
}

export interface KubernetesConfig {
  namespace: string;
  cluster_name: string;
  node_selectors?: Record<string, string> | null;
  tolerations?: TolerationConfig[] | null;
}

export interface SshHostConfig {
  host: string;
  cores: number;
  ssh_key_path?: string | null;
  username?: string | null;
}

export interface BareMetalConfig {
  max_parallel_processes?: number | null;
  ssh_hosts?: SshHostConfig[] | null;
  working_directory?: string | null;
}

export interface ComputeConfig {
  container: ContainerConfig;
  /** At most this many jobs of the batch Claimed or Running at once; 0 means no cap. */
  max_parallel_jobs: number;
  /** The time limit of one job, from `started_at`; 0 means none. */
  job_timeout_seconds: number;
  kubernetes?: KubernetesConfig | null;
  baremetal?: BareMetalConfig | null;
  /** How often a failed job is tried again; the server's default (3) when absent. */
  max_retries?: number | null;
}

export interface TerminationCondition {
  variable: string;
  /** See `domain/condition.ts` for the grammar. */
  condition: string;
  description: string;
}

export interface EarlyTerminationConfig {
  enabled: boolean;
  check_frequency_hz: number;
  conditions: TerminationCondition[];
}

export interface StorageConfig {
  s3_bucket: string;
  s3_prefix: string;
  compression: Compression;
}

export interface TelemetryConfig {
  sampling_rate_hz: number;
  /** Empty: all variables are kept. */
  variables: string[];
  storage: StorageConfig;
  buffer_flush_interval_seconds: number;
}

export interface BatchConfig {
  simulation: SimulationConfig;
  monte_carlo: MonteCarloConfig;
  dispersions: Record<string, DispersionConfig>;
  compute: ComputeConfig;
  early_termination: EarlyTerminationConfig;
  telemetry: TelemetryConfig;
}

/** Body of `POST /jobs`. */
export interface BatchSubmission {
  name: string;
  config: BatchConfig;
  runs_override?: number | null;
}

/** Something about a study that is allowed and will probably mislead. */
export interface SubmissionWarning {
  /** kebab-case, stable. */
  code: string;
  /** JSON Pointer into the submission. */
  pointer: string;
  detail: string;
}

export interface SubmissionResponse {
  batch_id: Uuid;
  total_jobs: number;
  estimated_completion_time_mins: number | null;
  /** Absent when there is nothing to warn of. */
  warnings?: SubmissionWarning[];
}

export interface RunMetadata {
  simulation_name: string;
  simulation_version: string;
  duration_minutes: number;
  sampling_method: SamplingMethod;
  generated_at: Timestamp;
  seed?: Seed;
}

/** The sampled parameters of one run, and the shape of the run configuration file. */
export interface JobRunConfig {
  run_id: number;
  parameters: Record<string, number>;
  metadata: RunMetadata;
}

export interface Job {
  id: Uuid;
  batch_id: Uuid;
  status: JobStatus;
  run_config: JobRunConfig;
  retries: number;
  max_retries: number;
  timeout_secs: number;
  created_at: Timestamp;
  assigned_runner?: string;
  claimed_at?: Timestamp;
  started_at?: Timestamp;
  completed_at?: Timestamp;
  error_message?: string;
}

export interface Batch {
  id: Uuid;
  name: string;
  status: BatchStatus;
  total_jobs: number;
  completed_jobs: number;
  failed_jobs: number;
  config_hash: string;
  created_at: Timestamp;
}

export interface BatchStatusResponse {
  batch: Batch;
  jobs_by_status: Record<JobStatus, number>;
  throughput_jobs_per_minute: number;
  estimated_completion_time_mins?: number;
}

export interface JobResult {
  job_id: Uuid;
  success: boolean;
  execution_time_secs: number;
  output_files: string[];
  metadata: Record<string, unknown>;
  error_message?: string | null;
  telemetry_data?: string | null;
}

export interface BatchResultsResponse {
  batch: Batch;
  results: JobResult[];
}

export interface RunnerCapabilities {
  max_concurrent_jobs: number;
  cpu_cores: number;
  memory_gb: number;
  gpu_available: boolean;
  supported_simulation_types: string[];
  python_version?: string;
}

export interface Runner {
  id: string;
  name: string;
  status: RunnerStatus;
  capabilities: RunnerCapabilities;
  current_jobs: Uuid[];
  tags: string[];
  registered_at: Timestamp;
  last_heartbeat: Timestamp;
  total_jobs_completed: number;
  total_jobs_failed: number;
  accepting_jobs?: boolean;
  drain_reason?: string;
}

export interface RunnerListResponse {
  runners: Runner[];
  active_runners: number;
  offline_runners: number;
  total_capacity: number;
}

/** What this coordinator takes and keeps; sizes in bytes, 0 where there is no limit. */
export interface LimitsResponse {
  submission_bytes: number;
  reports_bytes: number;
  small_body_bytes: number;
  header_bytes: number;
  request_timeout_secs: number;
  runs_per_batch: number;
  dispersions: number;
  conditions: number;
  variables: number;
  name_length: number;
  text_length: number;
  error_message_length: number;
  output_files: number;
  metadata_depth: number;
  metadata_values: number;
  page_size: number;
  wait_seconds: number;
  jobs_per_claim: number;
  reports_per_request: number;
  default_max_retries: number;
  max_losses: number;
  claim_secs: number;
  offline_after_min_secs: number;
  lease_min_secs: number;
  idempotency_hours: number;
  /** 0: ended batches are kept until they are deleted. */
  retain_days: number;
}

export interface HealthResponse {
  status: string;
}

// The runner side.

/** One attempt of one job: `attempt` grows by one with each claim of the job, from 1. */
export interface AttemptRef {
  job_id: Uuid;
  attempt: number;
}

export interface RegisterRequest {
  id: string;
  name?: string;
  capabilities: RunnerCapabilities;
  tags?: string[];
  /** A random string the runner process draws when it starts. */
  instance: string;
  heartbeat_interval_secs?: number;
  holding?: AttemptRef[];
  /** The instance this process knows to be dead and takes over from (same machine, same output root). */
  replaces?: string;
}

export interface RegisterResponse {
  runner: Runner;
  heartbeat_interval_secs: number;
  offline_after_secs: number;
  lease_secs: number;
  lost: AttemptRef[];
}

export interface HeartbeatRequest {
  instance: string;
  holding: AttemptRef[];
}

export interface CancelNotice extends AttemptRef {
  reason: string;
}

export interface HeartbeatResponse {
  runner: Runner;
  cancel: CancelNotice[];
  lost: AttemptRef[];
}

export interface ClaimRequest {
  instance: string;
  max_jobs: number;
  wait_seconds?: number;
  holding?: AttemptRef[];
}

export interface Assignment {
  job: Job;
  attempt: number;
}

export interface ClaimResponse {
  assignments: Assignment[];
  batches: Record<Uuid, { config: BatchConfig }>;
}

/** What a runner reports of a run; becomes a JobResult. */
export interface ReportedResult {
  execution_time_secs: number;
  output_files: string[];
  metadata: Record<string, unknown>;
  telemetry_data?: string | null;
}

export interface StartRequest {
  runner_id: string;
  attempt: number;
}

export interface CompleteRequest {
  runner_id: string;
  attempt: number;
  result: ReportedResult;
}

export interface FailRequest {
  runner_id: string;
  attempt: number;
  reason: FailReason;
  error_message: string;
  result?: ReportedResult;
}

export type Report =
  | { type: 'start'; job_id: Uuid; attempt: number }
  | { type: 'complete'; job_id: Uuid; attempt: number; result: ReportedResult }
  | { type: 'fail'; job_id: Uuid; attempt: number; reason: FailReason; error_message: string; result?: ReportedResult };

export interface ReportsRequest {
  instance: string;
  reports: Report[];
}

export type ReportOutcome = { job_id: Uuid; status: JobStatus } | { job_id: Uuid; problem: Problem };

export interface ReportsResponse {
  outcomes: ReportOutcome[];
}

export interface SignOffRequest {
  instance: string;
}

export interface CancelRequest {
  reason?: string;
}

/** One attempt in `GET /jobs/{job_id}/history`. */
export interface Attempt {
  attempt: number;
  runner_id: string;
  claimed_at: Timestamp;
  started_at?: Timestamp;
  ended_at?: Timestamp;
  /** Absent while the attempt is open. */
  outcome?: AttemptOutcome;
  reason?: string;
  message?: string;
}

/** How an attempt ended: `released` unstarted or handed back, `lost` with its runner, the others as the job status says. */
export const ATTEMPT_OUTCOMES = ['completed', 'failed', 'timeout', 'cancelled', 'released', 'lost'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export interface JobHistory {
  job_id: Uuid;
  status: JobStatus;
  retries: number;
  losses: number;
  /** Oldest first. The latest hundred; `attempts_omitted` says how many came before. */
  attempts: Attempt[];
  attempts_omitted: number;
}

/** One fault of a request: where (JSON Pointer into the body) and what. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** RFC 9457 problem details. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance?: string;
  /** kebab-case, documented one by one in docs/api.md. */
  code: string;
  errors?: Fault[];
}
