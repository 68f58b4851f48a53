/** Valid studies for tests, which change single members. */
import type { BatchConfig, BatchSubmission } from '../../src/contract/types.ts';

type Deep<T> = T extends unknown[] ? T : T extends object ? { [K in keyof T]?: Deep<T[K]> } : T;

export interface StudyOptions {
  name?: string;
  runs?: number;
  runsOverride?: number;
  simulation?: string;
  maxParallelJobs?: number;
  timeoutSecs?: number;
  maxRetries?: number;
  seed?: number | bigint | null;
  cpu?: string;
  memory?: string;
  config?: Deep<BatchConfig>;
  policy?: BatchSubmission['policy'];
  requirements?: BatchSubmission['requirements'];
}

/** A valid submission with two dispersions. */
export function study(options: StudyOptions = {}): BatchSubmission {
  const submission: BatchSubmission = {
    name: options.name ?? 'a study',
    config: {
      simulation: { name: options.simulation ?? 'rocket', version: '1.0', duration_minutes: 1 },
      monte_carlo: {
        runs: options.runs ?? 10,
        sampling_method: 'monte_carlo',
        seed: options.seed === undefined ? 42 : options.seed,
      },
      dispersions: {
        mass: { distribution: { type: 'normal', mean: 100, std_dev: 2 }, units: 'kg' },
        wind: { distribution: { type: 'uniform', min: -5, max: 5 }, units: 'm/s' },
      },
      compute: {
        container: { image: 'none', cpu_request: options.cpu ?? '0', memory_request: options.memory ?? '0' },
        max_parallel_jobs: options.maxParallelJobs ?? 0,
        job_timeout_seconds: options.timeoutSecs ?? 0,
      },
      early_termination: { enabled: false, check_frequency_hz: 1, conditions: [] },
      telemetry: {
        sampling_rate_hz: 10,
        variables: [],
        storage: { s3_bucket: '', s3_prefix: '', compression: 'none' },
        buffer_flush_interval_seconds: 1,
      },
    },
  };
  if (options.maxRetries !== undefined) submission.config.compute.max_retries = options.maxRetries;
  if (options.runsOverride !== undefined) submission.runs_override = options.runsOverride;
  merge(submission.config, options.config ?? {});
  if (options.policy !== undefined) submission.policy = options.policy;
  if (options.requirements !== undefined) submission.requirements = options.requirements;
  return submission;
}

function merge(target: object, changes: object): void {
  for (const [name, value] of Object.entries(changes)) {
    const known = (target as Record<string, unknown>)[name];
    if (
      known !== null &&
      typeof known === 'object' &&
      value !== null &&
      typeof value === 'object' &&
      !Array.isArray(value)
    ) {
      merge(known, value);
    } else (target as Record<string, unknown>)[name] = value;
  }
}
