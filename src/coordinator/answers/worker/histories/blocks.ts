/** One history of many runs as numbers, from the records that the coordinator sends as bytes. */
import { historyValues, VALUE_BYTES } from '../../../../domain/histories/values.ts';
import { runOfHistory } from '../../../kernel/storage/keys.ts';
import { unpacked } from '../../../kernel/storage/sealed-bytes.ts';

/** Some runs, ascending, and their values, `points` of each run after the other; NaN where missing. */
export interface HistoryBlock {
  runs: Uint32Array;
  /** The replicates of the runs, of a family. */
  replicates?: Uint32Array;
  values: Float64Array;
}

/**
 * Yields the records of a history in the order of runs; a run that left none does not come.
 * @param next the next chunk of records, null after the last one. @param points the number of times of the history.
 */
export async function* historyBlocks(
  next: () => Promise<Uint8Array | null>,
  points: number,
): AsyncGenerator<HistoryBlock> {
  let ahead = next();
  ahead.catch(() => {});
  for (;;) {
    const chunk = await ahead;
    if (chunk === null) return;
    // The coordinator reads the next chunk while this one is used.
    ahead = next();
    // A rejection is reported when the chunk is used.
    ahead.catch(() => {});
    if (chunk.length > 0) yield blockOf(chunk, points);
  }
}

function blockOf(chunk: Uint8Array, points: number): HistoryBlock {
  const records = [...unpacked(chunk)];
  const runs = new Uint32Array(records.length);
  const values = new Float64Array(records.length * points);
  for (const [row, { key, value }] of records.entries()) {
    if (value.length !== points * VALUE_BYTES)
      throw new Error(
        `the history ${key} is of another length than its study: ${value.length} bytes for ${points} values`,
      );
    runs[row] = runOfHistory(key);
    values.set(historyValues(value), row * points);
  }
  return { runs, values };
}
