/** One history of the runs of a study as a file, piece by piece: a row for each run and time, or one for each run. */
import { Chunk, type NumberCells } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import { closestMatch } from '../../../../base/text/closest-match.ts';
import type { BatchConfig, HistoryConfig } from '../../../../contract/types.ts';
import { SimbatchError } from '../../../../domain/errors.ts';
import { historyName, pointsOf } from '../../../../domain/histories/points.ts';
import type { HistoriesRequest } from '../../table-request.ts';
import { tableEncoder } from '../formats/encoder.ts';
import { copiedPieces, split } from '../table/pieces.ts';
import { historyBlocks, type HistoryBlock } from './blocks.ts';
import { lineWriter } from './lines.ts';
import { type HistorySource, type RunSelection, selectedBlocks } from './selected.ts';

/** Rows and values of a chunk of columns: some megabytes, whatever the number of runs. */
const LONG_ROWS = 131_072;
const WIDE_VALUES = 500_000;

/** A history by its name, and its place in the study. @throws SimbatchError `malformed-query` for an unknown name */
export function historyOf(
  { histories }: Pick<BatchConfig, 'histories'>,
  name: string,
): { place: number; history: HistoryConfig } {
  const names = (histories ?? []).map(historyName);
  const place = names.indexOf(name);
  if (place >= 0) return { place, history: histories![place]! };
  const meant = closestMatch(name, names);
  const known = names.length === 0 ? 'it declares none' : `it has ${names.slice(0, 10).join(', ')}`;
  const remedy = meant === undefined ? known : `did you mean "${meant}"?`;
  const message = `the study has no history ${JSON.stringify(name.slice(0, 200))}; ${remedy}`;
  throw new SimbatchError('malformed-query', message);
}

/** Yields the file. `selected`: the runs of the sources that are in it; undefined: all of the only source. */
export async function* historyPieces(
  request: HistoriesRequest,
  history: HistoryConfig,
  sources: readonly HistorySource[],
  selected: RunSelection | undefined,
): AsyncGenerator<Uint8Array> {
  const times = pointsOf(history.at);
  const blocks =
    selected === undefined
      ? historyBlocks(sources[0]!.next, times.length)
      : selectedBlocks(sources, selected, times.length);
  const isFamily = request.family === true;
  const columns = [...runColumns(isFamily), ...(request.wide ? wideColumns(history, times) : longColumns(history))];
  const { format, wide } = request;
  const { encoder } = tableEncoder(format, columns);
  const beginning = encoder.begin({ batchId: request.batchId, warnings: [] });
  if (beginning.length > 0) yield beginning;
  if (format === 'ndjson' || format === 'csv') {
    const write = lineWriter(times, { format, wide, isFamily });
    for await (const block of blocks) yield* copiedPieces(write(block));
    return;
  }
  const chunks = request.wide ? wideChunks(blocks, columns, times) : longChunks(blocks, columns, times);
  let rows = 0;
  for await (const chunk of chunks) {
    rows += chunk.rows;
    yield* split(encoder.write(chunk));
  }
  yield encoder.end({ matched: rows, of: rows });
}

const column = (
  name: string,
  type: 'integer' | 'number',
  units: string | null,
  description: string | null,
): Column => ({
  name,
  member: name,
  source: 'run',
  type,
  units,
  description,
  // A missing value is NaN.
  isRequired: true,
});

const runColumns = (isFamily: boolean): Column[] =>
  ['run_id', ...(isFamily ? ['replicate'] : [])].map((name) => column(name, 'integer', null, null));

const longColumns = (history: HistoryConfig): Column[] => [
  { ...column('time', 'number', 's', null), isUnordered: true },
  { ...column('value', 'number', history.units ?? null, historyName(history)), isRaw: true },
];

const wideColumns = (history: HistoryConfig, times: Float64Array): Column[] =>
  Array.from(times, (time) => ({ ...column(String(time), 'number', history.units ?? null, null), isRaw: true }));

async function* longChunks(
  blocks: AsyncIterable<HistoryBlock>,
  columns: readonly Column[],
  times: Float64Array,
): AsyncGenerator<Chunk> {
  const chunk = new Chunk(columns, LONG_ROWS);
  const [ids, ...others] = chunk.cells.map((it) => (it as NumberCells).values);
  const [values, at, replicates] = others.toReversed();
  for await (const block of blocks) {
    for (const [row, run] of block.runs.entries()) {
      for (let from = 0; from < times.length;) {
        const count = Math.min(times.length - from, LONG_ROWS - chunk.rows);
        const place = row * times.length + from;
        ids!.fill(run, chunk.rows, chunk.rows + count);
        replicates?.fill(block.replicates?.[row] ?? 0, chunk.rows, chunk.rows + count);
        at!.set(times.subarray(from, from + count), chunk.rows);
        values!.set(block.values.subarray(place, place + count), chunk.rows);
        chunk.rows += count;
        from += count;
        if (chunk.rows < LONG_ROWS) continue;
        yield chunk;
        chunk.rows = 0;
      }
    }
  }
  if (chunk.rows > 0) yield chunk;
}

async function* wideChunks(
  blocks: AsyncIterable<HistoryBlock>,
  columns: readonly Column[],
  { length: points }: Float64Array,
): AsyncGenerator<Chunk> {
  const chunk = new Chunk(columns, Math.max(1, Math.floor(WIDE_VALUES / columns.length)));
  const cells = chunk.cells.map((it) => (it as NumberCells).values);
  const first = cells.length - points;
  for await (const { runs, replicates, values } of blocks) {
    for (const [row, run] of runs.entries()) {
      const to = chunk.add();
      cells[0]![to] = run;
      if (first > 1) cells[1]![to] = replicates?.[row] ?? 0;
      for (let point = 0; point < points; point += 1) cells[point + first]![to] = values[row * points + point]!;
      if (chunk.rows < chunk.capacity) continue;
      yield chunk;
      chunk.rows = 0;
    }
  }
  if (chunk.rows > 0) yield chunk;
}
