/**
 * One run of an extraction: the runner computes histories and derived outputs of the telemetry that a finished run has left, and starts nothing for it; or
 * it executes the program of the extraction, which finds copies of the files. Those of the finished run are read alone.
 */
import type { JobResult, ReportedResult } from '../../../contract/types.ts';
import { EXECUTION_SECS, executionSecsOf, outputsOf } from '../../../domain/runs/outputs.ts';
import type { AttemptActor } from '../../attempt-actor.ts';
import type { ExecutionPlan, ExecutionSite } from '../execution-site.ts';
import { infrastructure, type AttemptEnd } from '../outcome.ts';
import { collectorOf, computedOf } from '../result/computed.ts';
import { Attempt, type Execution, type RunCalls } from '../run-attempt.ts';
import { isDiskFull, oneLine, systemCode } from '../../system-error.ts';
import { DeadlineError, type Waits } from '../../waits.ts';
import { isStale, type ParentRun, type ParentRuns } from './parent-runs.ts';
import { readTelemetry } from './stored-telemetry.ts';

/** A telemetry file that is not read after this long is on a disk that does not answer. */
const READING_MS = 1_800_000;

export class ExtractedRun implements Execution {
  readonly #site: ExecutionSite;
  readonly #plan: ExecutionPlan;
  readonly #actor: AttemptActor;
  readonly #parents: ParentRuns;
  readonly #waits: Waits;
  readonly #stop = new AbortController();
  /** Executes the program, where there is one. */
  readonly #program: Attempt | undefined;

  constructor(site: ExecutionSite, plan: ExecutionPlan, actor: AttemptActor, parents: ParentRuns) {
    this.#site = site;
    this.#plan = plan;
    this.#actor = actor;
    this.#parents = parents;
    this.#waits = site.waits.child();
    this.#program = plan.parent === undefined ? undefined : new Attempt(site, plan, actor);
  }

  end(type: 'abandoned' | 'interrupted', detail: string): void {
    if (this.#program !== undefined) this.#program.end(type, detail);
    else this.#actor.send({ type: 'KILL', cause: { type, detail } });
    if (this.#actor.killedFor !== undefined) this.#stop.abort();
  }

  async prepare(): Promise<void> {
    await this.#program?.prepare();
  }

  async discard(): Promise<void> {
    await this.#program?.discard();
  }

  remains(): { what: string; gone: Promise<void> } | undefined {
    const what = this.#waits.overdue.map((it) => `${it} does not return`);
    return what.length === 0 ? this.#program?.remains() : { what: what.join(', '), gone: this.#waits.idle() };
  }

  /** Never rejects for anything that the coordinator, the object store or the machine does. */
  async run(calls: RunCalls = {}): Promise<AttemptEnd> {
    const end = await this.#execute(calls).catch((error: unknown) => this.#failure(error));
    // The program has reported its own end.
    if (!this.#actor.isExecuting) return end;
    await this.discard();
    this.#actor.send({ type: 'ENDED', survivors: 0 });
    calls.ended?.();
    const { killedFor } = this.#actor;
    if (killedFor?.type === 'abandoned') return { type: 'abandoned' };
    return killedFor?.type === 'interrupted' ? { type: 'released', message: killedFor.detail } : end;
  }

  #failure(error: unknown): AttemptEnd {
    if (isStale(error)) return { type: 'abandoned' };
    if (isDiskFull(error)) return infrastructure(`the disk of ${this.#plan.directory} is full`);
    if (error instanceof DeadlineError) return infrastructure(`the machine does not answer: ${error.message}`);
    return infrastructure(`the files of the finished run could not be read: ${oneLine(error)}`);
  }

  async #execute(calls: RunCalls): Promise<AttemptEnd> {
    const { clock } = this.#site;
    const { directory, parent: place } = this.#plan;
    const sinceMs = clock.monotonicMs();
    const { ref } = this.#actor;
    const { signal } = this.#stop;
    const parent = await (place === undefined
      ? this.#parents.open(ref, directory, signal)
      : this.#parents.copy(ref, directory, signal));
    if ('gone' in parent) return gone(parent.gone);
    try {
      return await (this.#program === undefined ? this.#compute(parent, sinceMs) : this.#program.run(calls));
    } finally {
      await parent.close();
    }
  }

  async #compute({ result, telemetry }: ParentRun, sinceMs: number): Promise<AttemptEnd> {
    const { clock } = this.#site;
    const histories = collectorOf(this.#plan);
    if (histories === undefined) return { type: 'fail', reason: 'invalid', error_message: 'nothing is to be computed' };
    if (telemetry !== undefined) {
      const reading = readTelemetry(telemetry, histories, clock, this.#stop.signal);
      try {
        await this.#waits.within(READING_MS, `reading ${telemetry}`, reading);
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return gone(`${telemetry} does not exist any more`);
        if (error instanceof DeadlineError || systemCode(error) !== undefined) throw error;
        const message = `the telemetry of the finished run, ${telemetry}, is not readable: ${oneLine(error)}`;
        return { type: 'fail', reason: 'invalid', error_message: message };
      }
    }
    const elapsedMs = clock.monotonicMs() - sinceMs;
    const outputs = outputsOf(result.metadata);
    if (!outputs.has(EXECUTION_SECS)) outputs.set(EXECUTION_SECS, executionSecsOf(result));
    const run = { plan: this.#plan, histories, elapsedMs, outputs };
    const computed = await computedOf(clock, this.#waits, run, { metadata: {} });
    const notes = [...computed.notes, ...lossOf(result)];
    const reported: ReportedResult = {
      execution_time_secs: Math.round(elapsedMs / 1000),
      execution_secs: elapsedMs / 1000,
      output_files: [],
      metadata: { ...computed.metadata, ...(notes.length === 0 ? {} : { simbatch_notes: notes }) },
      ...computed.members,
    };
    return { type: 'complete', result: reported };
  }
}

const gone = (why: string): AttemptEnd => ({
  type: 'fail',
  reason: 'files-gone',
  error_message: `the files of the finished run are gone: ${why}`,
});

/** Samples that the finished run has lost are in no value. */
function lossOf({ telemetry }: Pick<JobResult, 'telemetry'>): string[] {
  const lost = telemetry?.lost ?? 0;
  return lost === 0
    ? []
    : [`${lost} telemetry samples of the finished run were lost when it ran: they are in no value`];
}
