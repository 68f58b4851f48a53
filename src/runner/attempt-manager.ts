/**
 * The attempts the coordinator believes to be this runner's, each from its claim to the acknowledgement of its outcome:
 * reports the start, executes, keeps the outcome until it is delivered. When to claim and when to leave is decided in
 * `agent.ts`.
 */
import type { Assignment, AttemptRef, BatchConfig } from '../contract/types.ts';
import type { RunnerConfig } from './config/config.ts';
import { Attempt } from './attempt/run-attempt.ts';
import type { AttemptEnd, ExecutionSite } from './attempt/run-attempt.ts';
import { killOrphans } from './attempt/process-group.ts';
import { Stopped } from './connection/coordinator-connection.ts';
import { executionPlan } from './attempt/execution-plan.ts';
import { processStart } from './attempt/proc-fs.ts';
import type { ReportQueue, Verdict } from './connection/report-queue.ts';
import type { Outcome, Spool, SpooledAttempt } from './spool.ts';
import { oneLine } from './system-error.ts';
import { recoverTelemetry } from './telemetry/recover.ts';

interface ActiveAttempt extends AttemptRef {
  /** While its processes may live. */
  execution?: Attempt;
  /** Why nobody wants it any more, if so. */
  dropped?: string;
  /** All that is left to do is to deliver its outcome. */
  isOver?: true;
}

export interface AttemptManagerOptions {
  config: Pick<RunnerConfig, 'engines' | 'outputRoot' | 'maxConcurrentJobs'>;
  spool: Spool;
  reporter: ReportQueue;
  site: ExecutionSite;
  /** Aborted when no new simulation is to be started. */
  leaving: AbortSignal;
  /** Called whenever an attempt is no longer held or its simulation has ended. */
  onChange: () => void;
  /** Called when this machine turns out not to be fit for jobs, before anybody else is told of it. */
  onUnfit: () => void;
}

const LONGEST_UNFIT_MS = 60_000;

export class AttemptManager {
  /** Until when (monotonic) this machine is not fit for new jobs. */
  unfitUntilMs = 0;
  #failuresInARow = 0;
  #occupied = 0;
  readonly #waitingForASlot: (() => void)[] = [];
  readonly #options: AttemptManagerOptions;
  readonly #held = new Map<string, ActiveAttempt>();

  constructor(options: AttemptManagerOptions) {
    this.#options = options;
  }

  /** Everything not yet acknowledged. */
  get size(): number {
    return this.#held.size;
  }

  /** How many more jobs this machine could execute now. Those whose outcome is on its way to the coordinator take no room. */
  get free(): number {
    const under = [...this.#held.values()].filter((held) => held.isOver !== true).length;
    return this.#options.config.maxConcurrentJobs - under;
  }

  get running(): number {
    return [...this.#held.values()].filter((held) => held.execution !== undefined).length;
  }

  refs(): AttemptRef[] {
    return [...this.#held.values()].map(({ job_id, attempt }) => ({ job_id, attempt }));
  }

  /** Kills what a former process left running. Its undelivered outcomes are held from now on; `resume` delivers them. */
  async recover(): Promise<{ record: SpooledAttempt; outcome: Outcome }[]> {
    const { spool, site } = this.#options;
    const undelivered: { record: SpooledAttempt; outcome: Outcome }[] = [];
    for (const record of await spool.leftovers()) {
      const { job_id, attempt, outcome } = record;
      const orphans = await killOrphans(site.clock, site.log, record);
      if (orphans > 0) {
        site.log.warn(`killed ${String(orphans)} processes left by a former runner process`, { job_id, attempt });
      }
      if (outcome === undefined) {
        await this.#closeTelemetry(record);
        await spool.settled(record);
      } else {
        undelivered.push({ record, outcome });
        this.#held.set(keyOf(record), { job_id, attempt, isOver: true });
      }
    }
    if (undelivered.length > 0) {
      site.log.info(`${String(undelivered.length)} outcomes of a former process are to be delivered`);
    }
    return undelivered;
  }

  /** Of an attempt that is lost the telemetry is still worth reading. */
  async #closeTelemetry({ directory, job_id, attempt }: SpooledAttempt): Promise<void> {
    if (directory === '') return;
    try {
      await recoverTelemetry(directory);
    } catch (error) {
      this.#options.site.log.warn(`its telemetry could not be recovered: ${oneLine(error)}`, { job_id, attempt });
    }
  }

  resume(undelivered: readonly { record: SpooledAttempt; outcome: Outcome }[]): void {
    for (const { record, outcome } of undelivered) {
      const held = this.#held.get(keyOf(record));
      if (held !== undefined) void this.#deliver(held, record, outcome);
    }
  }

  /** Sees the assignment through, in the background. False when it is held already. */
  take(assignment: Assignment, batch: BatchConfig | undefined): boolean {
    const held: ActiveAttempt = { job_id: assignment.job.id, attempt: assignment.attempt };
    if (this.#held.has(keyOf(held))) return false;
    this.#held.set(keyOf(held), held);
    this.#serve(held, assignment, batch)
      .catch((error: unknown) => {
        if (error instanceof Stopped) return;
        this.#options.site.log.error(`a run was given up: ${oneLine(error)}`, about(held));
      })
      .finally(() => {
        this.#held.delete(keyOf(held));
        this.#options.onChange();
      });
    return true;
  }

  /** Nobody wants it any more: it is killed. An outcome already reached is reported all the same, and judged there. */
  drop(ref: AttemptRef, why: string): void {
    const held = this.#held.get(keyOf(ref));
    if (held === undefined) return;
    held.dropped ??= why;
    held.execution?.abandon();
  }

  dropAll(why: string): void {
    for (const ref of this.refs()) this.drop(ref, why);
  }

  async #serve(held: ActiveAttempt, assignment: Assignment, batch: BatchConfig | undefined): Promise<void> {
    const release = await this.#slot();
    let ended: { record: SpooledAttempt; end: AttemptEnd } | undefined;
    try {
      ended = await this.#execute(held, assignment, batch);
    } finally {
      release();
    }
    if (ended === undefined) return;
    this.#judgeFitness(ended.end);
    await this.#conclude(held, ended.record, ended.end);
  }

  /**
   * Resolves when a simulation may begin here; what it resolves to is called when it is dead. The coordinator gives a
   * job's place away when it knows its outcome, which may be before its processes are dead: a job that was taken from us.
   */
  async #slot(): Promise<() => void> {
    const waiting = this.#waitingForASlot;
    if (this.#occupied < this.#options.config.maxConcurrentJobs) this.#occupied += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return () => {
      const next = waiting.shift();
      if (next === undefined) this.#occupied -= 1;
      else next();
    };
  }

  /** Undefined when it is not to be executed. */
  async #execute(
    held: ActiveAttempt,
    assignment: Assignment,
    batch: BatchConfig | undefined,
  ): Promise<{ record: SpooledAttempt; end: AttemptEnd } | undefined> {
    const { spool, reporter, site, leaving, config } = this.#options;
    const ref = about(held);
    if (leaving.aborted || held.dropped !== undefined) return undefined;
    // The coordinator's word comes before the process: an attempt that was given away meanwhile is never executed, and
    // one that is executed is known to be, so it is not given to another.
    const verdict = await reporter.report({ type: 'start', ...ref });
    if (this.#isRefused(held, verdict, 'start') || leaving.aborted || held.dropped !== undefined) return undefined;
    const order = executionPlan(config, assignment, batch);
    const record: SpooledAttempt = { ...ref, directory: order.type === 'order' ? order.order.directory : '' };
    let end: AttemptEnd;
    const unrecorded = order.type === 'order' ? await this.#record(record) : undefined;
    if (order.type === 'invalid') end = { type: 'fail', reason: 'invalid', error_message: order.message };
    else if (unrecorded !== undefined) end = { type: 'fail', reason: 'infrastructure', error_message: unrecorded };
    else {
      const execution = new Attempt(site, order.order);
      held.execution = execution;
      site.log.debug(`run ${String(assignment.job.run_config.run_id)} started`, ref);
      end = await execution.run(async (pid) => {
        const pidStart = processStart(pid);
        await spool.running({ ...record, pid, ...(pidStart === undefined ? {} : { pidStart }) });
      });
      delete held.execution;
      this.#options.onChange();
    }
    return { record, end };
  }

  async #conclude(held: ActiveAttempt, record: SpooledAttempt, end: AttemptEnd): Promise<void> {
    const { spool, site } = this.#options;
    const ref = about(held);
    if (end.type === 'abandoned') {
      site.log.info(`run killed: ${held.dropped ?? 'not wanted any more'}`, ref);
      await this.#forget(record);
      return;
    }
    const outcome: Outcome = { ...end, ...ref };
    try {
      // On disk before it is reported.
      await spool.ended(record, outcome);
    } catch (error) {
      // A disk that cannot take it must not keep the outcome from being reported at all.
      site.log.error(`the spool cannot take an outcome; reporting it from memory: ${oneLine(error)}`, ref);
    }
    await this.#deliver(held, record, outcome);
  }

  async #deliver(held: ActiveAttempt, record: SpooledAttempt, outcome: Outcome): Promise<void> {
    const { reporter, site, onChange } = this.#options;
    try {
      const reported = reporter.report(outcome);
      // The next job is asked for at the same time, and given as soon as the coordinator has this one's outcome.
      held.isOver = true;
      onChange();
      const verdict = await reported;
      if (!this.#isRefused(held, verdict, 'outcome')) {
        if (outcome.type === 'complete') site.log.info('run completed', about(held));
        else site.log.warn(`run failed: ${outcome.error_message.split('\n', 1)[0] ?? ''}`, about(held));
      }
      await this.#forget(record);
    } catch (error) {
      // It stays in the spool for the next process under this id.
      if (!(error instanceof Stopped)) site.log.error(`an outcome was not reported: ${oneLine(error)}`, about(held));
    } finally {
      this.#held.delete(keyOf(held));
      onChange();
    }
  }

  /** Before there is a process, so that none is ever unknown to a successor. Resolves to why it failed, if so. */
  async #record(record: SpooledAttempt): Promise<string | undefined> {
    const { spool } = this.#options;
    try {
      await spool.running(record);
      return undefined;
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      return `the runner cannot write to ${spool.directory}: ${oneLine(cause)}`;
    }
  }

  /** Harmless when it fails: a successor reports once more, and is answered as before or refused. */
  async #forget(record: SpooledAttempt): Promise<void> {
    try {
      await this.#options.spool.settled(record);
    } catch (error) {
      this.#options.site.log.warn(`the spool cannot be written: ${oneLine(error)}`, about(record));
    }
  }

  /** A refusal means that the attempt is not ours (any more): there is nothing to be done but to say so. */
  #isRefused(held: ActiveAttempt, verdict: Verdict, what: string): boolean {
    if (!('problem' in verdict)) return false;
    const { code, detail } = verdict.problem;
    this.#options.site.log.warn(`dropped: the coordinator refuses its ${what}: ${detail}`, { ...about(held), code });
    return true;
  }

  /** A machine that fails runs by itself would fail a whole study in no time: it pauses, longer each time. */
  #judgeFitness(end: AttemptEnd): void {
    if (end.type === 'abandoned') return;
    if (end.type === 'complete' || end.reason !== 'infrastructure') {
      this.#failuresInARow = 0;
      return;
    }
    const { clock, log } = this.#options.site;
    const pauseMs = Math.min(LONGEST_UNFIT_MS, 1000 * 2 ** Math.min(this.#failuresInARow, 10));
    this.#failuresInARow += 1;
    this.unfitUntilMs = clock.monotonicMs() + pauseMs;
    this.#options.onUnfit();
    log.error(`no new jobs for ${String(pauseMs / 1000)} s, this machine cannot execute: ${end.error_message}`);
  }
}

function about(held: AttemptRef): { job_id: string; attempt: number } {
  return { job_id: held.job_id, attempt: held.attempt };
}

function keyOf(ref: AttemptRef): string {
  return `${ref.job_id}/${String(ref.attempt)}`;
}
