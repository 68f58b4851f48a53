/** The topics of runs: one batch with its changed runs as short rows, all batches, one run. */
import { activeRuns, pendingRuns } from '../../../machines/batch.ts';
import type { JobContext } from '../../../machines/job-context.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { presenterOf } from '../../contract/codegen/member-functions.ts';
import { RunRow as RunRowSchema } from '../../contract/live/topics.ts';
import { JOB_MEMBERS } from '../../contract/records/members.ts';
import type {
  BatchData,
  BatchesData,
  BatchStatusResponse,
  JobData,
  JobResult,
  JobStatus,
  RunRow,
  Uuid,
} from '../../contract/types.ts';
import type { Commit } from '../coordinator.ts';
import type { Core } from '../core.ts';
import { keys } from '../storage/keys.ts';
import * as readings from '../operations/readings.ts';
import { decodeJob, isTerminal, type JobState } from '../actors/actor-kinds.ts';
import type { Topic } from './topic.ts';

/** The limit on rows in one delta; the others follow with the next one. Bounds the cost of a client at any rate of change. */
const MAX_ROWS = 300;

const toRow = presenterOf<RunRow, typeof JOB_MEMBERS, 'live'>(RunRowSchema, JOB_MEMBERS, 'live');

export class BatchTopic implements Topic<BatchData> {
  readonly everyMs = 200;
  readonly #core: Core;
  readonly #batchId: Uuid;
  /** The latest state of each changed run; undefined when it must be read from the store. */
  readonly #changed = new Map<Uuid, JobState | undefined>();
  #isChanged = false;
  #isWholesale = false;

  constructor(core: Core, batchId: Uuid) {
    this.#core = core;
    this.#batchId = batchId;
  }

  async snapshot(): Promise<BatchData> {
    return { progress: readings.batch(this.#core, this.#batchId) };
  }

  onCommit({ facts, transitions: steps }: Commit): boolean {
    for (const fact of facts) {
      if (!('batchId' in fact) || fact.batchId !== this.#batchId) continue;
      this.#isChanged = true;
      if ('jobId' in fact) this.#changed.set(fact.jobId, undefined);
      // Untouched runs are cancelled by number, without a fact each.
      else if (fact.type === 'batch.cancelling') this.#isWholesale = true;
    }
    for (const { kind, id, to, context } of steps) {
      if (kind !== 'job' || !this.#changed.has(id)) continue;
      this.#changed.set(id, { value: to as JobStatus, context: context as JobContext });
    }
    return this.#isChanged;
  }

  delta(): BatchData | undefined {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    const runs = this.#isWholesale ? [] : this.#rows();
    const delta = { progress: readings.batch(this.#core, this.#batchId), runs, reload: this.#isWholesale };
    if (this.#isWholesale) this.#changed.clear();
    this.#isChanged = this.#changed.size > 0;
    this.#isWholesale = false;
    return delta;
  }

  get hasMore(): boolean {
    return this.#isChanged;
  }

  #rows(): RunRow[] {
    const rows: RunRow[] = [];
    for (const [id, known] of this.#changed) {
      if (rows.length === MAX_ROWS) break;
      this.#changed.delete(id);
      const state = known ?? this.#read(id);
      if (state !== undefined) rows.push(this.#row(id, state));
    }
    return rows;
  }

  #read(id: Uuid): JobState | undefined {
    const record = this.#core.store.get(keys.job(id));
    if (record === undefined) return undefined;
    return decodeJob(id, record, readings.readBatch(this.#core.store, this.#batchId).context);
  }

  #row(id: Uuid, { value, context: c }: JobState): RunRow {
    const row = toRow({ run: c.runId, status: value }, c);
    const result = isTerminal(value) ? this.#core.store.get(keys.result(id)) : undefined;
    if (result !== undefined) row.outputs = outputsOf(JSON.parse(result) as JobResult);
    return row;
  }
}

function outputsOf(result: JobResult): Record<string, number> {
  const outputs: Record<string, number> = Object.create(null) as Record<string, number>;
  outputs['execution_time_secs'] = result.execution_time_secs;
  for (const [name, value] of Object.entries(result.metadata)) if (typeof value === 'number') outputs[name] = value;
  return outputs;
}

/** All batches: the progress of the changed ones. */
export class BatchesTopic implements Topic<BatchesData> {
  readonly everyMs = 500;
  readonly #core: Core;
  readonly #changed = new Set<Uuid>();
  readonly #deleted = new Set<Uuid>();
  /** The limit on batches in one delta; the others follow with the next one. */
  static readonly #PER_DELTA = 200;

  constructor(core: Core) {
    this.#core = core;
  }

  async snapshot(): Promise<BatchesData> {
    const open: BatchStatusResponse[] = [];
    for (const [id, { actor }] of this.#core.directory.batches) {
      if (open.length === BatchesTopic.#PER_DELTA) break;
      const { context } = actor.getSnapshot() as { context: Parameters<typeof pendingRuns>[0] };
      const progress = pendingRuns(context) + activeRuns(context) > 0 ? this.#progress(id) : undefined;
      if (progress !== undefined) open.push(progress);
    }
    return { batches: open };
  }

  onCommit({ facts }: Commit): boolean {
    for (const fact of facts) {
      if (fact.type === 'batch.deleted') {
        this.#changed.delete(fact.batchId);
        this.#deleted.add(fact.batchId);
      } else if ('batchId' in fact) this.#changed.add(fact.batchId);
    }
    return this.#changed.size + this.#deleted.size > 0;
  }

  delta(): BatchesData | undefined {
    const batches: BatchStatusResponse[] = [];
    for (const id of this.#changed) {
      if (batches.length === BatchesTopic.#PER_DELTA) break;
      this.#changed.delete(id);
      const progress = this.#progress(id);
      if (progress !== undefined) batches.push(progress);
    }
    const deleted = [...this.#deleted];
    this.#deleted.clear();
    return batches.length + deleted.length === 0 ? undefined : { batches, deleted };
  }

  get hasMore(): boolean {
    return this.#changed.size > 0;
  }

  /** Undefined for a batch whose first write has not completed. */
  #progress(id: Uuid): BatchStatusResponse | undefined {
    return this.#core.store.get(keys.batch(id)) === undefined ? undefined : readings.batch(this.#core, id);
  }
}

/** One run: job, history and result. */
export class JobTopic implements Topic<JobData> {
  readonly everyMs = 100;
  readonly #core: Core;
  readonly #jobId: Uuid;
  #isChanged = false;

  constructor(core: Core, jobId: Uuid) {
    this.#core = core;
    this.#jobId = jobId;
  }

  async snapshot(): Promise<JobData> {
    const result = this.#core.store.get(keys.result(this.#jobId));
    return {
      job: readings.job(this.#core, this.#jobId),
      history: readings.jobHistory(this.#core, this.#jobId),
      result: result === undefined ? null : (JSON.parse(result) as JobResult),
    };
  }

  onCommit({ facts }: Commit): boolean {
    for (const fact of facts) {
      if ('jobId' in fact && fact.jobId === this.#jobId) this.#isChanged = true;
      else if (fact.type !== 'batch.cancelling' && fact.type !== 'batch.deleted') continue;
      else if (fact.batchId === batchIdOf(this.#jobId)) this.#isChanged = true;
    }
    return this.#isChanged;
  }

  delta(): Promise<JobData> | undefined {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    return this.snapshot();
  }
}
