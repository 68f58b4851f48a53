/** Telemetry of one run from a local Parquet file, which is read in this page and not sent. */
import { parquetReadObjects } from 'hyparquet';
import {
  decompressBrotli,
  decompressGzip,
  decompressLz4,
  decompressLz4Raw,
  decompressZstd,
} from 'hyparquet-compressors';
import { useEffect, useState } from 'react';
import { Failure, Waiting } from '../parts/common.tsx';
import { TimeSeries } from '../plots/time-series.tsx';

interface Telemetry {
  secs: number[];
  columns: { name: string; values: (number | null)[] }[];
}

const POINTS = 4_000;
/** Decompressors without the package's Snappy, which is WebAssembly and forbidden by the page's policy; the reader has its own. */
const compressors = {
  GZIP: decompressGzip,
  BROTLI: decompressBrotli,
  ZSTD: (input: Uint8Array) => decompressZstd(input),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
};

async function read(file: File): Promise<Telemetry> {
  const rows = await parquetReadObjects({ file: await file.arrayBuffer(), compressors });
  const step = Math.max(1, Math.ceil(rows.length / POINTS));
  const kept = rows.filter((_, at) => at % step === 0);
  const first = kept[0];
  if (first === undefined) throw new Error('The file holds no samples.');
  if (!('timestamp_ns' in first))
    throw new Error('The file has no column timestamp_ns: it is not the telemetry of a run.');
  const from = first['timestamp_ns'] as bigint;
  const names = Object.keys(first).filter((it) => it !== 'timestamp_ns');
  return {
    secs: kept.map((it) => Number((it['timestamp_ns'] as bigint) - from) / 1e9),
    // A value that is not finite is a gap, like a missing one.
    columns: names.map((name) => ({
      name,
      values: kept.map((it) => (Number.isFinite(it[name]) ? (it[name] as number) : null)),
    })),
  };
}

/** The first rows of a Parquet file. */
export async function parquetHead(file: ArrayBuffer, rows: number): Promise<Record<string, unknown>[]> {
  return await parquetReadObjects({ file, compressors, rowStart: 0, rowEnd: rows });
}

export function TelemetryPlot({ file }: { file: File }) {
  const [telemetry, setTelemetry] = useState<Telemetry>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    read(file).then(setTelemetry, (error: Error) => setFailure(error.message));
  }, [file]);
  if (failure !== undefined) return <Failure what="The telemetry could not be read." detail={failure} />;
  if (telemetry === undefined) return <Waiting what="Reading the telemetry" />;
  return (
    <div className="stack">
      {telemetry.columns.map((it) => (
        <TimeSeries
          key={it.name}
          label={`${it.name} over the time of the run, in seconds`}
          times={telemetry.secs}
          across="seconds"
          height={140}
          series={[{ name: `${it.name}, over seconds`, colour: 'running', values: it.values }]}
        />
      ))}
    </div>
  );
}
