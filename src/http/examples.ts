/** An example of each request body, for the description of the API, by the name of its schema. */

const JOB = '019a2f4e-6b1c-8d2e-9f3a-5b6c00000012';
const INSTANCE = '5f0c7c1e-2d5b-4c8e-9a43-1f6f1f0e7f11';
const ALLOCATION = 'slurm/main/a1b2c3d4e5f6';
const RESULT = {
  execution_time_secs: 12,
  output_files: ['/data/lab-3/trajectory.csv'],
  metadata: { apogee_m: 6400.5, range_m: 1310 },
};
const CHECKPOINT_FILE = {
  path: 'state.pickle',
  bytes: 5,
  sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
};

export const EXAMPLES: Readonly<Record<string, unknown>> = {
  BatchSubmission: {
    name: 'sounding rocket, first look',
    config: {
      simulation: { name: 'rocket', version: '1.0', duration_minutes: 5 },
      monte_carlo: { runs: 1000, sampling_method: 'latin_hypercube', seed: 42 },
      dispersions: {
        mass: { distribution: { type: 'normal', mean: 45, std_dev: 0.4 }, units: 'kg' },
        wind: { distribution: { type: 'uniform', min: 0, max: 12 }, units: 'm/s' },
      },
      compute: {
        container: { image: 'rocket:1.0', cpu_request: '500m', memory_request: '256Mi' },
        max_parallel_jobs: 0,
        job_timeout_seconds: 600,
      },
      early_termination: {
        enabled: true,
        check_frequency_hz: 1,
        conditions: [{ variable: 'altitude', condition: '< -10', description: 'below ground' }],
      },
      telemetry: {
        sampling_rate_hz: 10,
        variables: [],
        storage: { s3_bucket: '', s3_prefix: '', compression: 'gzip' },
        buffer_flush_interval_seconds: 5,
      },
    },
    requirements: [
      { name: 'lands in the area', output: 'range_m', condition: '<= 2500', probability: 0.9, confidence: 0.95 },
    ],
  },
  CancelRequest: { reason: 'the wind model is wrong' },
  JudgementRequest: {
    requirements: [{ name: 'lands in the area', output: 'range_m', condition: '<= 2000', probability: 0.9 }],
    labels: { campaign: '2026-q4' },
  },
  ExtendRequest: { runs: 2000 },
  ViewRequest: { name: 'strong gusts', query: 'select=p.gust_speed:10..20' },
  RerunRequest: { select: { states: ['Failed', 'Timeout'] }, simulation_version: '1.1' },
  AuditRequest: { fraction: 0.05, seed: 7 },
  ExtractionRequest: { derived: [{ name: 'peak_m', take: 'max', telemetry: 'altitude_m' }] },
  RegisterRequest: {
    id: 'lab-3',
    instance: INSTANCE,
    capabilities: {
      max_concurrent_jobs: 8,
      cpu_cores: 8,
      memory_gb: 32,
      gpu_available: false,
      supported_simulation_types: ['rocket'],
    },
    tags: ['lab'],
  },
  HeartbeatRequest: { instance: INSTANCE, holding: [{ job_id: JOB, attempt: 1 }] },
  ClaimRequest: { instance: INSTANCE, max_jobs: 4, wait_seconds: 20 },
  ReportsRequest: {
    instance: INSTANCE,
    reports: [
      { type: 'start', job_id: JOB, attempt: 1 },
      { type: 'complete', job_id: JOB, attempt: 1, result: RESULT },
    ],
  },
  RoundRequest: {
    key: 'generation-0',
    rows: [{ r: 0.22 }, { r: 0.25 }],
    label: 'first guesses',
  },
  EvaluationRequest: { rows: [{ r: 0.22 }, { r: 0.25 }], outputs: ['miss_m'] },
  UploadRequest: {
    runner_id: 'lab-3',
    attempt: 1,
    files: [{ path: 'trajectory.csv', size: 5, sha256: CHECKPOINT_FILE.sha256 }],
  },
  UploadCompleteRequest: {
    runner_id: 'lab-3',
    attempt: 1,
    files: [{ path: 'trajectory.csv', upload_id: 'WyIyfm', etags: ['5d41402abc4b2a76b9719d911017c592'] }],
    failed: [],
  },
  CheckpointRequest: { runner_id: 'lab-3', attempt: 2 },
  ParentFilesRequest: { runner_id: 'lab-3', attempt: 1 },
  CheckpointUploadRequest: { runner_id: 'lab-3', attempt: 1, files: [CHECKPOINT_FILE] },
  CheckpointCompleteRequest: {
    runner_id: 'lab-3',
    attempt: 1,
    number: 1,
    files: [{ ...CHECKPOINT_FILE, upload_id: 'WyIyfm', etags: ['5d41402abc4b2a76b9719d911017c592'] }],
  },
  FileRequestsRequest: { instance: INSTANCE, wait_seconds: 20, holding: [] },
  AllocationTokensRequest: {
    allocations: [{ allocation: ALLOCATION, runner_id: 'main-a1b2c3d4e5f6', lifetime_secs: 3600 }],
  },
  AllocationsEndedRequest: { allocations: [ALLOCATION] },
  LauncherReport: { launcher: 'lab', poll_seconds: 5, problems: [], queues: [], unserved: [], allocations: [] },
  SignOffRequest: { instance: INSTANCE },
  StartRequest: { runner_id: 'lab-3', attempt: 1 },
  CompleteRequest: { runner_id: 'lab-3', attempt: 1, result: RESULT },
  FailRequest: { runner_id: 'lab-3', attempt: 1, reason: 'exit', error_message: 'the simulation exited with code 3' },
};
