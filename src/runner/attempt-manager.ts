/**
 * The attempts that the coordinator has assigned to this runner, each from its claim to the acknowledgement of its outcome:
 * waits for a slot, reports the start, executes, keeps the outcome until it is delivered. When to claim and when to leave is
 * decided in `agent.ts`; the states are in `machines/attempt.ts`.
 *
 *   take ─► Claimed, no slot ─► Claimed, slot ─► start is acknowledged ─► execution ─► slot free ─► Reporting, Uploading ─► released
 *             │                  │                │                         │                         ▲
 *             │ long wait, unfit,│ runner leaves, │ start refused           │ drop: killed,           │
 *             │ leaving, drop    │ drop           │                         │ without an outcome      │
 *             ▼                  ▼                ▼                         ▼                         │
 *           handed back ───────────────────────► released        recover: outcomes of a former process
 */
import type { Assignment, AttemptRef, BatchConfig } from '../contract/types.ts';
import { checkpointRoot, type RunnerConfig } from './config/config.ts';
import { countsOf } from './config/resources.ts';
import { AttemptActor } from './attempt-actor.ts';
import { AttemptCheckpoint } from './attempt/attempt-checkpoint.ts';
import { Checkpoints } from './checkpoints/checkpoints.ts';
import { executionPlan, resourcesOf } from './attempt/execution-plan.ts';
import { leftBy, type AttemptEnd } from './attempt/outcome.ts';
import { prepareMachine } from './attempt/preparation.ts';
import { type ActiveAttempt, activeAttempt } from './capacity/active-attempt.ts';
import { executionOf } from './attempt/shared/execution.ts';
import type { ExecutionSite } from './attempt/execution-site.ts';
import { ClaimAhead, HAND_BACK_MS } from './capacity/claim-ahead.ts';
import { Fitness } from './capacity/fitness.ts';
import { Lanes } from './capacity/lanes.ts';
import { Slots } from './capacity/slots.ts';
import { Stopped } from './connection/coordinator-connection.ts';
import { OutcomeDelivery } from './attempt/outcome-delivery.ts';
import type { ReportQueue } from './connection/report-queue.ts';
import { recover, type Undelivered } from './recovery.ts';
import type { Spool, SpooledAttempt } from './spool.ts';
import { oneLine } from './system-error.ts';

/** An assignment before it is executed. */
interface Claimed {
  planned: ReturnType<typeof executionPlan>;
  record: SpooledAttempt;
  /** Resolves when the record is in the spool, to why it cannot be, if so. */
  recorded: Promise<string | undefined>;
}

type Ended = { record: SpooledAttempt; end: AttemptEnd };
type ManagerConfig = 'engines' | 'outputRoot' | 'checkpointDir' | 'maxConcurrentJobs' | 'cpuCores' | 'memoryGb';

export interface AttemptManagerOptions {
  config: Pick<RunnerConfig, ManagerConfig> & Partial<Pick<RunnerConfig, 'resources' | 'devices'>>;
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

export class AttemptManager {
  /** Time (monotonic) until which this machine is not fit for new jobs. */
  unfitUntilMs = 0;
  readonly slots: Slots;
  readonly #lanes: Lanes;
  readonly ahead: ClaimAhead;
  readonly #delivery: OutcomeDelivery;
  readonly #checkpoints: Checkpoints;
  readonly #fitness = new Fitness();
  readonly #options: AttemptManagerOptions;
  readonly #held = new Map<string, ActiveAttempt>();

  constructor(options: AttemptManagerOptions) {
    this.#options = options;
    const { config, site, onChange, spool, reporter, leaving } = options;
    const { maxConcurrentJobs: slots, cpuCores, memoryGb, devices } = config;
    const resources = countsOf(config);
    this.slots = new Slots({ slots, cpuCores, memoryGb, resources, devices, log: site.log, onChange });
    this.#lanes = new Lanes(this.slots, site.clock);
    this.ahead = new ClaimAhead(slots);
    this.#delivery = new OutcomeDelivery({ spool, reporter, uploads: site.uploads, log: site.log, onReport: onChange });
    const isOwn = config.checkpointDir === undefined;
    this.#checkpoints = new Checkpoints(checkpointRoot(config), site.waits.child(), site.log, isOwn);
    if (isOwn) void this.#checkpoints.sweep(site.clock.now());
    leaving.addEventListener('abort', () => this.handBackWaiting('the runner leaves'));
  }

  /** Number of attempts that the coordinator has not yet acknowledged. */
  get size(): number {
    return this.#held.size;
  }

  /** How many more jobs to claim now: for free slots, and to wait for one. */
  get wanted(): number {
    let executing = 0;
    let waiting = 0;
    // Hundreds may be held: `forEach` makes no object for each.
    this.#held.forEach(({ actor, slot, hasEnded }) => {
      if (actor.state === 'Claimed' && slot === undefined) waiting += 1;
      else if (!hasEnded && actor.state !== 'Reporting' && actor.state !== 'Done') executing += 1;
    });
    const free = this.#options.config.maxConcurrentJobs - this.slots.lost - executing - waiting;
    const isDue = free > 0 || this.ahead.isDue(waiting, this.#held.size + this.slots.lost);
    return isDue ? Math.max(0, free + this.ahead.depth) : 0;
  }

  /** Whether runs wait for a slot, or for a place in a lane. */
  get isStartExpected(): boolean {
    return this.slots.waiting + this.#lanes.waiting > 0;
  }

  /** Attempts that have processes, or may get them: also those whose start is being reported. */
  get running(): number {
    const mayRun = ({ actor, slot }: ActiveAttempt): boolean =>
      actor.isExecuting || (slot !== undefined && actor.state === 'Claimed');
    return [...this.#held.values()].filter(mayRun).length;
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
      this.#held.set(keyOf(record), activeAttempt(actor));
    }
    return undelivered;
  }

  resume(undelivered: readonly Undelivered[]): void {
    for (const { record, outcome } of undelivered) {
      const held = this.#held.get(keyOf(record));
      if (held === undefined) continue;
      const delivered = this.#delivery.deliver(held.actor, record, outcome);
      void delivered.then((isOver) => this.#release(Object.assign(held, { isOver })));
    }
  }

  /** Processes the assignment in the background, to its end. Returns false when it is held already. */
  take(assignment: Assignment, batch: BatchConfig | undefined, priority = 0): boolean {
    const ref = { job_id: assignment.job.id, attempt: assignment.attempt };
    if (this.#held.has(keyOf(ref))) return false;
    const held = activeAttempt(new AttemptActor(ref, this.#options.site.log));
    this.#held.set(keyOf(ref), held);
    this.#process(held, assignment, batch, priority)
      .catch((error: unknown) => {
        if (error instanceof Stopped) return;
        this.#options.site.log.error(`a run was given up: ${oneLine(error)}`, { ...ref });
      })
      .finally(() => this.#release(held));
    return true;
  }

  /** Ends the attempt without an outcome; an outcome that exists is reported all the same. @param isOver no runner executes the run again. */
  drop(ref: AttemptRef, why: string, isOver = false): void {
    const held = this.#held.get(keyOf(ref));
    if (held === undefined) return;
    if (isOver) held.isOver = true;
    if (held.execution !== undefined) held.execution.end('abandoned', why);
    else if (held.actor.send({ type: 'KILL', cause: { type: 'abandoned', detail: why } })) this.#release(held);
  }

  dropAll(why: string): void {
    for (const ref of this.refs()) this.drop(ref, why);
  }

  /** Ends all simulations; their runs are reported as interrupted. Runs that have none are left to the sign-off. */
  interruptAll(why: string): void {
    for (const { execution } of this.#held.values()) execution?.end('interrupted', why);
    this.dropAll(why);
  }

  /** Returns the runs without a slot: another runner may start them at once. */
  handBackWaiting(why: string): void {
    const { reporter, site } = this.#options;
    for (const held of this.#held.values()) {
      if (held.slot !== undefined) continue;
      if (!held.actor.send({ type: 'KILL', cause: { type: 'abandoned', detail: why } })) continue;
      site.log.debug(`handed back: ${why}`, { ...held.actor.ref });
      // Held until the coordinator has it: until then a claim that does not name it would get it again.
      void reporter
        .report({ type: 'hand_back', ...held.actor.ref })
        .catch(() => {})
        .then(() => this.#release(held));
    }
  }

  #release(held: ActiveAttempt): void {
    if (this.#held.get(keyOf(held.actor.ref)) !== held) return;
    this.#held.delete(keyOf(held.actor.ref));
    if (held.record !== undefined) this.#options.spool.settled(held.record);
    this.#options.site.storedCheckpoints?.forget(held.actor.ref);
    if (held.isOver) void this.#checkpoints.remove(held.actor.ref.job_id);
    this.#options.onChange();
  }

  async #process(
    held: ActiveAttempt,
    assignment: Assignment,
    batch: BatchConfig | undefined,
    priority: number,
  ): Promise<void> {
    const { config, site } = this.#options;
    const planned = executionPlan(config, assignment, batch);
    held.record = { ...held.actor.ref, directory: planned.type === 'plan' ? planned.plan.directory : '' };
    // Runs that are claimed together are written together. A run that shares its process is recorded when it takes some time.
    const shared = planned.type === 'plan' && planned.plan.isShared === true ? planned.plan : undefined;
    const recorded = shared !== undefined ? Promise.resolve(undefined) : this.#options.spool.recorded(held.record);
    const endWaiting = site.clock.after(HAND_BACK_MS, () => {
      this.ahead.reset();
      this.handBackWaiting('the runs before it take long');
    });
    const request = { ...resourcesOf(batch), priority };
    const lane = shared && (await this.#lanes.take(assignment.job.batch_id, request, shared.timeoutSecs * 1000));
    const slot = lane ?? (await this.slots.take(request));
    endWaiting();
    held.slot = slot;
    if (planned.type === 'plan') planned.plan.devices = slot.devices;
    if (shared !== undefined && lane !== undefined) shared.lane = lane.lane;
    const sinceMs = site.clock.monotonicMs();
    const onEnded = (ms?: number): void => {
      held.hasEnded = true;
      lane?.note(ms ?? 0);
      slot.free();
      if (lane === undefined) this.ahead.note(site.clock.monotonicMs() - sinceMs);
      else this.ahead.note(lane.meanMs(), { isShared: true });
      this.#options.onChange();
    };
    const ended = await this.#execute(held, { planned, record: held.record, recorded }, onEnded).finally(() => {
      // The coordinator frees a job's slot when it knows the outcome, which may be before its processes are dead.
      slot.close(held.execution?.remains(), { ...held.actor.ref });
      held.execution = undefined;
    });
    if (ended === undefined) return;
    this.#judgeFitness(ended.end);
    if (await this.#delivery.conclude(held.actor, leftBy(planned, ended), ended.end)) held.isOver = true;
  }

  /** Executes an attempt. Resolves with undefined when it is not to be executed. */
  async #execute(
    held: ActiveAttempt,
    { planned, record, recorded }: Claimed,
    onEnded: (ms?: number) => void,
  ): Promise<Ended | undefined> {
    const { spool, reporter, site, leaving } = this.#options;
    const { actor } = held;
    if (leaving.aborted || actor.state !== 'Claimed') return undefined;
    const plan = planned.type === 'plan' ? planned.plan : undefined;
    const checkpoint = plan && AttemptCheckpoint.of(site.storedCheckpoints, actor, plan);
    // The machine is prepared before the start is reported: the time limit of the run counts from that report on.
    const reported = plan && (await prepareMachine(site, plan, checkpoint));
    if (leaving.aborted || actor.state !== 'Claimed') return undefined;
    const additions = { ...checkpoint?.additions, reported, sinceMs: site.clock.monotonicMs() };
    const execution = plan && executionOf(site, Object.assign(plan, additions), actor);
    // The coordinator answers before the process exists: an attempt that was reassigned meanwhile is never executed, and
    // an executing attempt is known to be, so it is not given to another runner. Everything but the process is made meanwhile.
    const preparing = recorded.then(async (unrecorded) => {
      await checkpoint?.fetched;
      if (unrecorded === undefined) await execution?.prepare();
      return unrecorded;
    });
    const start = { type: 'start' as const, ...actor.ref, ...(reported && { code: reported.identity }) };
    const verdict = await reporter.report(start).catch((error: unknown) => error as Error);
    const isOver = verdict instanceof Error || this.#delivery.isRefused(actor, verdict, 'start') || leaving.aborted;
    const isAcknowledged = !isOver && actor.send({ type: 'ACKNOWLEDGED' });
    if (execution !== undefined) held.execution = execution;
    const unrecorded = await preparing;
    if (!isAcknowledged) {
      await execution?.discard();
      if (verdict instanceof Error) throw verdict;
      return undefined;
    }
    held.record = undefined;
    const failed = (reason: 'invalid' | 'infrastructure', error_message: string): Ended => {
      actor.send({ type: 'ENDED', survivors: 0 });
      return { record, end: { type: 'fail', reason, error_message } };
    };
    if (planned.type === 'invalid' || execution === undefined)
      return failed('invalid', 'message' in planned ? planned.message : '');
    if (unrecorded !== undefined) return failed('infrastructure', unrecorded);
    site.log.debug(`run ${String(planned.plan.runConfig.run_id)} starts`, { ...actor.ref });
    const launched = (pid: number, pidStart: string | undefined): Promise<void> =>
      spool.running({ ...record, pid, ...(pidStart === undefined ? {} : { pidStart }) });
    checkpoint?.follow();
    const end = await execution.run({ launched, ended: onEnded });
    this.#options.onChange();
    await checkpoint?.end((end.type === 'abandoned' || end.type === 'released') && leaving.aborted);
    return { record, end };
  }

  #judgeFitness(end: AttemptEnd): void {
    const fault = this.#fitness.judge(end);
    if (fault === undefined) return;
    const { clock, log } = this.#options.site;
    this.unfitUntilMs = clock.monotonicMs() + fault.pauseMs;
    this.#options.onUnfit();
    this.handBackWaiting('this machine cannot execute');
    log.error(`no new runs for ${String(fault.pauseMs / 1000)} s, this machine cannot execute: ${fault.why}`);
  }
}

const keyOf = (ref: AttemptRef): string => `${ref.job_id}/${String(ref.attempt)}`;
