/** The samples in a telemetry file of a run, thinned to a bounded number; in the analysis worker, since decoding takes long. */
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { RunSamples, Samples } from '../../../../analysis/table/drawn-telemetry.ts';
import { telemetryZero } from '../../../../domain/telemetry-clock.ts';

/** Samples of a variable that are kept of one run: of more than these, every k-th and the last. */
const MOST_SAMPLES = 2_000;
/** Larger files are not decoded: rows times columns. */
const MOST_VALUES = 5_000_000;
/** Variables of one run that are read. */
const MOST_VARIABLES = 100;
const TIME = 'timestamp_ns';

/** @throws Error for a file that is not telemetry, or holds too much of it. */
export async function samplesIn(bytes: Uint8Array): Promise<RunSamples> {
  const file = bytes.slice().buffer;
  const metadata = parquetMetadata(file);
  const columns = metadata.schema.slice(1).map((it) => it.name);
  if (!columns.includes(TIME)) throw new Error(`it has no column ${TIME}`);
  const rows = Number(metadata.num_rows);
  if (rows * columns.length > MOST_VALUES) throw new Error(`it has more than ${String(MOST_VALUES)} values`);
  const names = columns.filter((it) => it !== TIME).slice(0, MOST_VARIABLES);
  const found = await parquetReadObjects({ file, metadata, compressors, columns: [TIME, ...names] });
  const first = found[0]?.[TIME] as bigint | undefined;
  if (first === undefined) throw new Error('it has no samples');
  const zero = telemetryZero(first);
  const secs = found.map((it) => Number((it[TIME] as bigint) - zero) / 1e9);
  const variables = new Map<string, Samples>();
  for (const name of names) {
    const values = found.map((it) => it[name]);
    const present = inOrder(secs, values);
    if (present.length > 0) variables.set(name, thinned(present, secs, values as number[]));
  }
  const [startSecs, endSecs] = [secs.reduce((a, b) => Math.min(a, b)), secs.reduce((a, b) => Math.max(a, b))];
  return { startSecs, endSecs, variables };
}

/** The rows with a finite value, in ascending order of time: a simulation may send its samples in any order. */
function inOrder(secs: readonly number[], values: readonly unknown[]): number[] {
  const rows: number[] = [];
  let isSorted = true;
  for (const [row, value] of values.entries()) {
    if (typeof value !== 'number' || !Number.isFinite(value)) continue;
    isSorted &&= rows.length === 0 || secs[rows.at(-1)!]! <= secs[row]!;
    rows.push(row);
  }
  return isSorted ? rows : rows.sort((a, b) => secs[a]! - secs[b]!);
}

function thinned(rows: readonly number[], secs: readonly number[], values: readonly number[]): Samples {
  const step = Math.ceil(rows.length / MOST_SAMPLES);
  const kept = rows.filter((_, at) => at % step === 0 || at === rows.length - 1);
  return { secs: Float64Array.from(kept, (row) => secs[row]!), values: Float64Array.from(kept, (row) => values[row]!) };
}
