/**
 * One attempt, from an empty directory to its outcome: the run contract of the specification. Knows nothing of the
 * coordinator; the runner and `simbatch run-one` execute by the same code. Every wait has a deadline.
 */
import { once } from '../../base/async/once.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { FailReason } from '../../contract/types.ts';
import type { KillCause } from '../../../machines/attempt.ts';
import { isDiskFull, oneLine } from '../system-error.ts';
import { newTelemetryToken } from '../telemetry/access.ts';
import { startTelemetry, type Telemetry } from '../telemetry/server.ts';
import type { HistoryCollector } from '../telemetry/histories/collector.ts';
import { describeHit } from '../telemetry/early-termination.ts';
import { DeadlineError, type Waits } from '../waits.ts';
import type { AttemptActor } from '../attempt-actor.ts';
import { commandOf } from '../launch/engine.ts';
import { continuationOf, environmentOf, parentVariables } from './execution-site.ts';
import type { ExecutionPlan, ExecutionSite } from './execution-site.ts';
import { randomSeedOf } from '../../domain/seed.ts';
import { CODE_CHANGED, concludeAttempt, infrastructure, survivorsNote, type AttemptEnd } from './outcome.ts';
import { collectorOf } from './result/computed.ts';
import { interruptionOf } from './interruption.ts';
import { isPeerOfRun } from '../processes/peer-process.ts';
import { describeProcess, ProcessScope } from '../processes/process-scope.ts';
import { isContained, launcherOf, planFault, type Prepared, prepareRun, removePrepared } from './preparation.ts';
import { codeChange, hasReportedCode } from './run-code.ts';
import { SimulationProcess, type Logs, type Remains } from './simulation-process.ts';

/** Deadlines of the steps around a run, in milliseconds. The run itself is limited by its time limit alone. */
const DEADLINES_MS = { prepare: 30_000, launched: 30_000, telemetry: 60_000, logs: 10_000 };
/** How often processes that survived are looked at again. */
const SURVIVORS_LOOK_MS = 1000;

/** Calls during a run. */
export interface RunCalls {
  /**
   * The process exists, and is not that of a very short run; not waited for, but for the end of the run. `start`: as
   * `processStart` returns it.
   */
  launched?: (pid: number, start: string | undefined) => Promise<void>;
  /** No process of the run is left: the next run may start. Not called when some survive. `ms`: its duration, where it shares its process. */
  ended?: (ms?: number) => void;
}

/** An attempt that is executed, with a process of its own or in a shared process. */
export type Execution = Pick<Attempt, 'end' | 'prepare' | 'discard' | 'run' | 'remains'>;

/** One use: `prepare` once if wanted, then `run` or `discard` once; `abandon` at any time. */
export class Attempt {
  readonly #site: ExecutionSite;
  readonly #plan: ExecutionPlan;
  readonly #actor: AttemptActor;
  readonly #waits: Waits;
  readonly #scope: ProcessScope;
  readonly #histories: HistoryCollector | undefined;
  #simulation: SimulationProcess | undefined;
  #remains: Remains = { survivors: [], isOutputHeld: false };
  /** The processes of the run were looked for after its end. */
  #hasCleared = false;
  /** Before its process was created, in ms since the epoch. */
  #startedMs = 0;
  #prepared: Promise<Prepared | AttemptEnd | Error> | undefined;

  constructor(site: ExecutionSite, plan: ExecutionPlan, actor: AttemptActor) {
    this.#site = site;
    this.#plan = plan;
    this.#actor = actor;
    this.#waits = site.waits.child();
    this.#scope = new ProcessScope(site.processes, site.log, plan.directory, plan.limits);
    this.#histories = collectorOf(plan);
  }

  /**
   * Ends it: `run` resolves once everything is dead, without an outcome, or with `released` for a run that is interrupted and executed
   * again elsewhere.
   */
  end(type: 'abandoned' | 'interrupted', detail: string): void {
    this.#kill({ type, detail });
  }

  /**
   * Makes everything that the process needs, and no process: directory, run configuration, logs. Never rejects; `run`
   * concludes from what went wrong.
   */
  async prepare(): Promise<void> {
    this.#prepared ??= this.#waits
      .within(DEADLINES_MS.prepare, `preparing ${this.#plan.directory}`, prepareRun(this.#site, this.#plan))
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    await this.#prepared;
  }

  /** Removes what `prepare` has made: the run is not executed here. Never rejects. */
  async discard(): Promise<void> {
    const prepared = await this.#prepared;
    if (prepared === undefined || prepared instanceof Error || 'type' in prepared) return;
    await this.#closeLogs(prepared.logs);
    const what = `removing ${this.#plan.directory}`;
    await this.#waits.within(DEADLINES_MS.logs, what, removePrepared(this.#plan)).catch(() => {});
  }

  /** Never rejects for anything the simulation or the machine does: that becomes a `fail`. */
  async run(calls: RunCalls = {}): Promise<AttemptEnd> {
    const invalid = planFault(this.#plan, this.#site);
    let end: AttemptEnd;
    try {
      end =
        invalid === undefined
          ? await this.#execute(calls)
          : { type: 'fail', reason: 'invalid', error_message: invalid };
    } catch (error) {
      await this.#killAll();
      if (isDiskFull(error)) end = infrastructure(`the disk of ${this.#plan.directory} is full`);
      else if (error instanceof DeadlineError) end = infrastructure(`the machine does not answer: ${error.message}`);
      else end = infrastructure(`the runner could not execute the run: ${oneLine(error)}`);
    }
    this.#actor.send({ type: 'ENDED', survivors: this.#remains.survivors.length });
    if (this.#remains.survivors.length === 0) this.#scope.release();
    return this.#actor.killedFor?.type === 'abandoned' ? { type: 'abandoned' } : end;
  }

  /**
   * Remains of the attempt on the machine, for which it keeps a slot: processes that survive SIGKILL, operations of a file system
   * that does not answer. Undefined when there is nothing; `gone` resolves when it is over.
   */
  remains(): { what: string; gone: Promise<void> } | undefined {
    const { survivors } = this.#remains;
    const what = [
      ...survivors.map((it) => `process ${describeProcess(it)} survives SIGKILL`),
      ...this.#waits.overdue.map((it) => `${it} does not return`),
    ];
    return what.length === 0 ? undefined : { what: what.join(', '), gone: this.#gone(survivors.length > 0) };
  }

  async #gone(hasSurvivors: boolean): Promise<void> {
    const { clock } = this.#site;
    await this.#waits.idle();
    if (!hasSurvivors) return;
    while ((await this.#scope.clear(clock, true, SURVIVORS_LOOK_MS)).length > 0);
    this.#scope.release();
  }

  async #execute(calls: RunCalls): Promise<AttemptEnd> {
    const { clock, workingDirectory, python } = this.#site;
    const { engine, directory, runConfigPath } = this.#plan;
    await this.prepare();
    const ready = await this.#prepared;
    if (ready === undefined || ready instanceof Error) throw ready ?? new Error('nothing is prepared');
    if ('type' in ready) return ready;
    const { logs, notes } = ready;
    const launch = isContained(this.#site, this.#plan)
      ? { command: engine.entrypoint, args: [] }
      : commandOf(engine.entrypoint, python);
    if (launch === undefined) return infrastructure('no Python was found');
    const token = newTelemetryToken(clock);
    const telemetry = await this.#startTelemetry(token);
    if ('fault' in telemetry) {
      await this.#closeLogs(logs);
      return { type: 'fail', reason: telemetry.reason, error_message: telemetry.fault };
    }
    const contract = {
      SVC_RUN_CONFIG: runConfigPath,
      SVC_TELEMETRY_URL: telemetry.url,
      SVC_TELEMETRY_TOKEN: token,
      SVC_OUTPUT_DIR: directory,
      ...continuationOf(this.#plan),
      ...parentVariables(this.#plan),
    };
    const endLive = this.#site.live?.add(this.#actor.ref, telemetry);
    const closeTelemetry = once(() => {
      endLive?.();
      return this.#closeTelemetry(telemetry);
    });
    try {
      this.#startedMs = clock.now();
      if (!(await hasReportedCode(this.#site, this.#plan, 'lately'))) return CODE_CHANGED;
      if (this.#actor.killedFor !== undefined) return { type: 'abandoned' };
      const simulation = new SimulationProcess(clock, this.#scope, logs);
      this.#simulation = simulation;
      const own = environmentOf(this.#site, this.#plan);
      await simulation.start(launcherOf(this.#site, this.#plan, own), {
        ...launch,
        entrypoint: engine.entrypoint,
        env: own,
        contract,
        cwd: workingDirectory,
        code: this.#plan.reported?.identity.digest,
        image: this.#plan.reported?.image,
        isCurrent: () => hasReportedCode(this.#site, this.#plan, 'now'),
        randomSeed: randomSeedOf(this.#plan.runConfig),
      });
      return await this.#watch(simulation, closeTelemetry, launch.command, { ...calls, notes });
    } finally {
      await closeTelemetry().catch(() => {});
      await this.#closeLogs(logs);
    }
  }

  async #watch(
    simulation: SimulationProcess,
    closeTelemetry: () => ReturnType<Telemetry['close']>,
    command: string,
    { launched, ended, notes: prepared }: RunCalls & Pick<Prepared, 'notes'>,
  ): Promise<AttemptEnd> {
    const { clock } = this.#site;
    const { timeoutSecs } = this.#plan;
    const endTimeLimit =
      timeoutSecs > 0 ? clock.after(timeoutSecs * 1000, () => this.#kill({ type: 'timeout' })) : undefined;
    try {
      if (simulation.pid !== undefined) this.#actor.send({ type: 'LAUNCHED', pid: simulation.pid });
      const ending = await simulation.endedAndRecorded(async (pid) => {
        const recording = launched?.(pid, this.#scope.leaderStart) ?? Promise.resolve();
        await this.#waits.within(DEADLINES_MS.launched, 'recording its process', recording);
      });
      // An attempt that has ended by itself in time keeps its own outcome.
      endTimeLimit?.();
      const elapsedMs = clock.monotonicMs() - simulation.sinceMs;
      const notes = await this.#clear(simulation, ended);
      // Checks the conditions a last time: a run that met one and ended before the check has failed all the same.
      const summary = await closeTelemetry().catch((error: unknown) => {
        notes.push(`telemetry was not stored completely: ${oneLine(error)}`);
        return undefined;
      });
      const { killedFor } = this.#actor;
      const interruption =
        killedFor === undefined ? await interruptionOf(clock, this.#site.leaving, ending) : undefined;
      return await concludeAttempt(clock, this.#waits, {
        interruption,
        plan: this.#plan,
        workingDirectory: this.#site.workingDirectory,
        simulation,
        ending,
        command,
        elapsedMs,
        telemetry: summary,
        histories: this.#histories,
        killedFor: this.#actor.killedFor,
        exceededMemory: this.#scope.exceededMemory,
        site: this.#site,
        isOpen: this.#remains.survivors.length > 0 || this.#remains.isOutputHeld || this.#waits.overdue.length > 0,
        notes: [...(this.#plan.notes?.() ?? []), ...prepared, ...notes],
        codeChange: await codeChange(this.#site, this.#plan, this.#startedMs),
      });
    } finally {
      endTimeLimit?.();
    }
  }

  /** Ends what is left of the processes and completes the logs; returns what a reader of the result must know of it. */
  async #clear(simulation: SimulationProcess, ended?: () => void): Promise<string[]> {
    this.#remains = await simulation.clear();
    this.#hasCleared = true;
    if (this.#remains.survivors.length === 0 && !this.#remains.isOutputHeld) ended?.();
    const notes: string[] = simulation.note === undefined ? [] : [simulation.note];
    const { survivors, isOutputHeld } = this.#remains;
    if (survivors.length > 0) notes.push(survivorsNote(survivors));
    if (isOutputHeld) notes.push('a process that the runner could not find still has its output open');
    if (this.#scope.limitFault !== undefined) {
      notes.push(`container.memory_limit and cpu_limit did not take effect: ${this.#scope.limitFault}`);
    }
    try {
      await this.#waits.within(DEADLINES_MS.logs, 'completing its logs', simulation.finishLogs());
    } catch (error) {
      notes.push(`its output could not be logged: ${oneLine(error)}`);
    }
    if (simulation.logFault !== undefined) notes.push(`its output could not be logged: ${simulation.logFault.message}`);
    return notes;
  }

  async #startTelemetry(token: string): Promise<Telemetry | { fault: string; reason: FailReason }> {
    const { telemetry, earlyTermination, directory } = this.#plan;
    const { clock, listeners, onSample, live } = this.#site;
    try {
      const started = startTelemetry({
        telemetry,
        earlyTermination,
        directory,
        world: clock,
        token,
        isOwnPeer: async (peerPort, ownPort) => {
          const pid = this.#simulation?.pid;
          return pid !== undefined && isPeerOfRun(pid, directory, peerPort, ownPort);
        },
        onConditionMet: (hit) => this.#kill({ type: 'early_termination', detail: describeHit(hit) }),
        ...(listeners === undefined ? {} : { listeners }),
        ...(onSample === undefined ? {} : { onSample }),
        histories: this.#histories,
        isLive: telemetry.live === true && live !== undefined,
      });
      return await this.#waits.within(DEADLINES_MS.prepare, 'starting telemetry', started);
    } catch (error) {
      const reason =
        error instanceof SimbatchError && error.code === 'invalid-configuration' ? 'invalid' : 'infrastructure';
      return { reason, fault: `telemetry could not be started: ${oneLine(error)}` };
    }
  }

  #closeTelemetry(telemetry: Telemetry): ReturnType<Telemetry['close']> {
    const { survivors, isOutputHeld } = this.#remains;
    const isOver = this.#hasCleared && survivors.length === 0 && !isOutputHeld;
    return this.#waits.within(DEADLINES_MS.telemetry, 'completing its telemetry', telemetry.close(isOver));
  }

  async #closeLogs({ stdout, stderr }: Logs): Promise<void> {
    if (!stdout.isOpen && !stderr.isOpen) return;
    const closed = Promise.all([stdout.discard(), stderr.discard()]);
    await this.#waits.within(DEADLINES_MS.logs, 'closing its logs', closed).catch(() => {});
  }

  async #killAll(): Promise<void> {
    const simulation = this.#simulation;
    if (simulation === undefined) return;
    simulation.kill();
    await simulation.ended;
    await this.#clear(simulation);
  }

  #kill(cause: KillCause): void {
    if (this.#actor.send({ type: 'KILL', cause })) this.#simulation?.kill();
  }
}
