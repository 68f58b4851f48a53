/** Studies for measuring: jobs that do nothing, with as many dispersed parameters as a real study has. */
import type { Client } from '../../src/client/client.ts';
import type { BatchSubmission, DispersionConfig, RegisterRequest, Uuid } from '../../src/contract/types.ts';

const DISPERSIONS: Record<string, DispersionConfig> = {
  mass: { distribution: { type: 'normal', mean: 1200, std_dev: 15 }, units: 'kg' },
  drag: { distribution: { type: 'normal', mean: 0.32, std_dev: 0.02 }, units: '' },
  wind_speed: { distribution: { type: 'uniform', min: 0, max: 12 }, units: 'm/s' },
  wind_direction: { distribution: { type: 'uniform', min: 0, max: 360 }, units: 'deg' },
  launch_angle: { distribution: { type: 'normal', mean: 84, std_dev: 0.5 }, units: 'deg' },
  chute_delay: { distribution: { type: 'exponential', lambda: 4 }, units: 's' },
};

/** Two parameters, as the peers have them. */
export const MASS_AND_WIND: Record<string, DispersionConfig> = {
  mass: { distribution: { type: 'normal', mean: 45, std_dev: 0.4 }, units: 'kg' },
  wind: { distribution: { type: 'gamma', shape: 4, scale: 1 }, units: 'm/s' },
};

/** A study of `runs` runs, with six dispersions where no others are given. */
export function study(runs: number, name = 'bench', dispersions = DISPERSIONS): BatchSubmission {
  return {
    name,
    config: {
      simulation: { name: 'nothing', version: '1', duration_minutes: 1 },
      monte_carlo: { runs, sampling_method: 'monte_carlo', seed: 42 },
      dispersions,
      compute: {
        container: { image: 'none', cpu_request: '0', memory_request: '0' },
        max_parallel_jobs: 0,
        job_timeout_seconds: 3600,
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
}

/** The outcome of a run without a simulation: as long as that of a small real one. */
export const RESULT = {
  execution_time_secs: 1,
  output_files: ['/var/lib/simbatch/out/run/trajectory.csv'],
  metadata: { apogee_m: 8123.25, miss_distance_m: 412.5 },
  telemetry_data: null,
};

export function registration(id: string, maxConcurrentJobs: number): RegisterRequest & { name: string } {
  return {
    id,
    name: id,
    instance: `instance-of-${id}`,
    capabilities: {
      max_concurrent_jobs: maxConcurrentJobs,
      cpu_cores: 0,
      memory_gb: 0,
      gpu_available: false,
      supported_simulation_types: [],
    },
  };
}

/** Submits the study and waits until all its runs have completed. @throws Error when it ends otherwise */
export async function completed(client: Client, submission: BatchSubmission): Promise<Uuid> {
  const { batch_id: batchId } = await client.submit(submission);
  for (;;) {
    const { status } = (await client.batch(batchId, 30)).batch;
    if (status === 'Completed') return batchId;
    if (status === 'Failed' || status === 'Cancelled') throw new Error(`the study is ${status}`);
  }
}
