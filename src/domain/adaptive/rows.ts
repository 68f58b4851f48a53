/**
 * The rows of the rounds of an adaptive study: how they are packed into blocks, written to records and hashed. A row has a number for each
 * name of its shape, sorted by UTF-16 code unit, and the run whose random draw its run has. Pure.
 */
import { createHash, type Hash } from 'node:crypto';
import type { RowSpace } from '../../contract/enums.ts';
import type { RoundRecord, RowsRecord } from '../../contract/types.ts';

/** The most rows of one block, and the rows whose draws follow their numbers in the digest of a round. */
export const BLOCK_ROWS = 4_096;
/** The most bytes of the numbers of one block with more than one row: reading it holds the event loop for some milliseconds. */
const BLOCK_BYTES = 524_288;

/** The rows of each block of a round but the last, of `width` numbers a row: a power of two. */
export function blockRows(width: number): number {
  let rows = BLOCK_ROWS;
  while (rows > 1 && 8 * rows * width > BLOCK_BYTES) rows /= 2;
  return rows;
}

/** The meaning of the numbers of a row: values of the chosen parameters, or standard normals of those that are drawn. */
export interface RowShape {
  readonly space: RowSpace;
  /** One for each number, sorted by UTF-16 code unit. */
  readonly names: readonly string[];
}

/** The row of one run: `values` from `offset` on, one for each name. */
export interface RunRow {
  values: Float64Array;
  offset: number;
  /** The run whose random draw the run has. */
  draw: number;
}

/** The row at a place of its block, whose rows have `width` numbers; undefined for a lost block. */
export const rowAt = (block: RowBlock, at: number, width: number, run: number): RunRow | undefined =>
  block.isLost === true ? undefined : { values: block.values, offset: at * width, draw: block.draws?.[at] ?? run };

/** The identity of a round, without the texts for people. */
export type RoundHead = Pick<RoundRecord, 'round' | 'first_run_id' | 'count' | 'key' | 'digest' | 'previous'>;

/** The rounds of a study in memory. */
export interface RoundLookup {
  /** The rounds, in their order. */
  readonly heads: readonly RoundHead[];
  /** The number of the round of a run. @throws RangeError for a run of no round */
  roundOf(run: number): number;
  /** The row of a run; undefined where damage to the data directory has lost it. */
  readonly rowOf: (run: number) => RunRow | undefined;
}

/** Some rows of a round, row after row; each block of the round but the last has as many. */
export interface RowBlock {
  rows: number;
  values: Float64Array;
  /** Absent where no row of the round gives a draw: each run has its own. */
  draws?: Int32Array | undefined;
  /** The rows were lost by damage to the data directory: there are no values. */
  isLost?: true;
}

/** Called between steps of long work; the work continues when the promise resolves. */
export type Pause = () => Promise<void> | undefined;

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Int32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Returns the record of a block: JSON, the numbers as little-endian bytes in base64. */
export function encodeBlock({ rows, values, draws }: RowBlock): string {
  const numbers = bytesOf(values).toString('base64');
  const tail = draws === undefined ? '' : `,"draws":"${bytesOf(draws).toString('base64')}"`;
  return `{"rows":${rows},"values":"${numbers}"${tail}}`;
}

/** The rows of a record that `encodeBlock` or `lostBlock` made, without its numbers; 0 for another text. */
export const rowsOfRecord = (record: string): number => Number(/^\{"rows":(\d+)/.exec(record)?.[1] ?? 0);

/** The record in place of a block of so many rows that damage to the data directory has lost. */
export const lostBlock = (rows: number): string => `{"rows":${rows},"values":"","lost":true}`;

/**
 * Returns the block of a record that `encodeBlock` or `lostBlock` made, with `width` numbers a row.
 * @throws RangeError for a record of another size
 */
export function decodeBlock(record: string, width: number): RowBlock {
  const { rows, values, draws, lost } = JSON.parse(record) as RowsRecord;
  if (lost === true) return { rows, values: new Float64Array(0), isLost: lost };
  const block: RowBlock = { rows, values: new Float64Array(rows * width) };
  let isWhole = fill(block.values, values);
  if (draws !== undefined) {
    block.draws = new Int32Array(rows);
    isWhole &&= fill(block.draws, draws);
  }
  if (!isWhole) throw new RangeError(`a block of ${rows} rows of ${width} numbers has another number of bytes`);
  return block;
}

function fill(target: Float64Array | Int32Array, base64: string): boolean {
  const bytes = bytesOf(target);
  return Buffer.byteLength(base64, 'base64') === bytes.length && bytes.write(base64, 'base64') === bytes.length;
}

/** Returns the digest of a round: SHA-256, in lowercase hexadecimal. -0 and 0 differ. */
export async function digestOfRound(
  shape: RowShape,
  blocks: readonly RowBlock[],
  pause: Pause = () => undefined,
): Promise<string> {
  const hash = new RoundHash(shape);
  for (const [at, block] of blocks.entries()) {
    const later = at === 0 ? undefined : pause();
    if (later !== undefined) await later;
    hash.add(block);
  }
  return hash.digest();
}

/** The digest of a round of which the blocks come one by one; it does not depend on their size. */
export class RoundHash {
  readonly #hash: Hash;
  #rows = 0;
  /** The draws of the rows since the last multiple of `BLOCK_ROWS`. */
  #draws: Int32Array[] = [];

  constructor({ space, names }: RowShape) {
    this.#hash = createHash('sha256').update(['simbatch-round/1', space, ...names, ''].join('\0'), 'utf8');
  }

  add({ rows, values, draws }: RowBlock): void {
    this.#hash.update(bytesOf(values));
    if (draws !== undefined) this.#draws.push(draws);
    this.#rows += rows;
    if (this.#rows % BLOCK_ROWS === 0) this.#addDraws();
  }

  digest(): string {
    this.#addDraws();
    return this.#hash.digest('hex');
  }

  #addDraws(): void {
    for (const draws of this.#draws) this.#hash.update(bytesOf(draws));
    this.#draws = [];
  }
}

/** Returns the blocks with a draw for every row: missing draws are those of the runs themselves. `given`: null where a row gives none. */
export function withDraws(
  blocks: readonly RowBlock[],
  given: readonly (number | null)[],
  firstRunId: number,
): RowBlock[] {
  let row = 0;
  return blocks.map(({ rows, values }) => {
    const draws = new Int32Array(rows);
    for (let at = 0; at < rows; at++, row++) draws[at] = given[row] ?? firstRunId + row;
    return { rows, values, draws };
  });
}

/** Where two rounds of as many rows differ first: the row, and the name; `draw` for the draw. Undefined where they are equal. */
export function firstDifference(
  names: readonly string[],
  one: readonly RowBlock[],
  other: readonly RowBlock[],
  firstRunId: number,
): { row: number; column: string | { draw: true } } | undefined {
  let row = 0;
  // The blocks of both may be of different sizes.
  const size = other[0]?.rows ?? 1;
  for (const block of one) {
    for (let at = 0; at < block.rows; at++, row++) {
      const against = other[Math.floor(row / size)];
      if (against === undefined) return undefined;
      const [from, to] = [at * names.length, (row % size) * names.length];
      for (const [column, name] of names.entries()) {
        if (!Object.is(block.values[from + column], against.values[to + column])) return { row, column: name };
      }
      const own = firstRunId + row;
      if ((block.draws?.[at] ?? own) !== (against.draws?.[row % size] ?? own)) return { row, column: { draw: true } };
    }
  }
  return undefined;
}
