/** Which rows of a request are known, and the round of those that are not. Pure; long work is done in steps. */
import { HASH_WORDS, hashRows, PointIndex, type PointRuns } from './point-index.ts';
import { blockRows, digestOfRound, encodeBlock, type Pause, type RowBlock, type RowShape } from './rows.ts';

/** Rows that are hashed or copied in one step. */
const STEP_ROWS = 256;

/** The rows of a new round, as they are stored. */
export interface PackedRows {
  count: number;
  digest: string;
  records: readonly string[];
}

/** The rows of a request against the rows of its study. */
export interface Plan {
  /** The places in the request of the rows that are to be appended, each row once. */
  readonly fresh: readonly number[];
  /** True while the study has got none of these rows since. */
  isCurrent(index: PointIndex): boolean;
  /** The runs of each row of the request when the new round begins with this run. */
  runsOf(firstRunId: number): PointRuns[];
}

/** Returns the hashes of the rows of a request, `HASH_WORDS` each. */
export async function hashesOf(blocks: readonly RowBlock[], pause: Pause): Promise<Uint32Array> {
  const hashes = new Uint32Array(blocks.reduce((sum, { rows }) => sum + rows, 0) * HASH_WORDS);
  let at = 0;
  for (const block of blocks) {
    for (let row = 0; row < block.rows; row += STEP_ROWS) {
      const later = row === 0 ? undefined : pause();
      if (later !== undefined) await later;
      const words = hashRows(block, row, Math.min(block.rows, row + STEP_ROWS));
      hashes.set(words, at);
      at += words.length;
    }
  }
  return hashes;
}

/** Plans the round of a request. `failed` says of a known row whether it is executed again. */
export function planOf(
  index: PointIndex,
  hashes: Uint32Array,
  failed: (runs: PointRuns) => boolean = () => false,
): Plan {
  const count = hashes.length / HASH_WORDS;
  const own = new PointIndex();
  const known: (PointRuns | undefined)[] = [];
  const places = new Int32Array(count);
  const fresh: number[] = [];
  const lastRuns: (number | undefined)[] = [];
  for (let row = 0; row < count; row++) {
    const at = row * HASH_WORDS;
    const runs = index.find(hashes, at);
    if (runs !== undefined && !failed(runs)) {
      known[row] = runs;
      continue;
    }
    let place = own.find(hashes, at)?.first;
    if (place === undefined) {
      place = fresh.push(row) - 1;
      lastRuns.push(runs?.last);
      own.add(hashes, at, place);
    }
    places[row] = place;
  }
  return {
    fresh,
    isCurrent: (now) => fresh.every((row, place) => now.find(hashes, row * HASH_WORDS)?.last === lastRuns[place]),
    runsOf: (first) =>
      Array.from(
        { length: count },
        (_, row) => known[row] ?? { first: first + places[row]!, last: first + places[row]! },
      ),
  };
}

/** Packs the rows of the new round of a plan. */
export async function packFresh(
  shape: RowShape,
  blocks: readonly RowBlock[],
  { fresh }: Plan,
  pause: Pause,
): Promise<PackedRows> {
  const width = shape.names.length;
  const size = blockRows(width);
  const packed: RowBlock[] = [];
  for (const [place, row] of fresh.entries()) {
    const later = place % STEP_ROWS === STEP_ROWS - 1 ? pause() : undefined;
    if (later !== undefined) await later;
    if (place % size === 0) {
      const rows = Math.min(size, fresh.length - place);
      packed.push({ rows, values: new Float64Array(rows * width) });
    }
    const from = (row % size) * width;
    const { values } = blocks[Math.floor(row / size)]!;
    packed.at(-1)!.values.set(values.subarray(from, from + width), (place % size) * width);
  }
  const digest = await digestOfRound(shape, packed, pause);
  const records: string[] = [];
  for (const block of packed) {
    const later = records.length === 0 ? undefined : pause();
    if (later !== undefined) await later;
    records.push(encodeBlock(block));
  }
  return { count: fresh.length, digest, records };
}
