/** The topics of runs: one batch with its changed runs as short rows, all batches, one run. */
import { batchIdOf } from '../../domain/ids.ts';
import { numericOutputs } from '../../domain/runs/outputs.ts';
import { presenterOf } from '../../contract/codegen/member-functions.ts';
import { RunRow as RunRowSchema } from '../../contract/live/topics.ts';
import { JOB_MEMBERS } from '../../contract/members/members.ts';
import type {
  BatchData,
  BatchesData,
  BatchStatusResponse,
  JobData,
  RoundEvent,
  RunRow,
  StoredResult,
  Uuid,
} from '../../contract/types.ts';
import { allOf, idOf, keys } from '../kernel/storage/keys.ts';
import * as readings from '../reads/resources.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { decodeJob, isTerminal, type JobState } from '../kernel/actors/actor-kinds.ts';
import type { ChangeSet } from './change-set.ts';
import { PendingRows } from './pending-rows.ts';
import type { Topic } from './topic.ts';
import type { WholeBatchParts } from '../reads/resources.ts';
import type { RoundProgress } from '../rounds/round-progress.ts';
import type { ActorJournal } from '../kernel/turn/actor-journal.ts';
import type { StoreReader } from '../kernel/records/lookup.ts';
import { storedResult } from '../kernel/records/results.ts';

/** The parts that topics read. */
export interface TopicParts extends WholeBatchParts, StoreReader, readings.PoolParts {
  roundProgress: RoundProgress;
  journal: ActorJournal;
}

/** The limit on rows in one delta; the others follow with the next one. Bounds the cost of a client at any rate of change. */
const MAX_ROWS = 300;

const toRow = presenterOf<RunRow, typeof JOB_MEMBERS, 'live'>(RunRowSchema, JOB_MEMBERS, 'live');

export class BatchTopic implements Topic<BatchData> {
  readonly everyMs = 200;
  readonly #parts: TopicParts;
  readonly #batchId: Uuid;
  readonly #changed = new PendingRows<Uuid, JobState | undefined>();
  readonly #rounds = new PendingRows<number, RoundEvent>();
  #isChanged = false;
  /** True when clients must load all runs again. */
  #isReload = false;

  constructor(parts: TopicParts, batchId: Uuid) {
    this.#parts = parts;
    this.#batchId = batchId;
  }

  async snapshot(): Promise<BatchData> {
    return { progress: readings.wholeBatch(this.#parts, this.#batchId) };
  }

  onCommit(changes: ChangeSet): boolean {
    const id = this.#batchId;
    if (changes.batches.has(id) || changes.deletedBatches.has(id)) this.#isChanged = true;
    if (changes.cancelledBatches.has(id)) this.#isReload = true;
    for (const [jobId, state] of changes.jobs.get(id) ?? []) this.#changed.set(jobId, state);
    for (const { batchId, ...event } of changes.rounds) if (batchId === id) this.#rounds.set(event.round, event);
    return this.#isChanged;
  }

  delta(): BatchData | undefined {
    if (!this.#isChanged) return undefined;
    const reload = this.#isReload;
    if (reload) this.#changed.clear();
    const runs = this.#changed.take(MAX_ROWS, (id, known) => {
      const state = known ?? this.#read(id);
      return state === undefined ? undefined : this.#row(id, state);
    });
    const rounds = this.#rounds.take(MAX_ROWS, (_, event) => event);
    this.#isChanged = this.#changed.size + this.#rounds.size > 0;
    this.#isReload = false;
    const delta: BatchData = { progress: readings.wholeBatch(this.#parts, this.#batchId), runs, reload };
    return rounds.length === 0 ? delta : { ...delta, rounds };
  }

  get hasMore(): boolean {
    return this.#isChanged;
  }

  #read(id: Uuid): JobState | undefined {
    const record = this.#parts.store.get(keys.job(id));
    if (record === undefined) return undefined;
    return decodeJob(id, record, readBatch(this.#parts.store, this.#batchId).context);
  }

  #row(id: Uuid, { value, context: c }: JobState): RunRow {
    const row = toRow({ run: c.runId, status: value }, c);
    const result = isTerminal(value) ? this.#parts.store.get(keys.result(id)) : undefined;
    if (result !== undefined) row.outputs = numbersOf(JSON.parse(result) as StoredResult);
    return row;
  }
}

/** Returns the numeric outputs, in an object without a prototype: an output may have the name of one of its members. */
function numbersOf(result: StoredResult): Record<string, number> {
  const outputs = Object.create(null) as Record<string, number>;
  for (const [name, value] of numericOutputs(result)) outputs[name] = value;
  return outputs;
}

/** The limit on batches in one message; the others follow with the next one. */
const MAX_BATCHES = 200;

/** All batches: the progress of the open ones, then of the changed ones. */
export class BatchesTopic implements Topic<BatchesData> {
  readonly everyMs = 500;
  readonly #parts: TopicParts;
  readonly #changed = new PendingRows<Uuid>();
  readonly #deleted = new Set<Uuid>();

  constructor(parts: TopicParts) {
    this.#parts = parts;
  }

  async snapshot(): Promise<BatchesData> {
    const batches: BatchStatusResponse[] = [];
    const view = this.#parts.store.snapshot();
    try {
      for await (const chunk of view.entries(allOf('open'), { chunkSize: MAX_BATCHES })) {
        for (const [key] of chunk) batches.push(readings.batch(this.#parts, idOf(key)));
        if (batches.length >= MAX_BATCHES) break;
      }
    } finally {
      await view.close();
    }
    return { batches: batches.slice(0, MAX_BATCHES) };
  }

  onCommit(changes: ChangeSet): boolean {
    for (const id of changes.batches) this.#changed.set(id, undefined);
    for (const id of changes.deletedBatches) {
      this.#changed.delete(id);
      this.#deleted.add(id);
    }
    return this.#changed.size + this.#deleted.size > 0;
  }

  delta(): BatchesData | undefined {
    const batches = this.#changed.take(MAX_BATCHES, (id) => this.#progress(id));
    const deleted = [...this.#deleted];
    this.#deleted.clear();
    return batches.length + deleted.length === 0 ? undefined : { batches, deleted };
  }

  get hasMore(): boolean {
    return this.#changed.size > 0;
  }

  /** Undefined for a batch that was deleted since. */
  #progress(id: Uuid): BatchStatusResponse | undefined {
    return this.#parts.store.get(keys.batch(id)) === undefined ? undefined : readings.batch(this.#parts, id);
  }
}

/** One run: job, history and result. */
export class JobTopic implements Topic<JobData> {
  readonly everyMs = 100;
  readonly #parts: TopicParts;
  readonly #jobId: Uuid;
  #isChanged = false;

  constructor(parts: TopicParts, jobId: Uuid) {
    this.#parts = parts;
    this.#jobId = jobId;
  }

  async snapshot(): Promise<JobData> {
    return {
      job: readings.job(this.#parts, this.#jobId),
      history: readings.jobHistory(this.#parts, this.#jobId),
      result: storedResult(this.#parts, this.#parts.store, this.#jobId) ?? null,
    };
  }

  onCommit(changes: ChangeSet): boolean {
    const batchId = batchIdOf(this.#jobId);
    const isOfBatch = changes.cancelledBatches.has(batchId) || changes.deletedBatches.has(batchId);
    if (isOfBatch || changes.jobs.get(batchId)?.has(this.#jobId) === true) this.#isChanged = true;
    return this.#isChanged;
  }

  delta(): Promise<JobData> | undefined {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    return this.snapshot();
  }
}
