/** A real coordinator with the dashboard, and scripted runners: for browser tests, screenshots and load. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Assignment, BatchSubmission, Report } from '../../src/contract/types.ts';
import { Access } from '../../src/http/security/auth.ts';
import { startHttp, type HttpServer } from '../../src/http/server.ts';
import { packageRoot } from '../../src/base/package.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { Tokens } from '../../src/coordinator/kernel/storage/tokens.ts';
import { systemClock } from '../../src/base/clock.ts';
import { EXTRACTION_FEATURE, HISTORIES_FEATURE, SCENARIOS_FEATURE } from '../../src/domain/histories/feature.ts';
import { encodeHistory } from '../../src/domain/histories/values.ts';
import { seededRandom } from './simulated-clock.ts';

export const webRoot = join(packageRoot, 'dist/web');

export interface WebServer {
  url: string;
  /** The data directory. */
  folder: string;
  coordinator: Coordinator;
  /** Stops listening and listens again on the same port, as after a restart of the network in between. */
  interrupt(ms: number): Promise<void>;
  close(): Promise<void>;
}

const quiet = { debug: () => {}, info: () => {}, error: () => {} };

function accessTo(folder: string): Access {
  const now = (): number => systemClock.now();
  return new Access({ tokens: new Tokens(folder, now, () => {}), isOpenWithoutTokens: true, now });
}

export interface WebOptions {
  /** Requires tokens of the data directory `folder`, once there are some. */
  withTokens?: boolean;
  /** The prefix of its addresses. */
  basePath?: string;
  /** Of the coordinator. */
  settings?: Parameters<typeof openCoordinator>[2];
}

export async function startWeb({
  withTokens = false,
  basePath = '',
  settings = {},
}: WebOptions = {}): Promise<WebServer> {
  const folder = await mkdtemp(join(tmpdir(), 'simbatch-web-'));
  const coordinator = await openCoordinator(await openStore(folder), systemClock, settings);
  const listen = (port: number): Promise<HttpServer> =>
    startHttp({
      coordinator,
      live: coordinator,
      webRoot,
      host: '127.0.0.1',
      port,
      basePath,
      log: quiet,
      clock: systemClock,
      ...(withTokens ? { access: accessTo(folder) } : {}),
    });
  let http = await listen(0);
  return {
    url: http.url,
    folder,
    coordinator,
    async interrupt(ms) {
      const { port } = http;
      await http.close(0);
      await new Promise((resolve) => setTimeout(resolve, ms));
      http = await listen(port);
    },
    async close() {
      coordinator.releaseWaiting();
      await http.close(0);
      await coordinator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The outcome of one run, in place of a simulation. */
export type Outcome =
  | { metadata: Record<string, number>; histories?: Record<string, readonly number[]> }
  | { message: string; reason: 'exit' | 'signal' | 'early_termination' | 'timeout' | 'files-gone' };

export interface ScriptOptions {
  id: string;
  places: number;
  /** From the start of a run to its end. */
  runMs: number;
  outcome: (assignment: Assignment) => Outcome;
  name?: string;
  tags?: string[];
  /** The path that it reports for the telemetry of each run. */
  telemetry?: string;
}

export interface ScriptedRunner {
  stop(): Promise<void>;
}

function resultOf({ metadata, histories }: Extract<Outcome, { metadata: unknown }>) {
  if (histories === undefined) return { metadata };
  const encoded = Object.entries(histories).map(([name, values]) => [name, encodeHistory(values)]);
  return { metadata, histories: Object.fromEntries(encoded) as Record<string, string> };
}

/** A runner that claims, starts and reports like the real one, without simulations. */
export async function scriptedRunner(coordinator: Coordinator, options: ScriptOptions): Promise<ScriptedRunner> {
  const { id, places, runMs } = options;
  const instance = `script-${id}`;
  const random = seededRandom(id.length + places);
  const capabilities = {
    max_concurrent_jobs: places,
    cpu_cores: places,
    memory_gb: 16,
    gpu_available: false,
    supported_simulation_types: [],
    features: [HISTORIES_FEATURE, EXTRACTION_FEATURE, SCENARIOS_FEATURE],
  };
  await coordinator.register({ id, name: options.name ?? id, tags: options.tags ?? [], instance, capabilities });
  const holding = new Map<string, number>();
  const timers = new Set<NodeJS.Timeout>();
  const stopping = new AbortController();
  const reported = async (reports: Report[]): Promise<void> =>
    void (await coordinator.reports(id, { instance, reports }));
  const later = (ms: number, action: () => Promise<void>): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action().catch(() => {});
    }, ms);
    timers.add(timer);
  };
  const execute = async (it: Assignment): Promise<void> => {
    const { job, attempt } = it;
    await reported([{ type: 'start', job_id: job.id, attempt }]);
    later(runMs * (0.5 + random()), async () => {
      holding.delete(job.id);
      const outcome = options.outcome(it);
      const ran = {
        execution_time_secs: Math.round(runMs / 1000),
        output_files: [`/data/${id}/${job.id}/trajectory.csv`],
        ...(options.telemetry === undefined ? {} : { telemetry_data: options.telemetry }),
      };
      await reported([
        'metadata' in outcome
          ? { type: 'complete', job_id: job.id, attempt, result: { ...ran, ...resultOf(outcome) } }
          : { type: 'fail', job_id: job.id, attempt, reason: outcome.reason, error_message: outcome.message },
      ]);
    });
  };
  const refs = (): { job_id: string; attempt: number }[] =>
    [...holding].map(([job_id, attempt]) => ({ job_id, attempt }));
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const max_jobs = Math.max(1, places - holding.size);
      const request = { instance, max_jobs, wait_seconds: 1, holding: refs() };
      const { assignments } = await coordinator.claim(id, request, stopping.signal);
      for (const it of assignments) {
        holding.set(it.job.id, it.attempt);
        void execute(it).catch(() => {});
      }
      if (assignments.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const beat = setInterval(() => void coordinator.heartbeat(id, { instance, holding: refs() }).catch(() => {}), 2_000);
  const working = work().catch(() => {});
  return {
    async stop() {
      clearInterval(beat);
      for (const timer of timers) clearTimeout(timer);
      stopping.abort();
      await working;
    },
  };
}

/** A study of a descent: five dispersions, three outputs that depend on them. */
export function descentStudy(
  name: string,
  runs: number,
  extra: Partial<BatchSubmission['config']['compute']> = {},
): BatchSubmission {
  return {
    name,
    config: {
      simulation: { name: 'descent', version: '2.3', duration_minutes: 12 },
      monte_carlo: { runs, sampling_method: 'latin_hypercube', seed: 20260301 },
      dispersions: {
        entry_speed: { distribution: { type: 'normal', mean: 7_450, std_dev: 35 }, units: 'm/s' },
        entry_angle: { distribution: { type: 'normal', mean: -1.35, std_dev: 0.05 }, units: 'deg' },
        drag_factor: { distribution: { type: 'uniform', min: 0.92, max: 1.08 }, units: '' },
        gust_speed: { distribution: { type: 'gamma', shape: 2.4, scale: 3.1 }, units: 'm/s' },
        chute_delay: { distribution: { type: 'exponential', lambda: 1.8 }, units: 's' },
        vehicle_mass: { distribution: { type: 'fixed', value: 2_140 }, units: 'kg' },
      },
      compute: {
        container: { image: 'none', cpu_request: '1', memory_request: '512Mi' },
        max_parallel_jobs: 0,
        job_timeout_seconds: 900,
        max_retries: 0,
        ...extra,
      },
      early_termination: {
        enabled: true,
        check_frequency_hz: 10,
        conditions: [{ variable: 'altitude', condition: '< -5', description: 'below ground' }],
      },
      telemetry: {
        sampling_rate_hz: 10,
        variables: ['altitude', 'speed'],
        storage: { s3_bucket: '', s3_prefix: '', compression: 'snappy' },
        buffer_flush_interval_seconds: 5,
      },
    },
  };
}

/** Returns the outputs of such a run: a pure function of its parameters. */
export function descent({ job }: Assignment): Outcome {
  const {
    entry_speed = 0,
    entry_angle = 0,
    drag_factor = 1,
    gust_speed = 0,
    chute_delay = 0,
  } = job.run_config.parameters;
  const run = job.run_config.run_id;
  const miss = Math.abs((entry_angle + 1.35) * 95 + (drag_factor - 1) * 120 + gust_speed * 0.9 - 6);
  const heat = 310 + (entry_speed - 7_450) * 0.31 - (entry_angle + 1.35) * 160;
  if (gust_speed > 20)
    return {
      reason: 'exit',
      message: `Traceback (most recent call last):\n  File "/opt/descent/guidance.py", line 214, in step\n    raise Divergence(t, rate)\nguidance.Divergence: attitude rate ${(gust_speed * 1.7).toFixed(2)} rad/s at t=${(300 + chute_delay * 9).toFixed(1)} s exceeds 30`,
    };
  if (heat > 352)
    return {
      reason: 'early_termination',
      message: `altitude < -5 (below ground) was met at ${(heat * 1.9).toFixed(2)} s: altitude was -5.${run % 90}`,
    };
  if (chute_delay > 2.6)
    return {
      reason: 'exit',
      message: `the simulation exited with code 3: chute torn at ${(chute_delay * 61).toFixed(1)} kPa`,
    };
  return {
    metadata: {
      miss_distance: miss,
      peak_heat_rate: heat,
      touchdown_speed: 4.8 + gust_speed * 0.21 + chute_delay * 0.6,
    },
  };
}
