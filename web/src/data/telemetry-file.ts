/** Telemetry of one run from a Parquet file, which is read in this page and sent nowhere. */
import { parquetReadObjects } from 'hyparquet';
import {
  decompressBrotli,
  decompressGzip,
  decompressLz4,
  decompressLz4Raw,
  decompressZstd,
} from 'hyparquet-compressors';
import { telemetryZero } from '../../../src/domain/telemetry-clock.ts';

/** The samples of one variable in the order of time. */
export interface Line {
  name: string;
  /** Seconds since the zero of `telemetryZero`. */
  secs: number[];
  /** Null for a value that is not finite: a gap. */
  values: (number | null)[];
  /** Samples in the file; more than are drawn where it was thinned. */
  samples: number;
}

export interface Telemetry {
  /** The zero of all seconds, by the clock of the simulation. */
  zeroSecs: number;
  /** The first and the last sample. */
  span: readonly [from: number, to: number];
  lines: Line[];
}

/** A plot has fewer pixels across: of the samples in each part, the first, last, least and greatest draw the same line. */
const PARTS = 800;
const TIME = 'timestamp_ns';

/** Decompressors without the package's Snappy, which is WebAssembly and forbidden by the page's policy; the reader has its own. */
const compressors = {
  GZIP: decompressGzip,
  BROTLI: decompressBrotli,
  ZSTD: (input: Uint8Array) => decompressZstd(input),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
};

/** @throws Error for a file that is not telemetry. */
export async function telemetryIn(file: ArrayBuffer): Promise<Telemetry> {
  const rows = await parquetReadObjects({ file, compressors });
  const [first] = rows;
  if (first === undefined) throw new Error('The file holds no samples.');
  if (!(TIME in first)) throw new Error(`The file has no column ${TIME}: it is not the telemetry of a run.`);
  const times = rows.map((it) => it[TIME] as bigint);
  const zero = telemetryZero(times[0]!);
  const secs = times.map((it) => Number(it - zero) / 1e9);
  const names = Object.keys(first).filter((it) => it !== TIME);
  return {
    zeroSecs: Number(zero) / 1e9,
    span: [secs.reduce((a, b) => Math.min(a, b)), secs.reduce((a, b) => Math.max(a, b))],
    lines: names.map((name) =>
      lineOf(
        name,
        secs,
        rows.map((it) => it[name]),
      ),
    ),
  };
}

/** A row without a value makes no break in the line: variables may be sent at different times. */
function lineOf(name: string, secs: readonly number[], column: readonly unknown[]): Line {
  const sent: number[] = [];
  for (const [row, value] of column.entries()) if (typeof value === 'number') sent.push(row);
  sent.sort((a, b) => secs[a]! - secs[b]!);
  const kept = thinned(sent, column as number[]);
  return {
    name,
    secs: kept.map((row) => secs[row]!),
    values: kept.map((row) => (Number.isFinite(column[row]) ? (column[row] as number) : null)),
    samples: sent.length,
  };
}

/** Source: Jugel et al., M4, Proc. VLDB Endow. 7 (2014) 797. */
function thinned(rows: readonly number[], values: readonly number[]): readonly number[] {
  if (rows.length <= 4 * PARTS) return rows;
  const kept = new Set<number>();
  for (let part = 0; part < PARTS; part++) {
    const from = Math.floor((rows.length * part) / PARTS);
    const to = Math.floor((rows.length * (part + 1)) / PARTS);
    const of = [from, from, from, to - 1];
    for (let at = from; at < to; at++) {
      const value = values[rows[at]!]!;
      if (!Number.isFinite(value)) of.push(at);
      else {
        if (!(values[rows[of[1]!]!]! <= value)) of[1] = at;
        if (!(values[rows[of[2]!]!]! >= value)) of[2] = at;
      }
    }
    for (const at of of.slice(0, 5)) kept.add(at);
  }
  return [...kept].sort((a, b) => a - b).map((at) => rows[at]!);
}

/** The first rows of a Parquet file. */
export async function parquetHead(file: ArrayBuffer, rows: number): Promise<Record<string, unknown>[]> {
  return await parquetReadObjects({ file, compressors, rowStart: 0, rowEnd: rows });
}
