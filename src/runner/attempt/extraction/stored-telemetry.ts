/** Reads the telemetry file of a finished run, row by row as its samples were stored, into the computation of histories and derived outputs. */
import type { Clock } from '../../../base/clock.ts';
import { openParquet } from '../../../base/tables/parquet-rows.ts';
import type { HistoryCollector } from '../../telemetry/histories/collector.ts';
import { TIMESTAMP_COLUMN } from '../../telemetry/variables.ts';

/** Rows that are taken without a pause: a few milliseconds. */
const ROWS_AT_ONCE = 4_096;

/**
 * One row group at a time is in memory.
 * @param stop ends it early; what is computed is not whole then
 * @throws the system's error; Error for a file that is not telemetry
 */
export async function readTelemetry(
  path: string,
  collector: HistoryCollector,
  clock: Pick<Clock, 'soon'>,
  stop: AbortSignal,
): Promise<void> {
  const file = await openParquet(path);
  const { names } = file;
  if (!names.includes(TIMESTAMP_COLUMN)) throw new Error(`it has no column ${TIMESTAMP_COLUMN}`);
  const wanted = names.filter((it) => it !== TIMESTAMP_COLUMN && collector.variables.has(it));
  const numbers = wanted.map((it) => collector.variables.get(it)!);
  for await (const { count, columns } of file.batches([TIMESTAMP_COLUMN, ...wanted])) {
    const times = columns.get(TIMESTAMP_COLUMN) as ArrayLike<bigint>;
    const values = wanted.map((it) => columns.get(it)!);
    for (let row = 0; row < count; row += 1) {
      if (row % ROWS_AT_ONCE === 0) {
        await new Promise<void>((resolve) => clock.soon(resolve));
        if (collector.pressed) await new Promise<void>((resolve) => collector.whenRelieved(resolve));
        if (stop.aborted) return;
      }
      collector.takeRow(times[row]!, numbers, values, row);
    }
  }
}
