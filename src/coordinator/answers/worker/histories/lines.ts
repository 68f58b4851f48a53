/** Histories as lines of text, NDJSON or CSV: one for each run and time, or one for each run. Texts but the values are made once. */
import { Buffer } from 'node:buffer';
import { NUMBER_BYTES, writeNumber } from '../../../../base/decimals/write.ts';
import type { HistoryBlock } from './blocks.ts';

/** Room for a value, a comma, and an end of a line. */
const VALUE_ROOM = NUMBER_BYTES + 8;
/** Room for the beginning of a line: names, a run id and a replicate. */
const START_ROOM = 80;
const COMMA = 44;

/** How lines are written. */
interface LineForm {
  /** The beginning of a line; `replicate` of a family alone. */
  startOf: (run: number, replicate: number | undefined) => string;
  /** Before the value at a time, in a line of its own. */
  beforeOf: (time: number) => string;
  /** Before and after the values of a line with all. */
  before: string;
  after: string;
  /** The two characters that end a line with one value. */
  end: string;
  missing: string;
  infiniteOf: (value: number) => string;
}

const FORMS = {
  ndjson: {
    startOf: (run, replicate) => `{"run_id":${run}${replicate === undefined ? '' : `,"replicate":${replicate}`}`,
    beforeOf: (time) => `,"time":${String(time)},"value":`,
    before: ',"values":[',
    after: ']}\n',
    end: '}\n',
    missing: 'null',
    infiniteOf: (value) => `"${value}"`,
  },
  /** As `csvEncoder` writes a table; its header is not written here. */
  csv: {
    startOf: (run, replicate) => (replicate === undefined ? String(run) : `${run},${replicate}`),
    beforeOf: (time) => `,${String(time)},`,
    before: ',',
    after: '\r\n',
    end: '\r\n',
    missing: '',
    infiniteOf: String,
  },
} satisfies Record<string, LineForm>;

/** A short text, padded to words of eight bytes. */
interface Text {
  words: DataView;
  length: number;
}

const WORD = 8;
function textOf(text: string): Text {
  const bytes = new Uint8Array(Math.ceil(text.length / WORD) * WORD);
  Buffer.from(bytes.buffer).write(text, 'latin1');
  return { words: new DataView(bytes.buffer), length: text.length };
}

/**
 * Copies a text in words, of which the last one may write over seven bytes after the text. The words are doubles, which the compiler
 * moves in one instruction; no byte of an ASCII text makes a NaN. Returns the place after the text.
 */
function copied({ words, length }: Text, target: DataView, at: number): number {
  for (let from = 0; from < length; from += WORD) target.setFloat64(at + from, words.getFloat64(from));
  return at + length;
}

/** Returns the writer of blocks; what it returns is overwritten by the next block. Runs of a family have their replicate. */
export function lineWriter(
  times: Float64Array,
  { format, wide, isFamily }: { format: keyof typeof FORMS; wide: boolean; isFamily: boolean },
): (block: HistoryBlock) => Uint8Array {
  const form: LineForm = FORMS[format];
  const texts = wide ? [] : Array.from(times, (time) => textOf(form.beforeOf(time)));
  const [first, second] = [form.end.charCodeAt(0), form.end.charCodeAt(1)];
  const missing = Uint8Array.from(form.missing, (it) => it.charCodeAt(0));
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  const runRoom = START_ROOM + times.length * (VALUE_ROOM + (wide ? 0 : START_ROOM + longest));
  let bytes = Buffer.alloc(0);
  let view = new DataView(bytes.buffer);

  function writeValue(at: number, value: number): number {
    if (Number.isNaN(value)) {
      for (let next = 0; next < missing.length; next += 1) bytes[at + next] = missing[next]!;
      return at + missing.length;
    }
    const end = Number.isFinite(value) ? writeNumber(bytes, at, value) : -1;
    if (end >= 0) return end;
    return at + bytes.write(Number.isFinite(value) ? String(value) : form.infiniteOf(value), at, 'latin1');
  }

  function writeLong(start: Text, values: Float64Array, from: number, to: number): number {
    let at = to;
    for (let point = 0; point < texts.length; point += 1) {
      at = copied(start, view, at);
      at = copied(texts[point]!, view, at);
      at = writeValue(at, values[from + point]!);
      bytes[at++] = first;
      bytes[at++] = second;
    }
    return at;
  }

  function writeWide(start: Text, values: Float64Array, from: number, to: number): number {
    let at = copied(start, view, to);
    at += bytes.write(form.before, at, 'latin1');
    for (let point = 0; point < times.length; point += 1) {
      at = writeValue(at, values[from + point]!);
      bytes[at++] = COMMA;
    }
    // The last value has no comma after it.
    return at - 1 + bytes.write(form.after, at - 1, 'latin1');
  }

  const write = wide ? writeWide : writeLong;
  return ({ runs, replicates, values }) => {
    if (bytes.length < runs.length * runRoom) {
      bytes = Buffer.allocUnsafeSlow(runs.length * runRoom);
      view = new DataView(bytes.buffer);
    }
    let at = 0;
    for (let row = 0; row < runs.length; row += 1) {
      const start = form.startOf(runs[row]!, isFamily ? (replicates?.[row] ?? 0) : undefined);
      at = write(textOf(start), values, row * times.length, at);
    }
    return bytes.subarray(0, at);
  };
}
