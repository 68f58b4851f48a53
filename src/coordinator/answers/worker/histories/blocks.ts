/** One history of many runs as numbers, from the records that the coordinator sends as bytes. */
import { readValues, VALUE_BYTES } from '../../../../domain/histories/values.ts';
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
 * Yields the records of a history in the order of runs; a run that left none does not come. A block is overwritten by the next one.
 * @param next the next chunk of records, null after the last one. @param points the number of times of the history.
 */
export async function* historyBlocks(
  next: () => Promise<Uint8Array | null>,
  points: number,
): AsyncGenerator<HistoryBlock> {
  const blockOf = blockReader(points);
  let ahead = next();
  ahead.catch(() => {});
  for (;;) {
    const chunk = await ahead;
    if (chunk === null) return;
    // The coordinator reads the next chunk while this one is used.
    ahead = next();
    // A rejection is reported when the chunk is used.
    ahead.catch(() => {});
    if (chunk.length > 0) yield blockOf(chunk);
  }
}

/** Makes blocks in the same memory, which grows to the largest chunk: blocks of their own would make V8 collect garbage over and over. */
function blockReader(points: number): (chunk: Uint8Array) => HistoryBlock {
  const length = points * VALUE_BYTES;
  let values = new Float64Array(0);
  return (chunk) => {
    const runs: number[] = [];
    // A record is longer than its values.
    const most = Math.floor(chunk.length / length) * points;
    if (values.length < most) values = new Float64Array(most);
    for (const { key, value } of unpacked(chunk)) {
      if (value.length !== length)
        throw new Error(
          `the history ${key} is of another length than its study: ${value.length} bytes for ${points} values`,
        );
      readValues(value, values, runs.length * points);
      runs.push(runOfHistory(key));
    }
    return { runs: Uint32Array.from(runs), values: values.subarray(0, runs.length * points) };
  };
}
