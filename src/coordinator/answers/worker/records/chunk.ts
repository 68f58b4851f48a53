/** Stored records within a chunk of bytes from the coordinator; they are decoded where a reader needs text. */
import { Buffer } from 'node:buffer';
import type { JobRecord, StoredResult } from '../../../../contract/types.ts';

const TAB = 9;
const LINE_FEED = 10;
/** Characters of a run's number at the end of a job's id. */
const RUN_DIGITS = 8;
const DIGIT_0 = 48;
const LETTER_A = 97;

const decoder = new TextDecoder();

/** Lines as `StoreView.lines` makes them. The records of a chunk are in view one after the other. */
export class RecordChunk {
  readonly bytes: Buffer;
  #text: string | null | undefined;

  constructor(bytes: Uint8Array) {
    // The search of a buffer takes a tenth of the time of that of an array.
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** The text of a part of the chunk. */
  text(start: number, end: number): string {
    // One call decodes a whole chunk; where all characters are ASCII, their places are those of the bytes.
    if (this.#text === undefined) {
      const text = decoder.decode(this.bytes);
      this.#text = text.length === this.bytes.length ? text : null;
    }
    return this.#text?.slice(start, end) ?? decoder.decode(this.bytes.subarray(start, end));
  }
}

/** A stored record as bytes; `start` and `end` are places in its chunk. */
export class RecordBytes {
  readonly chunk: RecordChunk;
  readonly start: number;
  readonly end: number;

  constructor(chunk: RecordChunk, start: number, end: number) {
    this.chunk = chunk;
    this.start = start;
    this.end = end;
  }

  get text(): string {
    return this.chunk.text(this.start, this.end);
  }
}

export const parseJob = (record: RecordBytes): JobRecord => JSON.parse(record.text) as JobRecord;
export const parseResult = (record: RecordBytes): StoredResult => JSON.parse(record.text) as StoredResult;

/** The lines of a chunk, with the first of those left in view. */
export class ChunkLines {
  readonly #chunk: RecordChunk;
  readonly #keyLength: number;
  #start = 0;
  #end: number;
  /** The run of the line in view; -1 after the last one. */
  runId: number;

  constructor(bytes: Uint8Array) {
    this.#chunk = new RecordChunk(bytes);
    // All keys of a chunk are of one kind, and their ids of one length.
    this.#keyLength = this.#chunk.bytes.indexOf(TAB);
    this.#end = endOf(this.#chunk.bytes, 0);
    this.runId = this.#runId();
  }

  /** The record in view. */
  record(): RecordBytes {
    return new RecordBytes(this.#chunk, this.#start + this.#keyLength + 1, this.#end);
  }

  drop(): void {
    const { bytes } = this.#chunk;
    this.#start = this.#end + 1;
    if (this.#start < bytes.length) {
      this.#end = endOf(bytes, this.#start + this.#keyLength);
      this.runId = this.#runId();
    } else {
      this.runId = -1;
    }
  }

  #runId(): number {
    const { bytes } = this.#chunk;
    if (bytes.length === 0) return -1;
    const end = this.#start + this.#keyLength;
    if (bytes[end] !== TAB) throw new Error('a chunk of records has a key of another length');
    let number = 0;
    for (let at = end - RUN_DIGITS; at < end; at++) {
      const code = bytes[at]!;
      number = number * 16 + (code < LETTER_A ? code - DIGIT_0 : code - LETTER_A + 10);
    }
    return number - 1;
  }
}

function endOf(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_FEED, from);
  return end === -1 ? bytes.length : end;
}
