/** The stored rounds of adaptive studies: their records, and the row of a run. Rounds never change, so that blocks of rows are cached. */
import { createHash } from 'node:crypto';
import { BLOCK_ROWS, decodeBlock, type RowBlock, type RunRow } from '../../../domain/adaptive/rows.ts';
import type { RoundRecord, Uuid } from '../../../contract/types.ts';
import type { RecordSource } from '../actors/directory.ts';
import { keys } from '../storage/keys.ts';

/** Blocks of rows that stay in memory, of all studies together. */
const MAX_BLOCKS = 64;
/** Rounds of one study whose first runs stay in memory. */
const MAX_PLACES = 1_024;

/** Where a round is among the runs of its study. */
interface RoundPlace {
  round: number;
  first: number;
  count: number;
}

/** Returns the record of a round; undefined for an unknown one. */
export function readRound(source: RecordSource, batchId: Uuid, round: number): RoundRecord | undefined {
  const record = source.read(keys.round(batchId, round));
  return record === undefined ? undefined : (JSON.parse(record) as RoundRecord);
}

/** SHA-256 of the stored bytes of a record, in lowercase hexadecimal. */
export const recordDigest = (record: string): string => createHash('sha256').update(record, 'utf8').digest('hex');

/** The number of blocks of a round. */
export const blocksOf = (count: number): number => Math.ceil(count / BLOCK_ROWS);

/** Returns the blocks of a round, `width` numbers a row. */
export function readBlocks(
  source: RecordSource,
  batchId: Uuid,
  { round, count }: RoundRecord,
  width: number,
): RowBlock[] {
  return Array.from({ length: blocksOf(count) }, (_, block) => readBlock(source, batchId, round, block, width));
}

function readBlock(source: RecordSource, batchId: Uuid, round: number, block: number, width: number): RowBlock {
  const key = keys.rows(batchId, round, block);
  const record = source.read(key);
  if (record === undefined) throw new Error(`the record ${key} is missing in the store`);
  return decodeBlock(record, width);
}

/** The latest blocks of rows. */
export class RowBlocks {
  readonly #source: RecordSource;
  readonly #blocks = new Map<string, RowBlock>();

  constructor(source: RecordSource) {
    this.#source = source;
  }

  /** Returns a function that finds the row of a run of a study, whose rows have `width` numbers. */
  rowsOf(batchId: Uuid, width: number): (run: number) => RunRow {
    const rounds = new RoundPlaces(this.#source, batchId);
    return (run) => {
      const { round, first } = rounds.of(run);
      const row = run - first;
      const { values, draws } = this.#block(batchId, round, Math.floor(row / BLOCK_ROWS), width);
      const at = row % BLOCK_ROWS;
      return { values, offset: at * width, draw: draws?.[at] ?? run };
    };
  }

  #block(batchId: Uuid, round: number, index: number, width: number): RowBlock {
    const key = keys.rows(batchId, round, index);
    let block = this.#blocks.get(key);
    if (block === undefined) block = readBlock(this.#source, batchId, round, index, width);
    else this.#blocks.delete(key);
    // A Map is in insertion order: the first entry is the least recently used.
    this.#blocks.set(key, block);
    if (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value as string);
    return block;
  }
}

/** Finds the round of a run by bisection: each round has a run, so that run n is in round n or before. */
export class RoundPlaces {
  readonly #source: RecordSource;
  readonly #batchId: Uuid;
  readonly #known = new Map<number, RoundPlace>();
  #latest: RoundPlace | undefined;

  constructor(source: RecordSource, batchId: Uuid) {
    this.#source = source;
    this.#batchId = batchId;
  }

  /** @throws RangeError for a run of no round */
  of(run: number): RoundPlace {
    const latest = this.#latest;
    if (latest !== undefined && holds(latest, run)) return latest;
    let least = 0;
    let greatest = run;
    if (latest !== undefined && run < latest.first) greatest = latest.round - 1;
    else if (latest !== undefined) least = latest.round + 1;
    // Runs are mostly asked for in their order.
    let at = latest === undefined || run < latest.first ? greatest : Math.min(least, greatest);
    while (least <= greatest) {
      const place = this.#read(at);
      if (place === undefined || run < place.first) greatest = at - 1;
      else if (holds(place, run)) return (this.#latest = place);
      else least = at + 1;
      at = (least + greatest) >> 1;
    }
    throw new RangeError(`run ${run} is in no round of the study`);
  }

  #read(round: number): RoundPlace | undefined {
    const known = this.#known.get(round);
    if (known !== undefined) return known;
    const record = readRound(this.#source, this.#batchId, round);
    if (record === undefined) return undefined;
    const place = { round, first: record.first_run_id, count: record.count };
    if (this.#known.size >= MAX_PLACES) this.#known.clear();
    this.#known.set(round, place);
    return place;
  }
}

const holds = ({ first, count }: RoundPlace, run: number): boolean => run >= first && run < first + count;
