/**
 * Repairs the rounds of one adaptive study, so that every round has its record and its blocks. A lost record is made again from the rows, or
 * from the rounds around it; lost rows get a mark in their place, since nothing else has their numbers.
 */
import type { BatchContext } from '../../../machines/batch.ts';
import { rowDesign } from '../../domain/adaptive/given-rows.ts';
import {
  blockRows,
  decodeBlock,
  digestOfRound,
  lostBlock,
  type RowBlock,
  type RowShape,
} from '../../domain/adaptive/rows.ts';
import { RARE_EVENT_ALGORITHM } from '../../contract/enums.ts';
import type { BatchSubmission, RoundRecord, Uuid } from '../../contract/types.ts';
import { rowsOfBlocks } from '../kernel/records/stored-rounds.ts';
import { timestamp } from '../kernel/records/to-resource.ts';
import type { EngineView } from '../kernel/storage/engine.ts';
import { idOf, keys, roundsOf } from '../kernel/storage/keys.ts';
import { wholeRecord, wholeRecords } from './read-records.ts';

type Change = [key: string, value: string];

interface RoundsRepairParts {
  view: EngineView;
  now: number;
  report: (finding: string, isLoss?: true) => void;
  /** Writes repaired records; a study may have more of them than memory. */
  put: (changes: readonly Change[]) => Promise<void>;
}

/** The batch with the numbers of its rounds and runs, and the runs whose rows are lost. */
export interface RepairedRounds {
  context: BatchContext;
  isLost: (run: number) => boolean;
}

/** Repairs the rounds of a batch, and writes them. */
export async function repairRounds(
  parts: RoundsRepairParts,
  context: BatchContext,
  { config }: BatchSubmission,
): Promise<RepairedRounds> {
  const repair = new RoundsRepair(parts, context, rowDesign(config));
  await repair.run();
  return { context: repair.counted(), isLost: repair.isLost };
}

class RoundsRepair {
  readonly #parts: RoundsRepairParts;
  readonly #context: BatchContext;
  readonly #batchId: Uuid;
  readonly #shape: RowShape;
  readonly #named = new Map<number, string>();
  /** Runs without a row: `[first, end)`, ascending and apart. */
  readonly #lost: [first: number, end: number][] = [];
  #rounds = 0;
  #runs = 0;

  constructor(parts: RoundsRepairParts, context: BatchContext, shape: RowShape) {
    this.#parts = parts;
    this.#context = context;
    this.#batchId = context.batchId;
    this.#shape = shape;
  }

  async run(): Promise<void> {
    await this.#readKeys();
    const end = Math.max(this.#context.rounds ?? 0, (await this.#highest()) + 1);
    while (this.#rounds < end) {
      // The rounds up to the next record; without it, only their runs together are known.
      const sizes: (number | undefined)[] = [];
      let next = this.#record(this.#rounds);
      for (let round = this.#rounds; next === undefined && round < end; next = this.#record(++round))
        sizes.push(this.#sizeByRows(round));
      const until = next?.first_run_id ?? this.#context.totalJobs;
      await this.#lostRecords(sizes, until - this.#runs);
      if (next !== undefined) await this.#round(next.count, this.#text(keys.round(this.#batchId, this.#rounds)), true);
    }
  }

  /** Consecutive rounds without a record. Where several sizes are unknown, their rows cannot be given to runs. */
  async #lostRecords(sizes: readonly (number | undefined)[], runs: number): Promise<void> {
    const unknown = sizes.filter((it) => it === undefined).length;
    let rest = runs - sizes.reduce((sum: number, it) => sum + (it ?? 1), 0);
    for (const [at, size] of sizes.entries()) {
      const isLastUnknown = size === undefined && !sizes.slice(at + 1).includes(undefined);
      const extra = isLastUnknown ? Math.max(0, rest) : 0;
      rest -= extra;
      await this.#round((size ?? 1) + extra, undefined, unknown <= 1);
    }
  }

  #text(key: string): string | undefined {
    return wholeRecord(this.#parts.view, key);
  }

  #record(round: number): RoundRecord | undefined {
    const text = this.#text(keys.round(this.#batchId, round));
    return text === undefined ? undefined : (JSON.parse(text) as RoundRecord);
  }

  /** The block of a round; undefined where it is lost or cannot be read. */
  #block(round: number, block: number): { text: string; rows: RowBlock } | undefined {
    const text = this.#text(keys.rows(this.#batchId, round, block));
    if (text === undefined) return undefined;
    try {
      return { text, rows: decodeBlock(text, this.#shape.names.length) };
    } catch {
      return undefined;
    }
  }

  /** The size of a round by its rows: a block that is not full is the last one. */
  #sizeByRows(round: number): number | undefined {
    const full = this.#rowsOfBlocks(round, 1);
    let size = 0;
    for (let block = 0; ; block++) {
      const rows = this.#block(round, block)?.rows.rows;
      if (rows === undefined) return undefined;
      size += rows;
      if (rows < full) return size;
    }
  }

  /** The rows of each block of a round but the last, by the largest of its first blocks. */
  #rowsOfBlocks(round: number, blocks: number): number {
    const { names } = this.#shape;
    const sizes = Array.from({ length: blocks }, (_, block) =>
      rowsOfBlocks(this.#text(keys.rows(this.#batchId, round, block)), names.length),
    );
    return Math.max(...sizes);
  }

  async #readKeys(): Promise<void> {
    const range = roundsOf('round-key', this.#batchId);
    for await (const [key, round] of wholeRecords(this.#parts.view, range))
      this.#named.set(Number(round), key.slice(range.gte.length));
  }

  async #highest(): Promise<number> {
    let highest = -1;
    for (const kind of ['round', 'rows'] as const) {
      for await (const [key] of wholeRecords(this.#parts.view, roundsOf(kind, this.#batchId)))
        highest = Math.max(highest, Number.parseInt(idOf(key).split('/')[1]!, 16));
    }
    return highest;
  }

  /** Writes the next round, of this size, with what is left of it. */
  async #round(count: number, record: string | undefined, mayUseRows: boolean): Promise<void> {
    const [round, first] = [this.#rounds, this.#runs];
    const whole: RowBlock[] = [];
    const changes: Change[] = [];
    const full = this.#rowsOfBlocks(round, Math.ceil(count / blockRows(this.#shape.names.length)));
    for (let block = 0; block * full < count; block++) {
      const size = Math.min(full, count - block * full);
      const found = mayUseRows ? this.#block(round, block) : undefined;
      const kept = found?.rows.rows === size ? found : undefined;
      changes.push([keys.rows(this.#batchId, round, block), kept?.text ?? lostBlock(size)]);
      if (kept === undefined || kept.rows.isLost === true) this.#lose(first + block * full, size, kept === undefined);
      else whole.push(kept.rows);
    }
    const key = record === undefined ? (this.#named.get(round) ?? null) : (JSON.parse(record) as RoundRecord).key;
    if (key !== null) changes.push([keys['round-key'](this.#batchId, key), String(round)]);
    changes.push([keys.round(this.#batchId, round), record ?? (await this.#recordOf(count, key, whole))]);
    await this.#parts.put(changes);
    this.#rounds += 1;
    this.#runs += count;
  }

  #lose(first: number, size: number, isNew: boolean): void {
    const last = this.#lost.at(-1);
    if (last?.[1] === first) last[1] += size;
    else this.#lost.push([first, first + size]);
    if (!isNew) return;
    const runs = size === 1 ? `run ${first}` : `runs ${first} to ${first + size - 1}`;
    this.#parts.report(
      `study ${this.#batchId}: the rows of ${runs} (round ${this.#rounds}) are lost; those that have not ended are Cancelled now`,
      true,
    );
  }

  async #recordOf(count: number, key: string | null, blocks: readonly RowBlock[]): Promise<string> {
    const isWhole = blocks.reduce((sum, { rows }) => sum + rows, 0) === count;
    this.#parts.report(
      `study ${this.#batchId}: the record of round ${this.#rounds} is lost; it was made again from ${isWhole ? 'its rows' : 'the rounds around it'}`,
      true,
    );
    const record: RoundRecord = {
      round: this.#rounds,
      first_run_id: this.#runs,
      count,
      space: this.#shape.space,
      source: this.#shape.space === 'normal' ? RARE_EVENT_ALGORITHM : 'external',
      key,
      digest: isWhole ? await digestOfRound(this.#shape, blocks) : '',
      previous: '',
      label: null,
      appended_at: timestamp(this.#parts.now),
      note: null,
      decision: null,
      lost: true,
    };
    return JSON.stringify(record);
  }

  counted(): BatchContext {
    const { batchId, budget, rounds = 0, totalJobs } = this.#context;
    const lost = this.#lost.reduce((sum, [first, end]) => sum + end - first, 0);
    const counted = lost === 0 ? this.#context : { ...this.#context, rowsLost: lost };
    // A study that came of another one may hold a part of the runs, and counts no rounds.
    if (budget === undefined || (this.#rounds === rounds && this.#runs === totalJobs)) return counted;
    this.#parts.report(
      `study ${batchId}: it counts ${rounds} rounds with ${totalJobs} runs; by its records it has ${this.#rounds} with ${this.#runs} now`,
    );
    return { ...counted, rounds: this.#rounds, totalJobs: this.#runs };
  }

  readonly isLost = (run: number): boolean => this.#lost.some(([first, end]) => run >= first && run < end);
}
