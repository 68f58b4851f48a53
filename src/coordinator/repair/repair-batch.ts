/**
 * Repairs the records of one batch: counters follow the records that are left, and a run whose record or result is lost
 * becomes Failed, so that no result is silently absent. Pure, but for the names it reports.
 */
import { activeRuns, pendingRuns, type BatchContext } from '../../../machines/batch.ts';
import { INITIAL_HISTORY } from '../../../machines/job-context.ts';
import { addRun, runTelemetry } from '../../../machines/telemetry-tally.ts';
import type {
  AttemptOutcome,
  BatchStatus,
  JobRecord,
  JobStatus,
  LookUpTally,
  StoredResult,
  TelemetryTally,
  Uuid,
} from '../../contract/types.ts';
import type { RunSelection } from '../../domain/runs/run-selection.ts';
import { addLookUps } from '../../domain/runs/look-ups.ts';
import { jobId as jobIdOf, runIdOf } from '../../domain/ids.ts';
import { isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { reportedResult } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { RunRecords } from './join-records.ts';
import type { Holder } from './recount.ts';

type Change = [key: string, value: string];

/** The outcome of the attempt with which a run ends. */
const OUTCOMES: Partial<Record<JobStatus, AttemptOutcome>> = {
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
};
const ROW_LOST = 'its row was lost by damage to the data directory';
const LOST = 'its record was lost by damage to the data directory';

/** Repairs a batch's runs one by one, in order, and then the batch. */
export class BatchRepair {
  readonly #batch: BatchState;
  /** The runs that the batch holds; the cursor and the indices below are places in it. */
  readonly #selection: RunSelection;
  readonly #now: number;
  readonly #report: (finding: string, isLoss?: true) => void;
  readonly #counts: Record<JobStatus, number> = {
    Pending: 0,
    Claimed: 0,
    Running: 0,
    Completed: 0,
    Failed: 0,
    Timeout: 0,
    Cancelled: 0,
  };
  /** The variables of the study's conditions. */
  readonly #limits: readonly string[];
  #telemetry: TelemetryTally | undefined;
  #lookUps: LookUpTally | undefined;
  #expected = 0;
  #next: number;
  /** Indices of records that are Cancelled, or of an extraction, from the cursor on. */
  readonly #cancelledAhead: number[] = [];
  /** True for a run of an adaptive study whose row is lost: it cannot be executed. */
  readonly #isRowLost: (run: number) => boolean;
  /** Jobs that a runner still holds. */
  readonly held = new Set<Uuid>();

  constructor(
    batch: BatchState,
    selection: RunSelection,
    limits: readonly string[],
    now: number,
    report: (finding: string, isLoss?: true) => void,
    isRowLost: (run: number) => boolean = () => false,
  ) {
    this.#batch = batch;
    this.#selection = selection;
    this.#limits = limits;
    this.#now = now;
    this.#report = report;
    this.#isRowLost = isRowLost;
    this.#next = batch.context.next;
  }

  /** The records of a run, and of the lost runs before it. */
  run({ jobId, job, result, requeue }: RunRecords, holder: Holder | undefined): Change[] {
    const index = this.#selection.indexOf(runIdOf(jobId));
    if (index === undefined) {
      this.#report(`run ${jobId}: its study does not hold this run; its records are dropped`, true);
      return [];
    }
    const changes = this.#lostBefore(Math.min(index, this.#next));
    this.#expected = Math.max(this.#expected, index + 1);
    if (job === undefined && result === undefined) return [...changes, ...this.#lost(index)];
    const found =
      job === undefined
        ? this.#recordOf(jobId, JSON.parse(result ?? '') as StoredResult)
        : this.#settled(jobId, JSON.parse(job) as JobRecord, result, holder);
    const record = this.#isRowLost(runIdOf(jobId)) ? this.#withoutRow(found) : found;
    if (record.value === 'Cancelled') this.held.delete(jobId);
    this.#count(index, record.value);
    changes.push([keys.job(jobId), JSON.stringify(record)]);
    if (hasResult(record.value) && result !== undefined) {
      const stored = JSON.parse(result) as StoredResult;
      const telemetry = runTelemetry(stored, this.#limits);
      if (telemetry !== undefined) this.#telemetry = addRun(this.#telemetry, telemetry);
      if (record.value === 'Completed' && stored.read !== undefined)
        this.#lookUps = addLookUps(this.#lookUps, { read: stored.read });
    }
    if (hasResult(record.value)) changes.push([keys.result(jobId), result ?? failure(jobId, record.error ?? LOST)]);
    if (record.value === 'Pending') {
      const lastRunner = record.attempts.at(-1)?.runner ?? '';
      changes.push([keys.requeue(jobId), requeue ?? JSON.stringify({ lastRunner, sinceMs: this.#now })]);
    }
    return changes;
  }

  /** The record of a job of which the result alone is left. */
  #recordOf(jobId: Uuid, { success, error_message: error }: StoredResult): JobRecord {
    const value = success ? 'Completed' : 'Failed';
    this.#report(`run ${jobId}: its record is lost with its attempts; it is ${value} by its result`, true);
    return { value, ...INITIAL_HISTORY, completedAtMs: this.#now, ...(error === null ? {} : { error }) };
  }

  /** The record of the job, changed where it contradicts the others. */
  #settled(jobId: Uuid, record: JobRecord, result: string | undefined, holder: Holder | undefined): JobRecord {
    const isActive = record.value === 'Claimed' || record.value === 'Running';
    if (isActive && result !== undefined) {
      const { success } = JSON.parse(result) as { success: boolean };
      this.#report(`run ${jobId}: its record was older than its result; it is ${success ? 'Completed' : 'Failed'} now`);
      return this.#ended(record, success ? 'Completed' : 'Failed', undefined);
    }
    if (isActive && (holder?.runnerId !== record.runnerId || holder?.attempt !== record.attempt)) {
      this.#report(`run ${jobId}: the runner that executed it is lost; it is Pending again`, true);
      return {
        ...this.#ended(record, 'Pending', undefined),
        runnerId: undefined,
        claimedAtMs: undefined,
        startedAtMs: undefined,
        completedAtMs: undefined,
      };
    }
    if (isActive) this.held.add(jobId);
    if (record.value === 'Completed' && result === undefined) {
      this.#report(`run ${jobId}: its result is lost; it is Failed now`, true);
      return this.#ended(record, 'Failed', 'its result was lost by damage to the data directory');
    }
    return record;
  }

  /** A run without a row cannot be executed: it is Cancelled, unless it has ended. */
  #withoutRow(record: JobRecord): JobRecord {
    return isTerminal(record.value) ? record : this.#ended(record, 'Cancelled', undefined, ROW_LOST);
  }

  /** The untouched runs without a row are cancelled one by one. */
  #cancelWithoutRow(): Change[] {
    const changes: Change[] = [];
    const { batchId, cancelRequested } = this.#batch.context;
    if (cancelRequested) return changes;
    const cancelled = new Set(this.#cancelledAhead);
    for (let index = this.#next; index < this.#selection.count; index++) {
      const run = this.#selection.nth(index);
      if (cancelled.has(index) || !this.#isRowLost(run)) continue;
      this.#count(index, 'Cancelled');
      const record = { value: 'Cancelled', ...INITIAL_HISTORY, completedAtMs: this.#now };
      changes.push([keys.job(jobIdOf(batchId, run)), JSON.stringify(record)]);
    }
    return changes;
  }

  #ended(record: JobRecord, value: JobStatus, error: string | undefined, reason?: string): JobRecord {
    const outcome = OUTCOMES[value] ?? 'lost';
    const attempts = record.attempts.map((it) =>
      it.outcome === undefined ? { ...it, ended: this.#now, outcome, ...(reason === undefined ? {} : { reason }) } : it,
    );
    return {
      ...record,
      value,
      dueAtMs: undefined,
      completedAtMs: record.completedAtMs ?? this.#now,
      attempts,
      ...(error === undefined ? {} : { error }),
    };
  }

  /** Failed records for the runs below `end` that must have had one. */
  #lostBefore(end: number): Change[] {
    const changes: Change[] = [];
    if (this.#batch.context.cancelRequested) return changes;
    for (let index = this.#expected; index < end; index += 1) changes.push(...this.#lost(index));
    this.#expected = Math.max(this.#expected, end);
    return changes;
  }

  #lost(index: number): Change[] {
    const runId = this.#selection.nth(index);
    const jobId = jobIdOf(this.#batch.context.batchId, runId);
    this.#report(`run ${jobId} (run ${runId}): its record is lost; it is Failed now`, true);
    this.#count(index, 'Failed');
    const record = { value: 'Failed', ...INITIAL_HISTORY, completedAtMs: this.#now, error: LOST };
    return [
      [keys.job(jobId), JSON.stringify(record)],
      [keys.result(jobId), failure(jobId, LOST)],
    ];
  }

  #count(index: number, status: JobStatus): void {
    this.#counts[status] += 1;
    // The runs of an extraction are claimed in any order.
    const isInOrder = this.#batch.context.parent?.relation !== 'extraction';
    if (status !== 'Cancelled' && isInOrder) this.#next = Math.max(this.#next, index + 1);
    else if (index >= this.#next) this.#cancelledAhead.push(index);
  }

  /** The last lost runs, and the batch with the counters of its records. */
  finish(): Change[] {
    const changes = [...this.#lostBefore(this.#next), ...this.#cancelWithoutRow()];
    const { value, context } = this.#batch;
    const counts = this.#counts;
    const records = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const repaired: BatchContext = {
      ...context,
      next: context.cancelRequested ? context.totalJobs : this.#next,
      cancelledAhead: context.cancelRequested ? 0 : this.#cancelledAhead.filter((index) => index >= this.#next).length,
      requeued: counts.Pending,
      claimed: counts.Claimed,
      running: counts.Running,
      completed: counts.Completed,
      failed: counts.Failed,
      timedOut: counts.Timeout,
      cancelled: counts.Cancelled + (context.cancelRequested ? context.totalJobs - records : 0),
      // Equal tallies may differ in the order of their variables; the stored one stays then.
      // The names that were asked for are in no result.
      lookUps: this.#lookUps && { ...this.#lookUps, asked: context.lookUps?.asked ?? [] },
      telemetry: this.#telemetry?.reported === context.telemetry?.reported ? context.telemetry : this.#telemetry,
    };
    if (repaired.growing === true && pendingRuns(repaired) + activeRuns(repaired) === 0)
      repaired.waitingSinceMs ??= this.#now;
    this.#reportCounters(repaired);
    const status = statusOf(value, repaired);
    if (status !== value) this.#report(`study ${context.batchId}: it was ${value}; by its runs it is ${status} now`);
    if (isTerminal(status)) repaired.endedAtMs ??= this.#now;
    else repaired.endedAtMs = undefined;
    changes.push([keys.batch(context.batchId), JSON.stringify({ value: status, ...repaired })]);
    if (!isTerminal(status)) changes.push([keys.open(context.batchId), '']);
    return changes;
  }

  #reportCounters(repaired: BatchContext): void {
    const { context } = this.#batch;
    const names = [
      'next',
      'cancelledAhead',
      'requeued',
      'claimed',
      'running',
      'completed',
      'failed',
      'timedOut',
      'cancelled',
    ] as const;
    const changed = names.filter((name) => repaired[name] !== context[name]);
    const shown = changed.map((name) => `${name} ${String(context[name])} -> ${String(repaired[name])}`);
    const [before, after] = [context, repaired].map(({ telemetry }) => telemetry?.reported ?? 0);
    if (before !== after) shown.push(`runs with telemetry ${String(before)} -> ${String(after)}`);
    if (shown.length === 0) return;
    this.#report(`study ${context.batchId}: its counters follow the records that are left: ${shown.join(', ')}`);
  }
}

const hasResult = (status: JobStatus): boolean => status === 'Completed' || status === 'Failed' || status === 'Timeout';

const failure = (jobId: Uuid, error: string): string => JSON.stringify(reportedResult(jobId, undefined, error, 0));

/** The status that the batch machine gives a batch with these counters. */
function statusOf(value: BatchStatus, c: BatchContext): BatchStatus {
  if (pendingRuns(c) + activeRuns(c) > 0 || c.growing === true) {
    if (!isTerminal(value)) return value;
    return 'Running';
  }
  if ((c.cancelRequested && c.settledAtRunId === undefined) || (c.totalJobs > 0 && c.cancelled === c.totalJobs))
    return 'Cancelled';
  return c.completed > 0 || c.totalJobs === 0 ? 'Completed' : 'Failed';
}
