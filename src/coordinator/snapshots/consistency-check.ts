/**
 * The books of an export, gone through record by record: each job's history is replayed, each batch's counters are recounted,
 * and what runners hold is held against what jobs say. Memory grows with what is active, not with what there is.
 */
import { pendingRuns } from '../../../machines/batch.ts';
import type { JobStatus } from '../../contract/types.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { jobsByStatus } from '../resources/to-resource.ts';
import {
  isTerminal,
  jobFromRecord,
  type BatchState,
  type JobRecord,
  type JobState,
  type RunnerState,
} from '../actors/actor-kinds.ts';
import type { DivergenceLog } from './divergence.ts';
import { splitKey, type RecordName, type SnapshotRecord, type StoredState } from './format.ts';
import { pastOf } from './history.ts';
import { ActorPlayer, plain } from './actor-player.ts';
import { unusable } from './read.ts';

type Count = Record<JobStatus, number>;

/** One batch as it is gone through. */
interface Account {
  state: BatchState;
  jobs: Count;
  touched: number;
  touchedPending: number;
  results: { good: number; bad: number };
  hasSubmission: boolean;
  lastJob: string;
  lastResult: string;
}

const NONE: Count = { Pending: 0, Claimed: 0, Running: 0, Completed: 0, Failed: 0, Timeout: 0, Cancelled: 0 };

export class ConsistencyCheck {
  readonly #findings: DivergenceLog;
  #account: Account | undefined;
  readonly #batches = new Set<string>();
  readonly #runners = new Set<string>();
  /** Job -> runner and attempt, of what is Claimed or Running and no runner was found to hold yet. */
  readonly #active = new Map<string, { runnerId: string; attempt: number }>();

  constructor(findings: DivergenceLog) {
    this.#findings = findings;
  }

  /** @throws SimbatchError `snapshot-unusable`: the record stands where it makes no sense */
  add(record: SnapshotRecord): void {
    const { name, id } = splitKey(record.key);
    const value = record.value as unknown;
    const take: Record<RecordName, () => void> = {
      batch: () => this.#batch(id, value as StoredState),
      submission: () => void (this.#accountOf(id, record.key).hasSubmission = true),
      job: () => this.#job(id, value as JobRecord, record.key),
      result: () => this.#result(id, value as { success: boolean }, record.key),
      runner: () => this.#runner(id, value as StoredState),
    };
    take[name as RecordName]();
  }

  /** Closes the books: nothing comes any more. */
  finish(): void {
    this.#close();
    for (const [jobId, { runnerId }] of this.#active) {
      this.#findings.part(`job/${jobId}`, `runner "${runnerId}" has it, and does not hold it by its own record`);
    }
  }

  #batch(batchId: string, { value, ...context }: StoredState): void {
    this.#close();
    if (this.#batches.has(batchId)) throw unusable(`batch ${batchId} comes twice`);
    this.#batches.add(batchId);
    this.#findings.report.actors += 1;
    this.#account = {
      state: { value, context } as unknown as BatchState,
      jobs: { ...NONE },
      touched: 0,
      touchedPending: 0,
      results: { good: 0, bad: 0 },
      hasSubmission: false,
      lastJob: '',
      lastResult: '',
    };
  }

  #accountOf(batchId: string, key: string): Account {
    if (this.#account?.state.context.batchId === batchId) return this.#account;
    throw unusable(`${key} does not stand behind its batch`);
  }

  #job(jobId: string, record: JobRecord, key: string): void {
    const account = this.#accountOf(batchIdOf(jobId), key);
    const { context: batch } = account.state;
    if (runIdOf(jobId) >= batch.totalJobs) throw unusable(`${key} is run ${runIdOf(jobId)} of ${batch.totalJobs}`);
    if (jobId <= account.lastJob) throw unusable(`${key} does not stand in the order of runs`);
    account.lastJob = jobId;
    const state = jobFromRecord(jobId, record, batch);
    const { value, context } = state;
    account.touched += 1;
    account.jobs[value] += 1;
    if (value === 'Pending') account.touchedPending += 1;
    if (value === 'Claimed' || value === 'Running') {
      this.#active.set(jobId, { runnerId: context.runnerId ?? '', attempt: context.attempt });
    }
    this.#replayJob(state, key);
  }

  #replayJob(state: JobState, key: string): void {
    const findings = this.#findings;
    const { start, events } = pastOf(state);
    const { context } = state;
    findings.report.actors += 1;
    findings.report.events += events.length;
    findings.report.attemptsOmitted += context.attemptsOmitted;
    const player = ActorPlayer.restore('job', plain({ value: 'Pending', ...context, ...start }));
    for (const event of events) {
      if (event.type === 'restart') {
        player.restart(event.now);
        continue;
      }
      if (player.send(event) === 'refused') {
        const at = new Date(event.now).toISOString();
        findings.part(key, `by its history ${event.type} came at ${at}, which a ${player.state} job does not take`);
        return;
      }
    }
    findings.compare(key, '', plain({ value: state.value, ...context }), player.stored);
  }

  #result(jobId: string, { success }: { success: boolean }, key: string): void {
    const account = this.#accountOf(batchIdOf(jobId), key);
    if (jobId <= account.lastResult) throw unusable(`${key} does not stand in the order of runs`);
    account.lastResult = jobId;
    account.results[success ? 'good' : 'bad'] += 1;
  }

  #close(): void {
    const account = this.#account;
    if (account === undefined) return;
    this.#account = undefined;
    const { state, jobs, touched } = account;
    const { context: batch } = state;
    const where = `batch/${batch.batchId}`;
    const findings = this.#findings;
    // Runs without a record: nothing happened to them but what happened to their batch.
    jobs[batch.cancelRequested ? 'Cancelled' : 'Pending'] += batch.totalJobs - touched;
    findings.compare(where, 'jobs by status', jobsByStatus(state), jobs);
    findings.compare(where, 'requeued runs', batch.requeued, account.touchedPending);
    const results = { good: jobs.Completed, bad: jobs.Failed + jobs.Timeout };
    findings.compare(where, 'results', account.results, results);
    if (!account.hasSubmission) findings.part(where, 'its submission is missing');
    const isOver = pendingRuns(batch) + batch.claimed + batch.running === 0;
    if (isOver !== isTerminal(state.value))
      findings.part(where, `it is ${state.value}, and its runs are ${isOver ? '' : 'not '}over`);
  }

  #runner(runnerId: string, { value, ...context }: StoredState): void {
    this.#close();
    if (this.#runners.has(runnerId)) throw unusable(`runner ${runnerId} comes twice`);
    this.#runners.add(runnerId);
    this.#findings.report.actors += 1;
    const state = { value, context } as unknown as RunnerState;
    for (const { jobId, attempt } of state.context.held) {
      const active = this.#active.get(jobId);
      if (active?.runnerId === runnerId && active.attempt === attempt) this.#active.delete(jobId);
      else
        this.#findings.part(
          `runner/${runnerId}`,
          `it holds attempt ${attempt} of job ${jobId}, which is not so by the job's record`,
        );
    }
  }
}
