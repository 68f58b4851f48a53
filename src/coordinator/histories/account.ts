/** Checks the histories of a batch against its results: each result says how many histories its run left. Memory: 4 bytes a run with any. */
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { pointCount } from '../../domain/histories/points.ts';
import { base64Length, VALUE_BYTES } from '../../domain/histories/values.ts';
import type { HistoryConfig, StoredResult, Uuid } from '../../contract/types.ts';
import { decodeSubmission } from '../kernel/records/study-cache.ts';
import { historyAt, idOf } from '../kernel/storage/keys.ts';
import type { Entry } from '../kernel/storage/store.ts';

export class HistoryAccount {
  #declared: readonly Pick<HistoryConfig, 'at'>[] = [];
  /** Runs whose results say so many histories, minus those that came. */
  readonly #missing = new Map<number, number>();
  #last = '';

  /** Takes the histories of the study. */
  declare(histories: readonly Pick<HistoryConfig, 'at'>[]): void {
    this.#declared = histories;
  }

  /** Takes a result; those of all runs come before any history. */
  result(run: number, histories: number): void {
    if (histories > 0) this.#missing.set(run, histories);
  }

  /** Takes a history, in the order of places and runs. Returns its fault. */
  history(place: number, run: number, values: string): string | undefined {
    const order = `${String(place).padStart(2, '0')}/${String(run).padStart(10, '0')}`;
    if (order <= this.#last) return 'is not in the order of histories and runs';
    this.#last = order;
    const declared = this.#declared[place];
    if (declared === undefined) return 'is a history that its study does not have';
    const bytes = Buffer.byteLength(values, 'base64');
    const wanted = pointCount(declared.at) * VALUE_BYTES;
    if (bytes !== wanted) return `has ${bytes} bytes of values, and its study says ${wanted}`;
    // Readers find the records of a history by their equal lengths.
    if (values.length !== base64Length(wanted)) return 'is not padded as base64 is: its end is missing';
    const missing = this.#missing.get(run);
    if (missing === undefined) return 'is of a run whose result says that it left none, or fewer';
    if (missing === 1) this.#missing.delete(run);
    else this.#missing.set(run, missing - 1);
    return undefined;
  }

  /** The runs of which histories did not come, with how many. */
  get missing(): ReadonlyMap<number, number> {
    return this.#missing;
  }

  /** The runs that miss histories; a sentence for each of the first. */
  finish(): string[] {
    const [first] = this.#missing;
    if (first === undefined) return [];
    const [run, count] = first;
    const others = this.#missing.size === 1 ? '' : `, and so do ${this.#missing.size - 1} other runs`;
    return [
      `run ${run} misses ${count} ${count === 1 ? 'history' : 'histories'} that its result says it left${others}`,
    ];
  }
}

/** The accounts of all batches of a store, whose records come batch after batch, and then the histories of all of them. */
export class HistoryAccounts {
  readonly #accounts = new Map<Uuid, HistoryAccount>();

  /** Takes the submission of a batch as stored; undefined where it is lost. */
  submission(batchId: Uuid, record: string | undefined): void {
    if (record?.includes('"histories"') !== true) return;
    const account = new HistoryAccount();
    account.declare(decodeSubmission(record).submission.config.histories ?? []);
    this.#accounts.set(batchId, account);
  }

  /** Takes the result of a run as stored. */
  result(jobId: Uuid, record: string): void {
    if (!record.includes('"history_count"')) return;
    const { history_count: histories = 0 } = JSON.parse(record) as StoredResult;
    this.#accounts.get(batchIdOf(jobId))?.result(runIdOf(jobId), histories);
  }

  /** Takes a history by its key, in the order of keys. Returns its fault. */
  history(key: string, values: string): string | undefined {
    const { batchId, place, run } = historyAt(idOf(key));
    const account = this.#accounts.get(batchId);
    return account === undefined
      ? 'is of a study that is lost, or has no history'
      : account.history(place, run, values);
  }

  /** The runs of which histories did not come, with how many. */
  *missing(): Generator<{ batchId: Uuid; run: number; count: number }> {
    for (const [batchId, account] of this.#accounts)
      for (const [run, count] of account.missing) yield { batchId, run, count };
  }

  /** The faults of all histories, by their keys: each run has those that its result says it left, and no other. */
  async *faults(histories: AsyncIterable<Entry>, isDeleted: (batchId: Uuid) => boolean): AsyncGenerator<string> {
    for await (const [key, values] of histories) {
      const fault = this.history(key, values);
      // The coordinator removes the records of a deleted batch step by step.
      if (fault !== undefined && !isDeleted(historyAt(idOf(key)).batchId)) yield `the record ${key} ${fault}`;
    }
    for (const { batchId, run, count } of this.missing())
      yield `run ${run} of study ${batchId} misses ${count} of the histories that its result says it left`;
  }
}
