/**
 * One attempt of a study with `isolation: shared`: executed by a worker, which executes other runs before and after it. The run contract is
 * that of `run-attempt.ts`; the worker makes the directory and looks at its content, so that a short run costs the runner little.
 */
import type { Readable } from 'node:stream';
import type { KillCause } from '../../../../machines/attempt.ts';
import { stringifyExact } from '../../../base/json/json-writing.ts';
import { randomSeedOf } from '../../../domain/seed.ts';
import type { AttemptActor } from '../../attempt-actor.ts';
import { artifactsOfText, outputsOfText, type Artifacts } from '../../files/artifacts.ts';
import type { Ending } from '../../launch/launcher.ts';
import type { SharedPython } from '../../launch/shared/shared-python.ts';
import type { SharedEnding, SharedRun } from '../../launch/shared/shared-run.ts';
import type { RunEnd } from '../../launch/shared/worker-message.ts';
import { describeProcess, KILL_DEADLINE_MS, ProcessScope } from '../../processes/process-scope.ts';
import type { ProcessInfo } from '../../processes/proc-fs.ts';
import { isDiskFull, oneLine } from '../../system-error.ts';
import type { HistoryCollector } from '../../telemetry/histories/collector.ts';
import type { TelemetrySummary } from '../../telemetry/server.ts';
import { DeadlineError, type Waits } from '../../waits.ts';
import { continuationOf, type ExecutionPlan, type ExecutionSite } from '../execution-site.ts';
import { collectorOf } from '../result/computed.ts';
import { interruptionOf } from '../interruption.ts';
import {
  artifactsOf,
  CODE_CHANGED,
  concludeAttempt,
  infrastructure,
  isMissing,
  survivorsNote,
  type AttemptEnd,
} from '../outcome.ts';
import { codeChange, hasReportedCode } from '../run-code.ts';
import { planFault, prepareCheckpoint } from '../preparation.ts';
import { Attempt, type Execution, type RunCalls } from '../run-attempt.ts';
import { RunTelemetry } from './run-telemetry.ts';
import { SharedOutput } from './shared-output.ts';

const LAUNCHED_MS = 30_000;
/** How long a run waits at most until it begins; a tenth of its time limit if that is less. */
const PATIENCE_MS = 3000;
/** A run that ends within this time leaves no record of its process. */
const RECORDED_MS = 20;

export class SharedAttempt implements Execution {
  readonly #site: ExecutionSite;
  readonly #plan: ExecutionPlan;
  readonly #actor: AttemptActor;
  readonly #pool: SharedPython;
  readonly #waits: Waits;
  readonly #scope: ProcessScope;
  /** A function, whose directory is made when it asks for it. */
  readonly #isOnDemand: boolean;
  readonly #output: SharedOutput;
  readonly #telemetry: RunTelemetry;
  readonly #histories: HistoryCollector | undefined;
  #isCancelled = false;
  #survivors: readonly ProcessInfo[] = [];
  /** Set from its beginning to its end. */
  #pid: number | undefined;
  #sinceMs = 0;
  /** When it was given to the workers, by the wall clock. */
  #givenMs = 0;
  #run: SharedRun | undefined;
  /** The attempt with a process of its own, where there is no worker. */
  #alone: Attempt | undefined;

  constructor(site: ExecutionSite, plan: ExecutionPlan, actor: AttemptActor, pool: SharedPython) {
    this.#site = site;
    this.#plan = plan;
    this.#actor = actor;
    this.#pool = pool;
    this.#waits = site.waits.child();
    this.#scope = new ProcessScope(site.processes, site.log, plan.directory, plan.limits);
    this.#isOnDemand = plan.code !== undefined;
    this.#output = new SharedOutput(plan.directory, this.#isOnDemand);
    this.#histories = collectorOf(plan);
    this.#telemetry = new RunTelemetry(site, plan, actor, this.#waits, {
      histories: this.#histories,
      pid: () => this.#pid,
      onConditionMet: (detail) => this.#kill({ type: 'early_termination', detail }),
    });
  }

  end(type: 'abandoned' | 'interrupted', detail: string): void {
    if (this.#alone === undefined) this.#kill({ type, detail });
    else this.#alone.end(type, detail);
  }

  /** The worker prepares the run as it begins it. */
  async prepare(): Promise<void> {}

  async discard(): Promise<void> {}

  remains(): { what: string; gone: Promise<void> } | undefined {
    if (this.#alone !== undefined) return this.#alone.remains();
    const what = [
      ...this.#survivors.map((it) => `process ${describeProcess(it)} survives SIGKILL`),
      ...this.#waits.overdue.map((it) => `${it} does not return`),
    ];
    return what.length === 0 ? undefined : { what: what.join(', '), gone: this.#gone() };
  }

  async #gone(): Promise<void> {
    await this.#waits.idle();
    if (this.#survivors.length > 0) while ((await this.#scope.clear(this.#site.clock, true)).length > 0);
  }

  async run(calls: RunCalls = {}): Promise<AttemptEnd> {
    let end: AttemptEnd;
    try {
      const invalid = planFault(this.#plan, this.#site);
      end =
        invalid === undefined
          ? await this.#execute(calls)
          : { type: 'fail', reason: 'invalid', error_message: invalid };
    } catch (error) {
      this.#cancel();
      if (isDiskFull(error)) end = infrastructure(`the disk of ${this.#plan.directory} is full`);
      else if (error instanceof DeadlineError) end = infrastructure(`the machine does not answer: ${error.message}`);
      else end = infrastructure(`the runner could not execute the run: ${oneLine(error)}`);
    }
    this.#actor.send({ type: 'ENDED', survivors: this.#survivors.length });
    return this.#actor.killedFor?.type === 'abandoned' ? { type: 'abandoned' } : end;
  }

  async #execute(calls: RunCalls): Promise<AttemptEnd> {
    const notes = this.#plan.attempt > 1 ? await prepareCheckpoint(this.#site, this.#plan) : [];
    const fault = await this.#telemetry.start();
    if (fault !== undefined) return { type: 'fail', ...fault };
    try {
      if (this.#actor.killedFor !== undefined) return { type: 'abandoned' };
      this.#givenMs = this.#site.clock.now();
      if (!(await hasReportedCode(this.#site, this.#plan, 'lately'))) return CODE_CHANGED;
      const recording = this.#recording(calls);
      const { timeoutSecs } = this.#plan;
      this.#run = {
        order: {
          env: {
            SVC_RUN_CONFIG: this.#plan.runConfigPath,
            ...this.#telemetry.variables,
            SVC_OUTPUT_DIR: this.#plan.directory,
            ...continuationOf(this.#plan),
          },
          seed: randomSeedOf(this.#plan.runConfig),
          config: `${stringifyExact(this.#plan.runConfig)}\n`,
          on_demand: this.#isOnDemand,
        },
        lane: this.#plan.lane ?? 0,
        scope: this.#scope,
        // The time limit counts from the start that was reported.
        patienceMs: timeoutSecs > 0 ? Math.min(PATIENCE_MS, (timeoutSecs * 1000) / 10) : PATIENCE_MS,
        begun: (pid, sinceMs) => {
          this.#begin(pid, sinceMs);
          recording.begin(pid);
        },
        output: (stream, output: Readable) => this.#output.take(stream, output),
      };
      const executed = this.#pool.execute(this.#run);
      if (this.#isCancelled) this.#pool.cancel(this.#run);
      const ended = await executed;
      await recording.end();
      if (ended.type === 'alone') return await this.#executeAlone(calls);
      return await this.#conclude(ended, notes, calls);
    } finally {
      await this.#telemetry.close(this.#survivors.length === 0).catch(() => {});
      await this.#output.discard(this.#waits);
    }
  }

  #begin(pid: number, sinceMs: number): void {
    const { clock } = this.#site;
    const { timeoutSecs } = this.#plan;
    this.#pid = pid;
    this.#sinceMs = sinceMs;
    this.#actor.send({ type: 'LAUNCHED', pid });
    if (this.#isCancelled) this.#scope.kill();
    if (timeoutSecs > 0) this.#endTimeLimit = clock.after(timeoutSecs * 1000, () => this.#kill({ type: 'timeout' }));
  }

  #endTimeLimit: () => void = () => {};

  /** Records the process of a run that is not very short, so that a successor of this runner finds it. */
  #recording({ launched }: RunCalls): { begin: (pid: number) => void; end: () => Promise<void> } {
    const { clock } = this.#site;
    let recorded: Promise<void> | undefined;
    let cancel = (): void => {};
    return {
      begin: (pid) => {
        cancel = clock.after(RECORDED_MS, () => {
          const recording = launched?.(pid, this.#scope.leaderStart) ?? Promise.resolve();
          recorded = this.#waits.within(LAUNCHED_MS, 'recording its process', recording);
          recorded.catch(() => this.#cancel());
        });
      },
      end: async () => {
        cancel();
        this.#endTimeLimit();
        await recorded;
      },
    };
  }

  async #executeAlone(calls: RunCalls): Promise<AttemptEnd> {
    await this.#telemetry.close(true);
    const plan = { ...this.#plan, notes: () => [ALONE, ...(this.#plan.notes?.() ?? [])] };
    this.#alone = new Attempt(this.#site, plan, this.#actor);
    return await this.#alone.run(calls);
  }

  async #conclude(
    ended: Exclude<SharedEnding, { type: 'alone' }>,
    prepared: readonly string[],
    { ended: onEnded }: RunCalls,
  ): Promise<AttemptEnd> {
    const { clock, workingDirectory, leaving } = this.#site;
    if (ended.type === 'fault') {
      onEnded?.();
      return ended.code === 'ENOSPC' || ended.code === 'EDQUOT'
        ? infrastructure(`the disk of ${this.#plan.directory} is full`)
        : infrastructure(`its directory could not be made: ${ended.fault}`);
    }
    const ending: Ending = ended.type === 'ended' ? { type: 'exit', code: ended.code } : ended;
    const elapsedMs = ended.type === 'ended' ? ended.ms : clock.monotonicMs() - this.#sinceMs;
    // A run that left its worker as it was has no processes.
    if (ended.type !== 'ended' || ended.left.length > 0)
      this.#survivors = await this.#scope.clear(clock, true, KILL_DEADLINE_MS);
    this.#pid = undefined;
    if (this.#survivors.length === 0) onEnded?.(elapsedMs);
    const notes = await this.#output.finish(this.#waits);
    if (ended.type === 'ended') notes.push(...traceNotes(ended));
    else if (ended.note !== undefined) notes.push(ended.note);
    if (this.#survivors.length > 0) notes.push(survivorsNote(this.#survivors));
    if (this.#scope.limitFault !== undefined)
      notes.push(`container.memory_limit and cpu_limit did not take effect: ${this.#scope.limitFault}`);
    const telemetry = await this.#summary(notes);
    const { killedFor } = this.#actor;
    const interruption = killedFor === undefined ? await interruptionOf(clock, leaving, ending) : undefined;
    const artifacts = await this.#artifacts(ended, this.#output.isEmpty && telemetry?.location == null);
    return await concludeAttempt(clock, this.#waits, {
      interruption,
      plan: this.#plan,
      workingDirectory,
      simulation: this.#output,
      artifacts,
      reads: ended.type === 'ended' ? ended.reads : undefined,
      ending,
      command: this.#plan.engine.entrypoint,
      elapsedMs,
      telemetry,
      histories: this.#histories,
      codeChange: await codeChange(this.#site, this.#plan, this.#givenMs),
      killedFor: this.#actor.killedFor,
      exceededMemory: this.#scope.exceededMemory,
      site: this.#site,
      isOpen: this.#survivors.length > 0 || this.#waits.overdue.length > 0,
      notes: [...(this.#plan.notes?.() ?? []), ...prepared, ...notes],
    });
  }

  /** The files and the outputs of the run; undefined: its directory has them. @param isQuiet nothing of the runner is in it. */
  async #artifacts(ended: SharedEnding, isQuiet: boolean): Promise<Artifacts | undefined> {
    const { directory } = this.#plan;
    if (ended.type !== 'ended')
      return this.#isOnDemand && (await isMissing(this.#waits, directory)) ? outputsOfText(null) : undefined;
    if (ended.outputs === undefined)
      return isQuiet && ended.metadata !== undefined ? artifactsOfText(directory, ended.metadata) : undefined;
    const outputs = outputsOfText(ended.outputs);
    if (isQuiet) return outputs;
    const { files, notes } = await artifactsOf(this.#site.clock, this.#waits, directory);
    return { ...outputs, files, notes: [...outputs.notes, ...notes] };
  }

  async #summary(notes: string[]): Promise<TelemetrySummary | undefined> {
    try {
      return await this.#telemetry.close(this.#survivors.length === 0);
    } catch (error) {
      notes.push(`telemetry was not stored completely: ${oneLine(error)}`);
      return undefined;
    }
  }

  #cancel(): void {
    this.#isCancelled = true;
    if (this.#run !== undefined) this.#pool.cancel(this.#run);
  }

  #kill(cause: KillCause): void {
    if (!this.#actor.send({ type: 'KILL', cause })) return;
    if (this.#pid !== undefined) {
      this.#scope.kill();
      this.#site.clock.after(KILL_DEADLINE_MS, () => {
        if (this.#run !== undefined) this.#pool.giveUp(this.#run);
      });
    }
    this.#cancel();
  }
}

/** For the result of a run that had a process of its own although its study wants shared ones. */
export const ALONE = 'it had a process of its own: no shared interpreter could execute it; only a warm Python has them';
export const CONTAINED =
  'it had a process of its own: it was executed in a container, and runs in containers share no process';

function traceNotes({ restored, left }: RunEnd): string[] {
  return [
    ...restored.map((it) => `it ${it}: undone before the next run of its process`),
    ...left.map((it) => `it ${it}: its process was ended after it`),
  ];
}
