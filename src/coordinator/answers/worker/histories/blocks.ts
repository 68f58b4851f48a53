/** One history of many runs as numbers, from the lines in which the coordinator sends its records. */
import { Buffer } from 'node:buffer';
import { base64Length, VALUE_BYTES } from '../../../../domain/histories/values.ts';
import { keys } from '../../../kernel/storage/keys.ts';

/** Some runs, ascending, and their values, `points` of each run after the other; NaN where missing. */
export interface HistoryBlock {
  runs: Uint32Array;
  /** The replicates of the runs, of a family. */
  replicates?: Uint32Array;
  values: Float64Array;
}

const KEY_LENGTH = keys.history('0'.repeat(36), 0, 0).length;
const RUN_DIGITS = 8;
/** A tab is after the key, and a line feed after each record but the last. */
const [TAB, LINE_FEED] = [1, 1];

/**
 * Yields the records of a history in the order of runs; a run that left none does not come.
 * @param next the next chunk of lines, null after the last one. @param points the number of times of the history.
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
  const text = base64Length(points * VALUE_BYTES);
  const line = KEY_LENGTH + TAB + text + LINE_FEED;
  const count = (chunk.length + LINE_FEED) / line;
  if (!Number.isInteger(count)) throw new Error(`histories of ${points} values are of another length`);
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const runs = new Uint32Array(count);
  const values = new Float64Array(count * points);
  const target = Buffer.from(values.buffer);
  for (let row = 0; row < count; row += 1) {
    const key = row * line + KEY_LENGTH;
    runs[row] = Number.parseInt(bytes.toString('latin1', key - RUN_DIGITS, key), 16);
    const from = key + TAB;
    target.write(bytes.toString('latin1', from, from + text), row * points * VALUE_BYTES, 'base64');
  }
  return { runs, values };
}
