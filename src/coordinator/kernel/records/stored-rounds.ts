/** The stored rounds of adaptive studies: their records, and the row of a run. Rounds never change, so that blocks of rows are cached. */
import { createHash } from 'node:crypto';
import { RecentMap } from '../../../base/recent-map.ts';
import {
  BLOCK_ROWS,
  blockRows,
  decodeBlock,
  rowAt,
  rowsOfRecord,
  type RowBlock,
  type RunRow,
} from '../../../domain/adaptive/rows.ts';
import type { RoundRecord, Uuid } from '../../../contract/types.ts';
import { decodeBatch, missingRecord } from '../actors/actor-kinds.ts';
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

/**
 * The rows of each block of a round but the last, by the record of its first block. Earlier versions wrote `BLOCK_ROWS` rows of any width.
 */
export function rowsOfBlocks(first: string | undefined, width: number): number {
  const rows = blockRows(width);
  return first !== undefined && rowsOfRecord(first) > rows ? BLOCK_ROWS : rows;
}

/** Reads the blocks of a round one by one, `width` numbers a row: together they may take longer than a slice of the event loop. */
export function* readBlocks(
  source: RecordSource,
  batchId: Uuid,
  { round, count }: RoundRecord,
  width: number,
): Generator<RowBlock> {
  for (let rows = 0, block = 0; rows < count; block++) {
    const it = readBlock(source, batchId, round, block, width);
    yield it;
    rows += it.rows;
  }
}

function readBlock(source: RecordSource, batchId: Uuid, round: number, block: number, width: number): RowBlock {
  const key = keys.rows(batchId, round, block);
  const record = source.read(key);
  if (record === undefined) throw missingRecord(`the rows ${key}`);
  return decodeBlock(record, width);
}

/** The latest blocks of rows. */
export class RowBlocks {
  readonly #source: RecordSource;
  readonly #blocks = new RecentMap<string, RowBlock>(MAX_BLOCKS);

  constructor(source: RecordSource) {
    this.#source = source;
  }

  /** Returns a function that finds the row of a run of a study, whose rows have `width` numbers. */
  rowsOf(batchId: Uuid, width: number): (run: number) => RunRow | undefined {
    const rounds = new RoundPlaces(this.#source, batchId);
    // Each answer about a run asks several times, and the next run is mostly of the same block.
    let latest: { round: number; size: number; index: number; block: RowBlock } | undefined;
    return (run) => {
      const { round, first, count } = rounds.of(run);
      const row = run - first;
      const size = latest?.round === round ? latest.size : this.#sizeOf(batchId, round, count, width);
      const index = Math.floor(row / size);
      if (latest?.round !== round || latest.index !== index)
        latest = { round, size, index, block: this.#block(batchId, round, index, width) };
      return rowAt(latest.block, row % size, width, run);
    };
  }

  /** The rows of each block of a round but the last. */
  #sizeOf(batchId: Uuid, round: number, count: number, width: number): number {
    const rows = blockRows(width);
    if (rows === BLOCK_ROWS || count <= rows) return rows;
    try {
      return Math.max(rows, this.#block(batchId, round, 0, width).rows);
    } catch {
      // The first block is damaged; that of the run may be whole.
      return rows;
    }
  }

  #block(batchId: Uuid, round: number, index: number, width: number): RowBlock {
    const key = keys.rows(batchId, round, index);
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = readBlock(this.#source, batchId, round, index, width);
      this.#blocks.set(key, block);
    }
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

  /** @throws SimbatchError `store-damaged` where the record of the run's round is missing or damaged */
  of(run: number): RoundPlace {
    const latest = this.#latest;
    if (latest !== undefined && holds(latest, run)) return latest;
    let found: RoundPlace | undefined;
    try {
      found = this.#search(run, latest);
    } catch {
      // A record on the way is damaged; that of the run may be whole.
    }
    found ??= this.#searchDamaged(run);
    if (found === undefined) throw missingRecord(`the round of run ${run} of study ${this.#batchId}`);
    return (this.#latest = found);
  }

  #search(run: number, latest: RoundPlace | undefined): RoundPlace | undefined {
    let least = 0;
    let greatest = run;
    if (latest !== undefined && run < latest.first) greatest = latest.round - 1;
    else if (latest !== undefined) least = latest.round + 1;
    // Runs are mostly asked for in their order.
    let at = latest === undefined || run < latest.first ? greatest : Math.min(least, greatest);
    while (least <= greatest) {
      const place = this.#read(at);
      if (place === undefined || run < place.first) greatest = at - 1;
      else if (holds(place, run)) return place;
      else least = at + 1;
      at = (least + greatest) >> 1;
    }
    return undefined;
  }

  /** The search among rounds of which records are lost: for one of these, the nearest before it decides. */
  #searchDamaged(run: number): RoundPlace | undefined {
    const batch = this.#source.read(keys.batch(this.#batchId));
    let least = 0;
    let greatest = batch === undefined ? -1 : (decodeBatch(batch).context.rounds ?? run + 1) - 1;
    while (least <= greatest) {
      const middle = (least + greatest) >> 1;
      let at = middle;
      let place = this.#readWhole(at);
      while (place === undefined && at > least) place = this.#readWhole(--at);
      if (place === undefined || run >= place.first + place.count) least = middle + 1;
      else if (run < place.first) greatest = at - 1;
      else return place;
    }
    return undefined;
  }

  #readWhole(round: number): RoundPlace | undefined {
    try {
      return this.#read(round);
    } catch {
      return undefined;
    }
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
