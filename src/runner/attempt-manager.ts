/**
 * The attempts that the coordinator has assigned to this runner, each from its claim to the acknowledgement of its outcome:
 * reports the start, executes, keeps the outcome until it is delivered. When to claim and when to leave is decided in
 * `agent.ts`; the states are in `machines/attempt.ts`.
 */
import type { Assignment, AttemptRef, BatchConfig } from '../contract/types.ts';
import type { RunnerConfig } from './config/config.ts';
import { AttemptActor } from './attempt/attempt-actor.ts';
import { executionPlan } from './attempt/execution-plan.ts';
import type { AttemptEnd } from './attempt/outcome.ts';
import { Attempt, planFault } from './attempt/run-attempt.ts';
import { environmentOf } from './attempt/execution-site.ts';
import type { ExecutionSite } from './attempt/execution-site.ts';
import { Stopped } from './connection/coordinator-connection.ts';
import type { ReportQueue, Verdict } from './connection/report-queue.ts';
import { recover } from './recovery.ts';
import type { Undelivered } from './recovery.ts';
import { Slots } from './slots.ts';
import type { Outcome, Spool, SpooledAttempt } from './spool.ts';
import { oneLine } from './system-error.ts';

interface ActiveAttempt {
  actor: AttemptActor;
  /** While it is executed. */
  execution?: Attempt;
}

export interface AttemptManagerOptions {
  config: Pick<RunnerConfig, 'engines' | 'outputRoot' | 'maxConcurrentJobs'>;
  spool: Spool;
  reporter: ReportQueue;
  site: ExecutionSite;
  /** Aborted when no new simulation may start. */
  leaving: AbortSignal;
  /** Called whenever an attempt is no longer held, its simulation has ended, or a slot is lost or back. */
  onChange: () => void;
  /** Called when this machine proves unfit for jobs, before any failure is reported. */
  onUnfit: () => void;
}

const LONGEST_UNFIT_MS = 60_000;

export class AttemptManager {
  /** Until when (monotonic) this machine is not fit for new jobs. */
  unfitUntilMs = 0;
  readonly slots: Slots;
  #failuresInARow = 0;
  readonly #options: AttemptManagerOptions;
  readonly #held = new Map<string, ActiveAttempt>();

  constructor(options: AttemptManagerOptions) {
    this.#options = options;
    this.slots = new Slots(options.config.maxConcurrentJobs, options.site.log, options.onChange);
  }

  /** Everything not yet acknowledged. */
  get size(): number {
    return this.#held.size;
  }

  /** How many more jobs this machine could execute now. An attempt that only waits for its acknowledgement takes no slot. */
  get free(): number {
    const taken = [...this.#held.values()].filter(({ actor }) => actor.state !== 'Reporting').length;
    return this.#options.config.maxConcurrentJobs - this.slots.lost - taken;
  }

  get running(): number {
    return [...this.#held.values()].filter(({ actor }) => actor.isExecuting).length;
  }

  refs(): AttemptRef[] {
    return [...this.#held.values()].map(({ actor }) => actor.ref);
  }

  /** Ends what a former process left running. Holds its undelivered outcomes from now on; `resume` delivers them. */
  async recover(): Promise<Undelivered[]> {
    const { spool, site } = this.#options;
    const undelivered = await recover(spool, site);
    for (const { record } of undelivered) {
      const actor = new AttemptActor(record, site.log);
      actor.send({ type: 'RECOVERED' });
      this.#held.set(keyOf(record), { actor });
    }
    return undelivered;
  }

  resume(undelivered: readonly Undelivered[]): void {
    for (const { record, outcome } of undelivered) {
      const held = this.#held.get(keyOf(record));
      if (held !== undefined) void this.#deliver(held, record, outcome);
    }
  }

  /** Processes the assignment in the background, to its end. Returns false when it is held already. */
  take(assignment: Assignment, batch: BatchConfig | undefined): boolean {
    const ref = { job_id: assignment.job.id, attempt: assignment.attempt };
    if (this.#held.has(keyOf(ref))) return false;
    const held: ActiveAttempt = { actor: new AttemptActor(ref, this.#options.site.log) };
    this.#held.set(keyOf(ref), held);
    this.#process(held, assignment, batch)
      .catch((error: unknown) => {
        if (error instanceof Stopped) return;
        this.#options.site.log.error(`a run was given up: ${oneLine(error)}`, about(held));
      })
      .finally(() => {
        this.#held.delete(keyOf(ref));
        this.#options.onChange();
      });
    return true;
  }

  /** Ends the attempt without an outcome. An outcome that exists is reported all the same, and judged by the coordinator. */
  drop(ref: AttemptRef, why: string): void {
    const held = this.#held.get(keyOf(ref));
    if (held === undefined) return;
    if (held.execution !== undefined) held.execution.abandon(why);
    else if (held.actor.send({ type: 'KILL', cause: { type: 'abandoned', detail: why } })) {
      // It may wait for a slot for long, and is not this runner's any more.
      this.#held.delete(keyOf(ref));
      this.#options.onChange();
    }
  }

  dropAll(why: string): void {
    for (const ref of this.refs()) this.drop(ref, why);
  }

  async #process(held: ActiveAttempt, assignment: Assignment, batch: BatchConfig | undefined): Promise<void> {
    const release = await this.slots.take();
    let ended: { record: SpooledAttempt; end: AttemptEnd } | undefined;
    try {
      ended = await this.#execute(held, assignment, batch);
    } finally {
      // The coordinator frees a job's slot when it knows the outcome, which may be before its processes are dead.
      release(held.execution?.remains(), about(held));
      delete held.execution;
    }
    if (ended === undefined) return;
    this.#judgeFitness(ended.end);
    await this.#conclude(held, ended.record, ended.end);
  }

  /** Undefined when it is not to be executed. */
  async #execute(
    held: ActiveAttempt,
    assignment: Assignment,
    batch: BatchConfig | undefined,
  ): Promise<{ record: SpooledAttempt; end: AttemptEnd } | undefined> {
    const { spool, reporter, site, leaving, config } = this.#options;
    const { actor } = held;
    const ref = about(held);
    const planned = executionPlan(config, assignment, batch);
    // Before the start is reported: the time limit of the run counts from then on.
    if (planned.type === 'plan' && planFault(planned.plan, site.environmentAllowed) === undefined) {
      const { code, engine } = planned.plan;
      // A failure shows when the attempt prepares itself.
      if (code !== undefined) await site.functions?.fetch(code.batchId, code.sha256).catch(() => {});
      await site.launchers.prepare(engine, environmentOf(site, planned.plan));
    }
    if (leaving.aborted || actor.state !== 'Claimed') return undefined;
    // The coordinator answers before the process exists: an attempt that was reassigned meanwhile is never executed, and
    // an executing attempt is known to be, so it is not given to another runner.
    const verdict = await reporter.report({ type: 'start', ...ref });
    if (this.#isRefused(held, verdict, 'start') || leaving.aborted) return undefined;
    if (!actor.send({ type: 'ACKNOWLEDGED' })) return undefined;
    const record: SpooledAttempt = { ...ref, directory: planned.type === 'plan' ? planned.plan.directory : '' };
    const ended = (end: AttemptEnd): { record: SpooledAttempt; end: AttemptEnd } => {
      actor.send({ type: 'ENDED', survivors: 0 });
      return { record, end };
    };
    if (planned.type === 'invalid') return ended({ type: 'fail', reason: 'invalid', error_message: planned.message });
    const unrecorded = await this.#record(record);
    if (unrecorded !== undefined) {
      return ended({ type: 'fail', reason: 'infrastructure', error_message: unrecorded });
    }
    const execution = new Attempt(site, planned.plan, actor);
    held.execution = execution;
    site.log.debug(`run ${String(assignment.job.run_config.run_id)} starts`, ref);
    const end = await execution.run(async (pid) => {
      const pidStart = site.processes.table.processStart(pid);
      await spool.running({ ...record, pid, ...(pidStart === undefined ? {} : { pidStart }) });
    });
    this.#options.onChange();
    return { record, end };
  }

  async #conclude(held: ActiveAttempt, record: SpooledAttempt, end: AttemptEnd): Promise<void> {
    const { spool, site } = this.#options;
    const ref = about(held);
    if (end.type === 'abandoned') {
      const { killedFor } = held.actor;
      site.log.info(`run killed: ${killedFor?.type === 'abandoned' ? killedFor.detail : 'abandoned'}`, ref);
      await this.#forget(record);
      return;
    }
    const outcome: Outcome =
      end.type === 'lost' ? { ...end, type: 'fail', reason: 'infrastructure', ...ref } : { ...end, ...ref };
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
      // The next claim is sent at the same time, and answered as soon as the coordinator has this outcome.
      onChange();
      const verdict = await reported;
      if (!this.#isRefused(held, verdict, 'outcome')) {
        if (outcome.type === 'complete') site.log.info('run completed', about(held));
        else site.log.warn(`run failed: ${outcome.error_message.split('\n', 1)[0] ?? ''}`, about(held));
      }
      held.actor.send({ type: 'DELIVERED' });
      await this.#forget(record);
    } catch (error) {
      // It stays in the spool for the next process under this id.
      held.actor.send({ type: 'KEPT' });
      if (!(error instanceof Stopped)) site.log.error(`an outcome was not reported: ${oneLine(error)}`, about(held));
    } finally {
      this.#held.delete(keyOf(held.actor.ref));
      onChange();
    }
  }

  /** Before the process exists, so that a successor knows of every process. Resolves to why it failed, if so. */
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

  /** Harmless when it fails: a successor reports once more and is answered as before, or refused. */
  async #forget(record: SpooledAttempt): Promise<void> {
    try {
      await this.#options.spool.settled(record);
    } catch (error) {
      this.#options.site.log.warn(`the spool cannot be written: ${oneLine(error)}`, {
        job_id: record.job_id,
        attempt: record.attempt,
      });
    }
  }

  /** A refusal means that the attempt is no longer this runner's: it is logged and dropped. */
  #isRefused(held: ActiveAttempt, verdict: Verdict, what: string): boolean {
    if (!('problem' in verdict)) return false;
    const { code, detail } = verdict.problem;
    held.actor.send({ type: 'REFUSED', code });
    this.#options.site.log.warn(`dropped: the coordinator refuses its ${what}: ${detail}`, { ...about(held), code });
    return true;
  }

  /** A machine that fails every run would fail a whole study within seconds: it pauses, longer each time. */
  #judgeFitness(end: AttemptEnd): void {
    if (end.type === 'abandoned' || end.type === 'lost') return;
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

function about({ actor }: ActiveAttempt): { job_id: string; attempt: number } {
  return { ...actor.ref };
}

function keyOf(ref: AttemptRef): string {
  return `${ref.job_id}/${String(ref.attempt)}`;
}
