/**
 * Checks an export record by record: replays each job's history, recounts each batch's counters, and compares the jobs that
 * runners hold with the jobs' own records. Memory grows with the number of active jobs, not with the size of the file.
 */
import type { RecordName } from '../../contract/records/records.ts';
import { pendingRuns } from '../../../machines/batch.ts';
import type { BatchConfig, HistoryRecord, JobStatus, JobRecord, StoredResult } from '../../contract/types.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { RunSelection, selectedRuns } from '../../domain/runs/run-selection.ts';
import { rowDesign } from '../../domain/adaptive/given-rows.ts';
import { RoundChain } from '../kernel/records/round-chain.ts';
import { historyAt } from '../kernel/storage/keys.ts';
import { HistoryAccount } from '../histories/account.ts';
import { recordDigest } from '../kernel/records/stored-rounds.ts';
import { jobsByStatus } from '../kernel/records/to-resource.ts';
import {
  isTerminal,
  jobFromRecord,
  type BatchState,
  type JobState,
  type RunnerState,
} from '../kernel/actors/actor-kinds.ts';
import type { DivergenceLog } from './divergence.ts';
import { splitKey, type SnapshotRecord, type StoredState } from './format.ts';
import { pastOf } from '../../../machines/job-parts/past.ts';
import { ActorPlayer, plain } from '../../../machines/actor-player.ts';
import { unusable } from './read.ts';

type Count = Record<JobStatus, number>;

/** The members of a submission that the check reads; a file may hold anything in their place. */
interface SubmissionRecord {
  submission: {
    config?: Partial<Pick<BatchConfig, 'dispersions' | 'adaptive' | 'histories' | 'scenarios' | 'epistemic'>> & {
      monte_carlo?: { run_ids?: unknown; cell_run_ids?: unknown };
    };
  };
}

/** The batch whose records are being read. */
interface Account {
  state: BatchState;
  jobs: Count;
  touched: number;
  touchedPending: number;
  results: { good: number; bad: number };
  hasSubmission: boolean;
  /** The runs of a batch that holds a selection of its design, once its submission was read. */
  selection: RunSelection | undefined;
  /** Of an adaptive batch, once its submission was read. */
  chain: RoundChain | undefined;
  lastJob: string;
  lastResult: string;
  histories: HistoryAccount;
}

const NONE: Count = { Pending: 0, Claimed: 0, Running: 0, Completed: 0, Failed: 0, Timeout: 0, Cancelled: 0 };

export class ConsistencyCheck {
  readonly #findings: DivergenceLog;
  #account: Account | undefined;
  readonly #batches = new Set<string>();
  readonly #runners = new Set<string>();
  /** Job -> runner and attempt, of active jobs that no runner read so far holds. */
  readonly #active = new Map<string, { runnerId: string; attempt: number }>();

  constructor(findings: DivergenceLog) {
    this.#findings = findings;
  }

  /** @throws SimbatchError `snapshot-unusable`: the record is out of order or a duplicate */
  add(record: SnapshotRecord): void {
    const { name, id } = splitKey(record.key);
    const value = record.value as unknown;
    const take: Record<RecordName, () => void> = {
      batch: () => this.#batch(id, value as StoredState),
      submission: () => this.#submission(id, value as SubmissionRecord, record.key),
      round: () => this.#round(id, value, record.key),
      rows: () => this.#rows(id, value, record.key),
      job: () => this.#job(id, value as JobRecord, record.key),
      result: () => this.#result(id, value as StoredResult, record.key),
      history: () => this.#history(id, value as HistoryRecord, record.key),
      runner: () => this.#runner(id, value as StoredState),
    };
    take[name as RecordName]();
  }

  /** Ends the check: there are no more records. */
  finish(): void {
    this.#close();
    for (const [jobId, { runnerId }] of this.#active) {
      this.#findings.add(
        `job/${jobId}`,
        `runner "${runnerId}" executes it by the run's record, and does not hold it by its own`,
      );
    }
  }

  #batch(batchId: string, { value, ...context }: StoredState): void {
    this.#close();
    if (this.#batches.has(batchId)) throw unusable(`study ${batchId} occurs twice`);
    this.#batches.add(batchId);
    this.#findings.report.actors += 1;
    this.#account = {
      state: { value, context } as unknown as BatchState,
      jobs: { ...NONE },
      touched: 0,
      touchedPending: 0,
      results: { good: 0, bad: 0 },
      hasSubmission: false,
      selection: undefined,
      chain: undefined,
      lastJob: '',
      lastResult: '',
      histories: new HistoryAccount(),
    };
  }

  #accountOf(batchId: string, key: string): Account {
    if (this.#account?.state.context.batchId === batchId) return this.#account;
    throw unusable(`${key} does not follow its study`);
  }

  #submission(batchId: string, record: SubmissionRecord, key: string): void {
    const { submission } = record;
    const account = this.#accountOf(batchId, key);
    account.hasSubmission = true;
    account.histories.declare(submission.config?.histories ?? []);
    const { selectsRuns, totalJobs, parent } = account.state.context;
    if (submission.config?.adaptive !== undefined) {
      const { dispersions = {}, adaptive } = submission.config;
      const shape = rowDesign({ dispersions, adaptive });
      // The rounds of a study that came of another one begin with the submission of that one.
      const start = parent === undefined ? recordDigest(JSON.stringify(record)) : undefined;
      account.chain = new RoundChain(shape, start, (fault, isMarked) => {
        if (isMarked !== true) this.#findings.add(`batch/${batchId}`, fault);
      });
    }
    if (selectsRuns !== true) return;
    const selection = selectionIn(submission.config);
    if (typeof selection === 'string') throw unusable(`the run_ids of ${key} ${selection}`);
    if (selection.count < totalJobs) {
      throw unusable(`the run_ids of ${key} select ${selection.count} runs, and its study has ${totalJobs}`);
    }
    account.selection = selection.take(totalJobs);
  }

  #round(id: string, value: unknown, key: string): void {
    const { chain } = this.#accountOf(id.slice(0, id.indexOf('/')), key);
    if (chain === undefined) throw unusable(`${key} is a round of a study that has none`);
    const { round } = value as { round: number };
    if (!id.endsWith(`/${round.toString(16).padStart(8, '0')}`))
      throw unusable(`${key} says that it is round ${round}`);
    chain.round(JSON.stringify(value));
  }

  #rows(id: string, value: unknown, key: string): void {
    const { chain } = this.#accountOf(id.slice(0, id.indexOf('/')), key);
    if (chain === undefined) throw unusable(`${key} has rows of a study that takes none`);
    chain.block(JSON.stringify(value));
  }

  #job(jobId: string, record: JobRecord, key: string): void {
    const account = this.#accountOf(batchIdOf(jobId), key);
    const { context: batch } = account.state;
    const runId = runIdOf(jobId);
    const isHeld =
      batch.selectsRuns === true ? account.selection?.indexOf(runId) !== undefined : runId < batch.totalJobs;
    if (!isHeld && batch.selectsRuns === true) throw unusable(`${key} is run ${runId}, which its study does not hold`);
    if (!isHeld) throw unusable(`${key} is run ${runId} of ${batch.totalJobs}`);
    if (jobId <= account.lastJob) throw unusable(`${key} is not in the order of runs`);
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
        findings.add(key, `its history has ${event.type} at ${at}, which a ${player.state} run does not accept`);
        return;
      }
    }
    findings.compare(key, '', plain({ value: state.value, ...context }), player.stored);
  }

  #result(jobId: string, { success, history_count: histories = 0 }: StoredResult, key: string): void {
    const account = this.#accountOf(batchIdOf(jobId), key);
    if (jobId <= account.lastResult) throw unusable(`${key} is not in the order of runs`);
    account.lastResult = jobId;
    account.results[success ? 'good' : 'bad'] += 1;
    account.histories.result(runIdOf(jobId), histories);
  }

  #history(id: string, { values }: HistoryRecord, key: string): void {
    const { batchId, place, run } = historyAt(id);
    const fault = this.#accountOf(batchId, key).histories.history(place, run, values);
    if (fault !== undefined) throw unusable(`${key} ${fault}`);
  }

  #close(): void {
    const account = this.#account;
    if (account === undefined) return;
    this.#account = undefined;
    const { state, jobs, touched } = account;
    const { context: batch } = state;
    const where = `batch/${batch.batchId}`;
    const findings = this.#findings;
    // Runs without a record are Pending or were cancelled with their batch.
    jobs[batch.cancelRequested ? 'Cancelled' : 'Pending'] += batch.totalJobs - touched;
    findings.compare(where, 'runs by status', jobsByStatus(state), jobs);
    findings.compare(where, 'requeued runs', batch.requeued, account.touchedPending);
    const results = { good: jobs.Completed, bad: jobs.Failed + jobs.Timeout };
    findings.compare(where, 'results', account.results, results);
    for (const fault of account.histories.finish()) findings.add(where, fault);
    if (!account.hasSubmission) findings.add(where, 'its submission is missing');
    account.chain?.finish();
    if (account.chain !== undefined && batch.budget !== undefined) {
      findings.compare(where, 'rounds', batch.rounds ?? 0, account.chain.rounds);
      findings.compare(where, 'runs of its rounds', batch.totalJobs, account.chain.runs);
    }
    const isOver = batch.growing === undefined && pendingRuns(batch) + batch.claimed + batch.running === 0;
    if (isOver !== isTerminal(state.value))
      findings.add(where, `it is ${state.value}, and its runs are ${isOver ? '' : 'not '}over`);
  }

  #runner(runnerId: string, { value, ...context }: StoredState): void {
    this.#close();
    if (this.#runners.has(runnerId)) throw unusable(`runner ${runnerId} occurs twice`);
    this.#runners.add(runnerId);
    this.#findings.report.actors += 1;
    const state = { value, context } as unknown as RunnerState;
    for (const { jobId, attempt } of state.context.held) {
      const active = this.#active.get(jobId);
      if (active?.runnerId === runnerId && active.attempt === attempt) this.#active.delete(jobId);
      else
        this.#findings.add(
          `runner/${runnerId}`,
          `it holds attempt ${attempt} of run ${jobId}, which the run's record denies`,
        );
    }
  }
}

/** The runs that a submission selects, or the fault of the selection. */
function selectionIn(config: SubmissionRecord['submission']['config']): RunSelection | string {
  const { run_ids: samples, cell_run_ids: runs } = config?.monte_carlo ?? {};
  const text = runs ?? samples;
  if (typeof text !== 'string') return 'is missing';
  const selection = RunSelection.parse(text);
  if (typeof selection === 'string' || config === undefined) return selection;
  const { scenarios, epistemic } = config;
  const design = runs === undefined ? { run_ids: text } : { cell_run_ids: text };
  return selectedRuns({ monte_carlo: { runs: 0, ...design }, scenarios, epistemic });
}
