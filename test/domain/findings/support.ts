/** Situations of studies for the tests of findings. */
import type { Situation } from '../../../src/domain/findings/finding.ts';
import type { JobStatus, Runner, RunnerStatus } from '../../../src/contract/types.ts';

export interface RunnerSketch {
  id?: string;
  status?: RunnerStatus;
  takes?: string[];
  jobs?: number;
  slots?: number;
  cores?: number;
  memory?: number;
  because?: string;
  lost?: number;
  ends?: string;
  disk?: number;
  offset?: number;
  runtime?: string;
  allows?: string[];
  images?: string[];
  engines?: Runner['engines'];
  features?: string[];
  resources?: Record<string, number>;
  onlyWith?: string[];
}

export function runner({
  id = 'r1',
  status = 'Idle',
  takes = [],
  jobs = 0,
  slots = 2,
  cores = 0,
  memory = 0,
  because,
  lost,
  ends,
  disk,
  offset,
  runtime,
  allows,
  images,
  engines,
  features,
  resources,
  onlyWith,
}: RunnerSketch): Runner {
  return {
    id,
    name: id,
    status,
    capabilities: {
      max_concurrent_jobs: slots,
      cpu_cores: cores,
      memory_gb: memory,
      gpu_available: false,
      supported_simulation_types: takes,
      ...(runtime === undefined ? {} : { container_runtime: runtime }),
      ...(allows === undefined ? {} : { environment_allowed: allows }),
      ...(images === undefined ? {} : { container_images: images }),
      ...(features === undefined ? {} : { features }),
      ...(resources === undefined ? {} : { resources }),
      ...(onlyWith === undefined ? {} : { only_with: onlyWith }),
    },
    ...(engines === undefined ? {} : { engines }),
    current_jobs: Array.from({ length: jobs }, (_, at) => `job-${at}`),
    tags: [],
    registered_at: '2026-03-01T12:00:00.000Z',
    last_heartbeat: '2026-03-01T12:34:56.000Z',
    total_jobs_completed: 0,
    total_jobs_failed: 0,
    accepting_jobs: status !== 'Maintenance',
    ...(because === undefined ? {} : { drain_reason: because }),
    ...(lost === undefined ? {} : { slots_lost: lost }),
    ...(ends === undefined ? {} : { ends_at: ends }),
    ...(disk === undefined ? {} : { disk_free_bytes: disk }),
    ...(offset === undefined ? {} : { clock_offset_secs: offset }),
  };
}

export const BATCH_ID = '0199a000-0000-8000-8000-000000000000';
const NO_JOBS = { Pending: 0, Claimed: 0, Running: 0, Completed: 0, Failed: 0, Timeout: 0, Cancelled: 0 };
export const NO_ATTEMPTS: Situation['attempts'] = {
  finished: 0,
  retried: 0,
  isSample: false,
  recent: { finished: 0, runners: 0, commonFailure: undefined },
};

/** A running study without limits, of the simulation "rocket". */
export function situation(
  jobs: Partial<Record<JobStatus, number>>,
  runners: RunnerSketch[] = [],
  rest: Partial<Situation> = {},
): Situation {
  return {
    batchId: BATCH_ID,
    needs: undefined,
    declared: {},
    batchStatus: 'Running',
    jobsByStatus: { ...NO_JOBS, ...jobs },
    simulation: 'rocket',
    image: undefined,
    codes: [],
    pin: { pinsCode: undefined, pinnedCode: undefined },
    container: { environment: null, image: '' },
    maxParallelJobs: 0,
    demand: { cpuMilli: 2000, memoryBytes: 2 * 1024 ** 3 },
    runLength: { timeLimitMs: 0, meanMs: 0 },
    now: Date.parse('2026-03-01T12:35:00.000Z'),
    runners: runners.map(runner),
    earlyTermination: { enabled: false, check_frequency_hz: 10, conditions: [] },
    variables: [],
    telemetry: undefined,
    attempts: NO_ATTEMPTS,
    failingRunners: [],
    isGuarded: false,
    storeFreeBytes: undefined,
    ...rest,
  };
}
