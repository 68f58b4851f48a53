/**
 * One run, executed on this machine for a person: the same contract as under a runner, nothing reported. Files and
 * printing are in `cli/`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SimbatchError } from '../domain/errors.ts';
import { RunConfigFile } from '../contract/records/run-config.ts';
import type { BatchConfig, JobRunConfig } from '../contract/types.ts';
import { schemaFaults } from '../contract/validation/validate.ts';
import { keepProcessAlive } from '../base/clock.ts';
import { parseExact } from '../base/json/exact-json.ts';
import type { Engine } from './config/config.ts';
import { Attempt } from './attempt/run-attempt.ts';
import type { ExecutionSite, ExecutionPlan } from './attempt/execution-site.ts';
import { AttemptActor } from './attempt-actor.ts';
import { containerOf, historiesOf, limitsOf } from './attempt/execution-plan.ts';
import type { AttemptEnd } from './attempt/outcome.ts';
import type { Sample } from './telemetry/sample.ts';

/** The parts of a study that matter to one run. */
export type StudyPart = Pick<BatchConfig, 'telemetry' | 'early_termination' | 'compute' | 'histories' | 'derived'>;

export interface LocalRun {
  runConfig: JobRunConfig;
  engine: Engine;
  /** Undefined: all telemetry is kept, nothing terminates early, no environment is added, no time limit. */
  study: StudyPart | undefined;
  /** The function of the study, of a simulation that is one. */
  code?: ExecutionPlan['code'];
  /** Absolute; must not exist. The run configuration file is written beside it. */
  directory: string;
}

const KEEP_ALL: BatchConfig['telemetry'] = {
  sampling_rate_hz: 0,
  variables: [],
  storage: { s3_bucket: '', s3_prefix: '', compression: 'none' },
  buffer_flush_interval_seconds: 1,
};

/** @throws SimbatchError `invalid-configuration` for a history or derived output that cannot be read. */
export function localPlan({ runConfig, engine, study, code, directory }: LocalRun): ExecutionPlan {
  const histories = study === undefined ? undefined : historiesOf(study);
  if (typeof histories === 'string') throw new SimbatchError('invalid-configuration', histories);
  return {
    histories,
    runConfig,
    engine,
    ...(code === undefined ? {} : { code }),
    directory,
    attempt: 1,
    runConfigPath: `${directory}.run_config.json`,
    telemetry: study?.telemetry ?? KEEP_ALL,
    earlyTermination: study?.early_termination ?? { enabled: false, check_frequency_hz: 0, conditions: [] },
    environment: study?.compute.container.environment ?? null,
    container: study && containerOf(study),
    limits: study === undefined ? {} : limitsOf(study),
    timeoutSecs: study?.compute.job_timeout_seconds ?? 0,
  };
}

/** Executes; when `stop` is aborted, everything is killed and the end is `abandoned`. */
export async function runLocally(site: ExecutionSite, run: LocalRun, stop: AbortSignal): Promise<AttemptEnd> {
  const endKeepAlive = keepProcessAlive();
  const actor = new AttemptActor({ job_id: 'local', attempt: 1 }, site.log);
  actor.send({ type: 'ACKNOWLEDGED' });
  const attempt = new Attempt(site, localPlan(run), actor);
  const abandon = (): void => {
    attempt.end('abandoned', 'interrupted');
  };
  stop.addEventListener('abort', abandon);
  try {
    return await attempt.run();
  } finally {
    endKeepAlive();
    stop.removeEventListener('abort', abandon);
  }
}

/** `<parent>/run-<run_id, 8 digits>` */
export const runDirectory = (parent: string, runId: number): string =>
  join(parent, `run-${String(runId).padStart(8, '0')}`);

/** The path, or with the first free suffix of `-2`, `-3`, ... */
export function freePlace(first: string): string {
  let directory = first;
  for (let number = 2; existsSync(directory); number++) directory = `${first}-${String(number)}`;
  return directory;
}

/**
 * Reads a run configuration file.
 * @param name of the file, for the error.
 * @throws SimbatchError `invalid-request` with every fault and its JSON Pointer.
 */
export function readRunConfig(text: string, name: string): JobRunConfig {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SimbatchError('invalid-request', `${name} is not JSON: ${why}`, { cause: error });
  }
  const faults = schemaFaults(RunConfigFile, value);
  if (faults.length > 0) throw new SimbatchError('invalid-request', `${name} is not a run configuration`, { faults });
  return value as JobRunConfig;
}

/** Prints at most so many lines per second of a stream of samples: the latest values of all variables. */
export class LiveTelemetry {
  readonly #latest = new Map<string, number>();
  readonly #nowMs: () => number;
  readonly #print: (line: string) => void;
  #nextMs = -Infinity;

  constructor(nowMs: () => number, print: (line: string) => void) {
    this.#nowMs = nowMs;
    this.#print = print;
  }

  readonly take = (sample: Sample): void => {
    for (let index = 0; index < sample.count; index++) {
      const name = sample.variables[index]?.name;
      if (name !== undefined) this.#latest.set(name, sample.values[index] ?? Number.NaN);
    }
    const nowMs = this.#nowMs();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + LINE_MS;
    const values = [...this.#latest].slice(0, MOST_VALUES).map(([name, value]) => `${name}=${value.toPrecision(6)}`);
    const more = this.#latest.size > MOST_VALUES ? ` and ${String(this.#latest.size - MOST_VALUES)} more` : '';
    this.#print(`t=${(Number(sample.timestampNs) / 1e9).toFixed(3)} s  ${values.join('  ')}${more}`);
  };
}

const LINE_MS = 200;
const MOST_VALUES = 8;
