/** The values of Parquet pages from the typed cells of a table, in the encodings that the library chooses. */
import type { Encoding } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { useDictionary } from 'hyparquet-writer/src/dictionary.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import type { NumberCells } from '../../../../analysis/export/chunk.ts';
import { TextSink } from './text-sink.ts';

/** The library's own size of pages, in bytes. A page of numbers is always smaller. */
export const PAGE_BYTES = 1024 * 1024;
/** Shorter runs of equal levels are not written as runs. */
const MIN_RUN = 8;
const LENGTH_BYTES = 4;
const HIGH_WORD = 2 ** 32;

/** The least and the greatest value; undefined where there is none. */
interface Range<T> {
  least: T | undefined;
  greatest: T | undefined;
}

/** The values of a page as they are written, until the next page is made. */
export interface Page {
  rows: number;
  /** Rows with a value. */
  present: number;
  encoding: Encoding;
  bytes: Uint8Array;
  range: Range<number | bigint | string>;
  /** Texts, in the order of their indexes, for a page of indexes. */
  dictionary?: string[] | undefined;
}

/** Makes the pages of one file's columns, one after the other, in memory that all of them share. */
export class PageMaker {
  readonly #levelBytes = new ByteWriter();
  readonly #indexBytes = new ByteWriter();
  readonly #texts = new TextSink();
  /** Of the latest page: 1 for each row with a value, and the number of these. */
  #levels = new Uint8Array();
  #present = 0;
  #numbers = new ArrayBuffer(0);

  /** A page of the first `rows` cells. Columns of integers have no missing value. */
  numbers({ type, values }: NumberCells & { type: 'integer' | 'number' | 'time' }, rows: number): Page {
    this.#reserve(rows);
    if (type === 'integer') return this.#integers(values, rows);
    return type === 'number' ? this.#doubles(values, rows) : this.#times(values, rows);
  }

  #integers(values: Float64Array, rows: number): Page {
    const numbers = new Int32Array(this.#numbers, 0, rows);
    let [least, greatest] = [Infinity, -Infinity];
    for (let row = 0; row < rows; row++) {
      const value = values[row]!;
      numbers[row] = value;
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    this.#present = rows;
    return this.#numberPage(rows, numbers.byteLength, { least, greatest });
  }

  #doubles(values: Float64Array, rows: number): Page {
    const numbers = new Float64Array(this.#numbers, 0, rows);
    const levels = this.#levels;
    let [present, least, greatest] = [0, Infinity, -Infinity];
    for (let row = 0; row < rows; row++) {
      const value = values[row]!;
      if (Number.isNaN(value)) {
        levels[row] = 0;
        continue;
      }
      levels[row] = 1;
      numbers[present++] = value;
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    this.#present = present;
    return this.#numberPage(rows, present * 8, { least, greatest });
  }

  /** Whole numbers of ms as 64 bits, the lower half first. */
  #times(values: Float64Array, rows: number): Page {
    const words = new Uint32Array(this.#numbers, 0, 2 * rows);
    const levels = this.#levels;
    let [present, least, greatest] = [0, Infinity, -Infinity];
    for (let row = 0; row < rows; row++) {
      const value = values[row]!;
      if (Number.isNaN(value)) {
        levels[row] = 0;
        continue;
      }
      levels[row] = 1;
      // Typed arrays take numbers modulo 2^32, negative ones too.
      words[2 * present] = value;
      words[2 * present++ + 1] = Math.floor(value / HIGH_WORD);
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    this.#present = present;
    const page = this.#numberPage(rows, present * 8, { least, greatest });
    return present === 0 ? page : { ...page, range: { least: BigInt(least), greatest: BigInt(greatest) } };
  }

  #numberPage(rows: number, size: number, { least, greatest }: { least: number; greatest: number }): Page {
    // A zero is -0 below and +0 above, as the format wants it.
    const range = { least: least === 0 ? -0 : least, greatest: greatest === 0 ? 0 : greatest };
    return this.#plain(rows, new Uint8Array(this.#numbers, 0, size), this.#present === 0 ? NONE : range);
  }

  /** Undefined for texts beyond ASCII, and for those of more than one page: the library writes them. */
  texts(texts: readonly (string | null)[], isRequired: boolean): Page | undefined {
    const rows = texts.length;
    this.#reserve(rows);
    const isConstant = this.#setTextLevels(texts);
    if (this.#present === 0) return this.#plain(rows, new Uint8Array(), NONE);
    // The library's rule for a dictionary, which it applies to a single text in all rows as well.
    const { dictionary, indexes }: { dictionary?: string[]; indexes?: number[] } =
      isConstant && rows > 1
        ? { dictionary: [texts[0]!] }
        : useDictionary(texts as string[], 'BYTE_ARRAY', undefined, undefined, undefined, isRequired);
    const range = this.#encode(dictionary ?? texts);
    if (range === undefined) return undefined;
    if (dictionary === undefined) return this.#plain(rows, this.#texts.view(), range);
    const bytes = this.#indexPage(dictionary.length, indexes);
    return { rows, present: this.#present, encoding: 'RLE_DICTIONARY', bytes, range, dictionary };
  }

  /** The definition levels of the latest page: which rows have a value. */
  levels(rows: number): Uint8Array {
    const bytes = emptied(this.#levelBytes);
    const isRun = this.#present === rows || this.#present === 0;
    if (isRun && rows >= MIN_RUN) {
      bytes.appendVarInt(rows << 1);
      bytes.appendUint8(this.#present === 0 ? 0 : 1);
    } else {
      writeRleBitPackedHybrid(bytes, this.#levels.subarray(0, rows), 1);
    }
    return bytes.getBytes();
  }

  #plain(rows: number, bytes: Uint8Array, range: Page['range']): Page {
    return { rows, present: this.#present, encoding: 'PLAIN', bytes, range };
  }

  /** Returns true where all rows have the same text. */
  #setTextLevels(texts: readonly (string | null)[]): boolean {
    const levels = this.#levels;
    const [first] = texts;
    let present = 0;
    let isConstant = first !== null;
    for (let row = 0; row < texts.length; row++) {
      const text = texts[row]!;
      levels[row] = text === null ? 0 : 1;
      present += levels[row]!;
      isConstant &&= text === first;
    }
    this.#present = present;
    return isConstant;
  }

  /** Writes the texts into `#texts`, each after its length; undefined where they are not ASCII, or more than a page. */
  #encode(texts: readonly (string | null)[]): Range<string> | undefined {
    const sink = this.#texts;
    sink.drop(sink.length);
    let [least, greatest]: [string | undefined, string | undefined] = [undefined, undefined];
    let [ascii, characters] = [0, 0];
    for (const text of texts) {
      if (text === null) continue;
      characters += text.length;
      if (characters >= PAGE_BYTES) return undefined;
      ascii += LENGTH_BYTES + text.length;
      sink.word(text.length);
      sink.text(text);
      if (least === undefined || text < least) least = text;
      if (greatest === undefined || text > greatest) greatest = text;
    }
    return sink.length === ascii ? { least, greatest } : undefined;
  }

  /** The indexes of the rows with a value; without `indexes` they are 0. */
  #indexPage(size: number, indexes: readonly (number | undefined)[] | undefined): Uint8Array {
    const own = new Uint32Array(this.#numbers, 0, this.#present).fill(0);
    let at = 0;
    for (const index of indexes ?? []) if (index !== undefined) own[at++] = index;
    const bitWidth = Math.ceil(Math.log2(size));
    const page = emptied(this.#indexBytes);
    page.appendUint8(bitWidth);
    writeRleBitPackedHybrid(page, own, bitWidth);
    return page.getBytes();
  }

  #reserve(rows: number): void {
    if (this.#levels.length >= rows) return;
    this.#levels = new Uint8Array(rows);
    this.#numbers = new ArrayBuffer(rows * 8);
  }
}

const NONE = { least: undefined, greatest: undefined };

function emptied(writer: ByteWriter): ByteWriter {
  writer.offset = 0;
  writer.index = 0;
  return writer;
}
