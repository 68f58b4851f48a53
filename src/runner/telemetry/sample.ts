/**
 * Reads the messages of clients/telemetry.proto from their bytes into one reused Sample. Written by hand because a generated reader
 * would build an object with the simulation's names as keys for every sample, without bound, and lose digits of
 * the timestamps; here limits are checked before anything is allocated. Source: protobuf encoding, proto3.
 */
import type { TelemetryLimits } from './limits.ts';
import type { Variable, VariableTable } from './variables.ts';

/** One sample as read: valid until the next is read. One per job is enough, because reading never waits. */
export class Sample {
  count = 0;
  readonly variables: Variable[] = [];
  readonly values: Float64Array;
  /** Where the names start and end in the message, in pairs; of use to the reader only. */
  readonly nameSpans: Uint32Array;
  /** The two halves of the timestamp: `high` signed, `low` unsigned. */
  high = 0;
  low = 0;

  constructor(capacity: number) {
    this.values = new Float64Array(capacity);
    this.nameSpans = new Uint32Array(capacity * 2);
  }

  get timestampNs(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }
}

/** Counts of the samples of one call, which the tally of its job includes. */
export class Tally {
  accepted = 0;
  /** Number of samples that were refused whole. */
  refused = 0;
  /** Values left out of accepted samples. */
  refusedValues = 0;
  /** Samples that clients gave up before sending them. */
  lost = 0;
  /** Why the first refusal; empty when there was none. */
  detail = '';
  readonly #job: Tally | undefined;

  constructor(job?: Tally) {
    this.#job = job;
  }

  accept(): void {
    this.accepted += 1;
    this.#job?.accept();
  }

  refuse(detail: string): void {
    this.refused += 1;
    if (this.detail === '') this.detail = detail;
    this.#job?.refuse(detail);
  }

  refuseValue(detail: string): void {
    this.refusedValues += 1;
    if (this.detail === '') this.detail = detail;
    this.#job?.refuseValue(detail);
  }

  lose(samples: number): void {
    this.lost = Math.min(this.lost + samples, Number.MAX_SAFE_INTEGER);
    this.#job?.lose(samples);
  }
}

/** The counts of a call as an Ack in protobuf: fields that are zero or empty are left out. */
export function encodeAck(tally: Tally): Buffer {
  const bytes: number[] = [];
  for (const [field, value] of [tally.accepted, tally.refused, tally.refusedValues].entries()) {
    if (value > 0) bytes.push((field + 1) << 3, ...varint(value));
  }
  const detail = Buffer.from(tally.detail, 'utf8');
  return detail.length === 0
    ? Buffer.from(bytes)
    : Buffer.concat([Buffer.from([...bytes, (4 << 3) | 2, ...varint(detail.length)]), detail]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return bytes;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const MALFORMED = 'a message that is not a Sample or SampleBatch of svc.telemetry.v1';

/** Thrown inside this file only: the bytes are not what the messages allow. */
class Malformed extends Error {}
const malformed = new Malformed(MALFORMED);

/** Reads the messages of one stream. Not shared between streams: it learns the order in which names come. */
export class SampleReader {
  readonly tally: Tally;
  readonly #table: VariableTable;
  readonly #limits: TelemetryLimits;
  readonly #sample: Sample;
  /** The variables of the previous sample by position: nearly always those of the next. */
  readonly #layout: Variable[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;

  constructor(table: VariableTable, limits: TelemetryLimits, tally: Tally, sample: Sample) {
    this.tally = tally;
    this.#table = table;
    this.#limits = limits;
    this.#sample = sample;
  }

  /** Reads one Sample and hands it to `take`; refuses it, counted, when it cannot be read. */
  readSample(message: Buffer, take: (sample: Sample) => void): void {
    this.#open(message);
    this.#read(message.length, take);
  }

  /** Reads a SampleBatch with its count of lost samples. A fault inside one sample refuses that sample; a fault between samples the rest of the message. */
  readBatch(message: Buffer, take: (sample: Sample) => void): void {
    this.#open(message);
    try {
      while (this.#at < message.length) {
        const tag = this.#varint();
        if (tag === ((1 << 3) | BYTES)) {
          const end = this.#span(message.length);
          this.#read(end, take);
          this.#at = end;
        } else if (tag === ((2 << 3) | VARINT)) this.tally.lose(this.#varint());
        else this.#skip(tag & 7, message.length);
      }
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.tally.refuse(MALFORMED);
    }
  }

  #open(message: Buffer): void {
    this.#bytes = message;
    this.#view = new DataView(message.buffer, message.byteOffset, message.byteLength);
    this.#at = 0;
  }

  /** Validates all bytes before it adds names: a refused sample adds no name. */
  #read(end: number, take: (sample: Sample) => void): void {
    this.#sample.high = 0;
    this.#sample.low = 0;
    let entries = 0;
    try {
      while (this.#at < end) {
        const tag = this.#varint();
        if (tag === ((2 << 3) | BYTES)) {
          if (entries === this.#limits.maxValuesPerSample) {
            this.tally.refuse(`a sample with more than ${this.#limits.maxValuesPerSample} values`);
            return;
          }
          this.#entry(this.#span(end), entries);
          entries += 1;
        } else if (tag === ((1 << 3) | VARINT)) this.#timestamp();
        else this.#skip(tag & 7, end);
      }
      if (this.#at > end) throw malformed;
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.tally.refuse(MALFORMED);
      return;
    }
    this.tally.accept();
    this.#resolve(entries);
    take(this.#sample);
  }

  /** One entry of the map: key 1, value 2; either may be missing and is then empty or 0. */
  #entry(end: number, position: number): void {
    let nameStart = this.#at;
    let nameEnd = nameStart;
    let value = 0;
    while (this.#at < end) {
      const tag = this.#varint();
      if (tag === ((1 << 3) | BYTES)) {
        nameEnd = this.#span(end);
        nameStart = this.#at;
        this.#at = nameEnd;
      } else if (tag === ((2 << 3) | FIXED64)) {
        if (this.#at + 8 > end) throw malformed;
        value = this.#view.getFloat64(this.#at, true);
        this.#at += 8;
      } else this.#skip(tag & 7, end);
    }
    if (this.#at !== end) throw malformed;
    this.#sample.nameSpans[position * 2] = nameStart;
    this.#sample.nameSpans[position * 2 + 1] = nameEnd;
    this.#sample.values[position] = value;
  }

  /** Finds the variables of the entries, and drops refused and unselected ones. */
  #resolve(entries: number): void {
    const sample = this.#sample;
    sample.count = 0;
    for (let position = 0; position < entries; position += 1) {
      const start = sample.nameSpans[position * 2] ?? 0;
      const end = sample.nameSpans[position * 2 + 1] ?? 0;
      const variable = this.#variable(start, end, position);
      if (typeof variable === 'string') {
        this.tally.refuseValue(variable);
        continue;
      }
      if (variable.column < 0 && variable.probe === undefined && variable.wanted < 0) continue;
      sample.variables[sample.count] = variable;
      sample.values[sample.count] = sample.values[position] ?? NaN;
      sample.count += 1;
    }
  }

  #variable(start: number, end: number, position: number): Variable | string {
    const guess = this.#layout[position];
    if (guess !== undefined && guess.bytes.length === end - start && end > start) {
      let at = start;
      while (at < end && this.#bytes[at] === guess.bytes[at - start]) at += 1;
      if (at === end) return guess;
    }
    const found = this.#table.find(this.#bytes, start, end);
    if (typeof found !== 'string' && found.column >= 0) this.#layout[position] = found;
    return found;
  }

  /** Reads up to ten bytes, least significant first: 32 bits in `low`, 32 in `high`, the rest must not be there. */
  #timestamp(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else if (shift < 63) high |= bits << (shift - 32);
      else high |= (bits & 1) << 31;
      if (byte < 0x80) {
        this.#sample.low = low >>> 0;
        this.#sample.high = high | 0;
        return;
      }
    }
    throw malformed;
  }

  /** Reads the length of a field and returns the end of the field. */
  #span(limit: number): number {
    const end = this.#varint() + this.#at;
    if (end > limit) throw malformed;
    return end;
  }

  /** Tags, lengths and counts of lost samples: at most five bytes, below 2^35. */
  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw malformed;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw malformed;
    this.#at += 1;
    return byte;
  }

  /** Passes over a field that a later version may have added. */
  #skip(wireType: number, end: number): void {
    if (wireType === BYTES) this.#at = this.#span(end);
    else if (wireType === FIXED64) this.#at += 8;
    else if (wireType === FIXED32) this.#at += 4;
    else if (wireType === VARINT) {
      let length = 1;
      while (this.#byte() >= 0x80) {
        length += 1;
        if (length > 10) throw malformed;
      }
    } else throw malformed;
    if (this.#at > end) throw malformed;
  }
}
