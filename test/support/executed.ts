/** Executes a simulation once under the run contract, cold or warm, and returns all that it left. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Containers } from '../../src/runner/containers/containers.ts';
import type { AttemptEnd } from '../../src/runner/attempt/outcome.ts';
import { findPython } from '../../src/runner/launch/engine.ts';
import type { Engine } from '../../src/runner/config/config.ts';
import { Launchers, ONLY_COLD } from '../../src/runner/launch/launchers.ts';
import { runLocally, type StudyPart } from '../../src/runner/local-run.ts';
import { createLog } from '../../src/runner/log.ts';
import { openProcessTools } from '../../src/runner/processes/process-tools.ts';
import type { ProcessTools } from '../../src/runner/processes/process-scope.ts';
import { Waits } from '../../src/runner/waits.ts';

export interface Executed {
  end: AttemptEnd;
  /** Name in the output directory -> content, the logs included; the directory's path in it is replaced by `OUT`. */
  files: Record<string, string>;
}

/** The container of a run, and its limits. */
export interface Contained {
  containers?: Containers;
  image?: string;
  memoryLimit?: string;
  timeoutSecs?: number;
  /** The histories and derived outputs of its study. */
  declared?: Pick<StudyPart, 'histories' | 'derived'>;
}

/** A machine with one engine, for tests; `close` ends its processes. */
export class ExecutionBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-executed-'));
  log = '';
  readonly env: Record<string, string>;
  #launchers: Launchers | undefined;
  #processes: ProcessTools | undefined;
  #runs = 0;

  /**
   * @param env inherited by the simulations.
   * @param mode of its folder, for simulations that belong to another user.
   */
  constructor(env: Record<string, string> = {}, mode = 0o700) {
    chmodSync(this.folder, mode);
    this.env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1', ...env };
  }

  /** Keeps the engine warm from now on. */
  async warm(engine: Engine, clock: Clock = systemClock): Promise<Launchers> {
    const python = await findPython(undefined, this.env['PATH'] ?? '');
    const common = {
      python,
      env: this.env,
      cwd: this.folder,
      clock,
      slots: 2,
      log: this.#log(),
    };
    this.#launchers = new Launchers({ engines: [engine], ...common });
    await this.#launchers.open(async () => undefined);
    return this.#launchers;
  }

  /** Executes run `runId` of the engine; warm when it says so and `warm` was called. */
  async execute(
    engine: Engine,
    environment: Record<string, string> = {},
    runId = 3,
    { containers, ...compute }: Contained = {},
  ): Promise<Executed> {
    this.#runs += 1;
    const directory = join(this.folder, `run-${String(this.#runs)}`);
    const log = this.#log();
    this.#processes ??= openProcessTools('off', this.folder, log);
    const launchers = engine.warm === true ? this.#launchers : ONLY_COLD;
    if (launchers === undefined) throw new Error('call warm first');
    const python = await findPython(undefined, this.env['PATH'] ?? '');
    const end = await runLocally(
      {
        clock: systemClock,
        log,
        waits: new Waits(systemClock),
        processes: this.#processes,
        launchers,
        python: python?.executable,
        env: this.env,
        environmentAllowed: ['*'],
        workingDirectory: this.folder,
        containers,
      },
      { runConfig: runConfig(runId), engine, study: study(environment, compute), directory },
      new AbortController().signal,
    );
    // A run that is refused has no directory.
    const names = existsSync(directory) ? readdirSync(directory).toSorted() : [];
    const contents = names.map((name) => [name, this.#content(directory, name)]);
    return { end, files: Object.fromEntries(contents) as Record<string, string> };
  }

  close(): void {
    this.#launchers?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #content(directory: string, name: string): string {
    return readFileSync(join(directory, name), 'latin1').replaceAll(directory, 'OUT');
  }

  #log(): ReturnType<typeof createLog> {
    return createLog({ write: (line) => void (this.log += line) }, { format: 'text', level: 'info' });
  }
}

function runConfig(runId: number) {
  return {
    run_id: runId,
    parameters: { mass: 1.5 },
    metadata: {
      simulation_name: 'test',
      simulation_version: '1',
      duration_minutes: 1,
      sampling_method: 'monte_carlo' as const,
      generated_at: '2026-01-01T00:00:00Z',
      seed: 42,
    },
  };
}

function study(
  environment: Record<string, string>,
  { image, memoryLimit, timeoutSecs, declared = {} }: Omit<Contained, 'containers'>,
) {
  return {
    ...declared,
    telemetry: {
      sampling_rate_hz: 0,
      variables: [],
      storage: { s3_bucket: '', s3_prefix: '', compression: 'none' as const },
      buffer_flush_interval_seconds: 1,
    },
    early_termination: { enabled: false, check_frequency_hz: 0, conditions: [] },
    compute: {
      container: {
        image: image ?? 'none',
        cpu_request: '0',
        memory_request: '0',
        environment,
        ...(memoryLimit === undefined ? {} : { memory_limit: memoryLimit }),
      },
      max_parallel_jobs: 0,
      job_timeout_seconds: timeoutSecs ?? 60,
    },
  };
}
