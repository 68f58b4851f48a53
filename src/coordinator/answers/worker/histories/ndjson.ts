/** Histories as NDJSON: an object for each run and time, or one for each run. Its texts but the values are made once. */
import { Buffer } from 'node:buffer';
import { NUMBER_BYTES, writeNumber } from '../../../../base/decimals/write.ts';
import type { HistoryBlock } from './blocks.ts';

/** Room for a value, a comma, and an end of a line. */
const VALUE_ROOM = NUMBER_BYTES + 8;
/** Room for the beginning of a line: names, a run id and a replicate. */
const START_ROOM = 80;
const LINE_FEED = 10;
const COMMA = 44;
const CLOSING = 125;

/** A value as JSON: null where missing, and infinite ones as texts. */
function writeValue(bytes: Buffer, at: number, value: number): number {
  const end = Number.isFinite(value) ? writeNumber(bytes, at, value) : -1;
  if (end >= 0) return end;
  return (
    at + bytes.write(Number.isNaN(value) ? 'null' : Number.isFinite(value) ? String(value) : `"${value}"`, at, 'latin1')
  );
}

/** Copies a short text byte by byte, which takes less time than a call of the platform. Returns the place after it. */
function copied(text: Uint8Array, from: number, to: number, bytes: Uint8Array, at: number): number {
  let place = at;
  for (let next = from; next < to; next += 1) bytes[place++] = text[next]!;
  return place;
}

/** Returns the writer of blocks; what it returns is overwritten by the next block. Runs of a family have their replicate. */
export function ndjsonWriter(
  times: Float64Array,
  { wide, isFamily }: { wide: boolean; isFamily: boolean },
): (block: HistoryBlock) => Uint8Array {
  const texts = Array.from(times, (time) => `,"time":${String(time)},"value":`);
  const before = Buffer.from(wide ? '' : texts.join(''), 'latin1');
  /** Where the text before each value ends in `before`. */
  const ends = new Uint32Array(times.length);
  for (const [at, text] of texts.entries()) ends[at] = (at === 0 ? 0 : ends[at - 1]!) + text.length;
  const runRoom = (wide ? START_ROOM : before.length + times.length * START_ROOM) + times.length * VALUE_ROOM;
  let bytes = Buffer.alloc(0);

  function writeLong(start: Uint8Array, values: Float64Array, from: number, to: number): number {
    let at = to;
    let text = 0;
    for (let point = 0; point < ends.length; point += 1) {
      const end = ends[point]!;
      at = copied(start, 0, start.length, bytes, at);
      at = copied(before, text, end, bytes, at);
      text = end;
      at = writeValue(bytes, at, values[from + point]!);
      bytes[at++] = CLOSING;
      bytes[at++] = LINE_FEED;
    }
    return at;
  }

  function writeWide(start: Uint8Array, values: Float64Array, from: number, to: number): number {
    let at = copied(start, 0, start.length, bytes, to);
    at += bytes.write(',"values":[', at, 'latin1');
    for (let point = 0; point < times.length; point += 1) {
      at = writeValue(bytes, at, values[from + point]!);
      bytes[at++] = COMMA;
    }
    // The last value has no comma after it.
    return at - 1 + bytes.write(']}\n', at - 1, 'latin1');
  }

  const write = wide ? writeWide : writeLong;
  return ({ runs, replicates, values }) => {
    if (bytes.length < runs.length * runRoom) bytes = Buffer.allocUnsafeSlow(runs.length * runRoom);
    let at = 0;
    for (let row = 0; row < runs.length; row += 1) {
      const replicate = isFamily ? `,"replicate":${replicates?.[row] ?? 0}` : '';
      const start = Buffer.from(`{"run_id":${runs[row]!}${replicate}`, 'latin1');
      at = write(start, values, row * times.length, at);
    }
    return bytes.subarray(0, at);
  };
}
