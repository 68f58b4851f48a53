/**
 * One attempt, from an empty directory to what is reported of it: the run contract of the specification. Knows nothing of
 * the coordinator; the runner and `simbatch run-one` execute by the same code.
 */
import { mkdir, statfs, writeFile } from 'node:fs/promises';
import { SimbatchError } from '../../domain/errors.ts';
import { stringifyExact } from '../../base/json-writing.ts';
import type {
  EarlyTerminationConfig,
  FailReason,
  JobRunConfig,
  ReportedResult,
  TelemetryConfig,
} from '../../contract/types.ts';
import { collectArtifacts } from './artifacts.ts';
import type { Engine } from '../config/config.ts';
import { environmentFault } from './environment.ts';
import { commandOf, entrypointFault, launchFault } from './engine.ts';
import { measuredMembers, telemetryNotes } from './measured.ts';
import { isPeerOfRun } from './peer-process.ts';
import type { Log } from '../log.ts';
import { SimulationProcess } from './simulation-process.ts';
import type { Ending } from './simulation-process.ts';
import { isDiskFull, oneLine } from '../system-error.ts';
import { newTelemetryToken } from '../telemetry/access.ts';
import type { Sample } from '../telemetry/sample.ts';
import { startTelemetry } from '../telemetry/server.ts';
import type { Telemetry, TelemetrySummary } from '../telemetry/server.ts';
import { describeHit } from '../telemetry/early-termination.ts';
import type { Clock } from '../../base/clock.ts';

/** What is to be executed. */
export interface ExecutionPlan {
  runConfig: JobRunConfig;
  telemetry: TelemetryConfig;
  earlyTermination: EarlyTerminationConfig;
  /** `compute.container.environment`. */
  environment: Readonly<Record<string, string>> | null;
  /** 0: no limit. */
  timeoutSecs: number;
  engine: Engine;
  /** The output directory; must not exist yet. Absolute. */
  directory: string;
  /** Where the run configuration file is written. Absolute, outside the output directory. */
  runConfigPath: string;
}

/** What this machine contributes. */
export interface ExecutionSite {
  clock: Clock;
  log: Log;
  /** The interpreter of .py entrypoints, when there is one. */
  python: string | undefined;
  /** The environment simulations inherit; see `inheritedEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** Patterns of variables that studies may set besides the default ones. */
  environmentAllowed: readonly string[];
  workingDirectory: string;
  /** Told of each telemetry sample as it comes; for a person who watches. */
  onSample?: (sample: Sample) => void;
}

export type AttemptEnd =
  | { type: 'complete'; result: ReportedResult }
  | { type: 'fail'; reason: FailReason; error_message: string; result?: ReportedResult }
  /** Killed because nobody wants it any more; nothing is to be reported. */
  | { type: 'abandoned' };

/** Below this the disk counts as full when a simulation fails. */
const FULL_BYTES = 1 << 20;
const MESSAGE_BYTES = 4096;

const SIGNAL_WORDS: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: 'it aborted itself, e.g. by a failed assertion',
  SIGBUS: 'bad memory access',
  SIGFPE: 'arithmetic error',
  SIGILL: 'illegal instruction',
  SIGKILL: 'not by the runner: perhaps the machine ran out of memory',
  SIGSEGV: 'segmentation fault',
  SIGXCPU: 'CPU time limit',
  SIGXFSZ: 'file size limit',
};

type Kill = { type: 'abandoned' } | { type: 'timeout' } | { type: 'early_termination'; message: string };

/** One use: `run` once; `abandon` at any time. */
export class Attempt {
  readonly #site: ExecutionSite;
  readonly #order: ExecutionPlan;
  #simulation: SimulationProcess | undefined;
  #killedFor: Kill | undefined;

  constructor(site: ExecutionSite, order: ExecutionPlan) {
    this.#site = site;
    this.#order = order;
  }

  /** The leader of the simulation's process group, while there is one. */
  get pid(): number | undefined {
    return this.#simulation?.pid;
  }

  /** Ends it without an outcome: `run` resolves with `abandoned` once everything is dead. */
  abandon(): void {
    this.#kill({ type: 'abandoned' });
  }

  /**
   * Never rejects for anything the simulation or the machine does: that becomes a `fail`.
   * @param launched called once the process exists, before it is waited for.
   */
  async run(launched: (pid: number) => Promise<void> = async () => {}): Promise<AttemptEnd> {
    const invalid = planFault(this.#order, this.#site.environmentAllowed);
    if (invalid !== undefined) return { type: 'fail', reason: 'invalid', error_message: invalid };
    try {
      const absent = await entrypointFault(this.#order.engine.entrypoint, this.#site.python);
      if (absent !== undefined) return infrastructure(absent);
      await prepare(this.#order);
      return await this.#execute(launched);
    } catch (error) {
      await this.#simulation?.kill();
      if (isDiskFull(error)) return infrastructure(`the disk of ${this.#order.directory} is full`);
      return infrastructure(`the runner could not execute the run: ${oneLine(error)}`);
    }
  }

  async #execute(launched: (pid: number) => Promise<void>): Promise<AttemptEnd> {
    const { clock, log, env, workingDirectory } = this.#site;
    const { engine, directory, runConfigPath, environment, timeoutSecs } = this.#order;
    if (this.#killedFor !== undefined) return { type: 'abandoned' };
    const launch = commandOf(engine.entrypoint, this.#site.python);
    if (launch === undefined) return infrastructure('no Python was found');
    const token = newTelemetryToken(clock);
    const telemetry = await this.#startTelemetry(token);
    if ('fault' in telemetry) return { type: 'fail', reason: telemetry.reason, error_message: telemetry.fault };
    const contract = {
      SVC_RUN_CONFIG: runConfigPath,
      SVC_TELEMETRY_URL: telemetry.url,
      SVC_TELEMETRY_TOKEN: token,
      SVC_OUTPUT_DIR: directory,
    };
    const since = clock.monotonicMs();
    const simulation = new SimulationProcess(clock, log, {
      ...launch,
      env: { ...env, ...environment, ...contract },
      cwd: workingDirectory,
      directory,
    });
    this.#simulation = simulation;
    const callOff =
      timeoutSecs > 0 ? clock.after(timeoutSecs * 1000, () => this.#kill({ type: 'timeout' })) : undefined;
    try {
      if (simulation.pid !== undefined) await launched(simulation.pid);
      const ending = await simulation.ended;
      const elapsedMs = clock.monotonicMs() - since;
      callOff?.();
      // Judges the conditions a last time: a run that met one and ended by itself before the check has failed all the same.
      const summary = await telemetry.close();
      return await this.#conclude(simulation, ending, launch.command, elapsedMs, summary);
    } finally {
      callOff?.();
      await telemetry.close();
    }
  }

  async #startTelemetry(token: string): Promise<Telemetry | { fault: string; reason: FailReason }> {
    const { telemetry, earlyTermination, directory } = this.#order;
    const { clock, onSample } = this.#site;
    try {
      return await startTelemetry({
        telemetry,
        earlyTermination,
        directory,
        world: clock,
        token,
        isOwnPeer: async (peerPort, ownPort) => {
          const pid = this.#simulation?.pid;
          return pid !== undefined && isPeerOfRun(pid, directory, peerPort, ownPort);
        },
        onConditionMet: (hit) => {
          this.#kill({ type: 'early_termination', message: describeHit(hit) });
        },
        ...(onSample === undefined ? {} : { onSample }),
      });
    } catch (error) {
      const reason =
        error instanceof SimbatchError && error.code === 'invalid-configuration' ? 'invalid' : 'infrastructure';
      return { reason, fault: `telemetry could not be started: ${oneLine(error)}` };
    }
  }

  #kill(why: Kill): void {
    // What has ended by itself in time has its own outcome.
    if (why.type === 'timeout' && this.#simulation?.exited === true) return;
    this.#killedFor ??= why;
    void this.#simulation?.kill();
  }

  async #conclude(
    simulation: SimulationProcess,
    ending: Ending,
    command: string,
    elapsedMs: number,
    telemetry: TelemetrySummary,
  ): Promise<AttemptEnd> {
    const killedFor = this.#killedFor;
    if (killedFor?.type === 'abandoned') return killedFor;
    if (ending.type === 'failed-to-start') {
      const why = await launchFault(ending.code, command, this.#site.workingDirectory);
      return ending.code === 'E2BIG' ? { type: 'fail', reason: 'invalid', error_message: why } : infrastructure(why);
    }
    const { directory, timeoutSecs } = this.#order;
    const { files, metadata, notes } = await collectArtifacts(directory);
    if (simulation.logFault !== undefined) notes.push(`its output could not be logged: ${simulation.logFault.message}`);
    notes.push(...telemetryNotes(telemetry));
    const result: ReportedResult = {
      execution_time_secs: Math.round(elapsedMs / 1000),
      output_files: files,
      metadata: notes.length === 0 ? metadata : { ...metadata, simbatch_notes: notes },
      ...(telemetry.location === null ? {} : { telemetry_data: telemetry.location }),
      ...measuredMembers(elapsedMs, telemetry, killedFor?.type === 'early_termination'),
    };
    const failed = (reason: FailReason, message: string): AttemptEnd => {
      const lines = simulation.lastLines(MESSAGE_BYTES);
      return { type: 'fail', reason, error_message: lines === '' ? message : `${message}\n${lines}`, result };
    };
    if (killedFor?.type === 'timeout')
      return failed('timeout', `killed after its time limit of ${String(timeoutSecs)} s`);
    if (killedFor?.type === 'early_termination') return failed('early_termination', killedFor.message);
    if (ending.type === 'exit' && ending.code === 0) return { type: 'complete', result };
    if (isDiskFull(simulation.logFault) || (await isFull(directory))) {
      return failed('infrastructure', `the disk of ${directory} is full; the simulation ${inWords(ending)}`);
    }
    return failed(ending.type, `the simulation ${inWords(ending)}`);
  }
}

function infrastructure(message: string): AttemptEnd {
  return { type: 'fail', reason: 'infrastructure', error_message: message };
}

function inWords(ending: Exclude<Ending, { type: 'failed-to-start' }>): string {
  if (ending.type === 'exit') return `exited with code ${String(ending.code)}`;
  const words = SIGNAL_WORDS[ending.signal];
  return `was killed by signal ${ending.signal}${words === undefined ? '' : ` (${words})`}`;
}

/** Why no runner, or none with this configuration, can execute the plan. */
function planFault(plan: ExecutionPlan, environmentAllowed: readonly string[]): string | undefined {
  const [name] = Object.entries(plan.runConfig.parameters).find(([, value]) => !Number.isFinite(value)) ?? [];
  if (name !== undefined) return `parameter ${JSON.stringify(name)} is not a finite number`;
  return environmentFault(plan.environment, environmentAllowed);
}

async function prepare(order: ExecutionPlan): Promise<void> {
  const made = await mkdir(order.directory, { recursive: true });
  // A directory that is already there belongs to somebody else.
  if (made === undefined) throw new Error(`${order.directory} exists already`);
  await writeFile(order.runConfigPath, `${stringifyExact(order.runConfig)}\n`);
}

async function isFull(directory: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize < FULL_BYTES;
  } catch {
    return false;
  }
}
