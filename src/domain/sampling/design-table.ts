/**
 * The design of a study (every run's parameters) as text or columns, made chunk by chunk: the memory does not grow with the runs.
 * The destination is the caller's.
 */
import type { RunSelection } from '../runs/run-selection.ts';
import { csvField } from '../../base/text/csv.ts';
import type { Sampler } from './run-values.ts';

export const DESIGN_FORMATS = ['csv', 'ndjson', 'json'] as const;
export type DesignFormat = (typeof DESIGN_FORMATS)[number];

/** Chunks are cut at the first row beyond this many characters. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Encoding of a table in a format: text before, between and after the rows. */
interface Encoding {
  head(names: readonly string[], axes: readonly string[]): string;
  between: string;
  tail: string;
  /** A function that writes the row of a run from its values, in the order of the names. */
  row(names: readonly string[], axes: readonly string[]): RowText;
}

/** The text of a run from its values, in the order of the names, and its cell. */
type RowText = (
  run: number,
  values: Float64Array,
  cell: ReturnType<NonNullable<Sampler['scenarioOf']>> | undefined,
) => string;

const ENCODINGS: Record<DesignFormat, Encoding> = {
  csv: {
    head: (names, axes) => ['run_id', ...axes.map(csvField), ...names.map(csvField)].join(',') + '\r\n',
    between: '',
    tail: '',
    row: (_, axes) => (run, values, cell) => {
      if (cell === undefined) return values.length === 0 ? `${run}\r\n` : `${run},${values.join(',')}\r\n`;
      const levels = axes.map((axis) => csvField(cell.scenario[axis] ?? ''));
      const cells = Array.from(values, (value) => (Number.isNaN(value) ? '' : String(value)));
      return [run, ...levels, ...cells].join(',') + '\r\n';
    },
  },
  ndjson: { head: () => '', between: '', tail: '', row: (names) => jsonRow(names, '\n') },
  json: { head: () => '[', between: ',\n', tail: ']\n', row: (names) => jsonRow(names, '') },
};

/**
 * The rows of the selected runs as text, in chunks. `csv`: RFC 4180 with a header, columns `run_id`, the axes of scenarios and the names sorted; a parameter that a cell does not have is empty. `ndjson`:
 * one `{"run_id", "parameters"}` a line. `json`: an array of the same. Numbers have all the digits that a double has.
 */
export function* designText(sampler: Sampler, format: DesignFormat, selection: RunSelection): Generator<string> {
  const encoding = ENCODINGS[format];
  const axes = sampler.axes ?? [];
  const row = encoding.row(sampler.names, axes);
  const values = new Float64Array(sampler.names.length);
  let chunk = encoding.head(sampler.names, axes);
  let isFirst = true;
  for (const run of selection.runIds()) {
    sampler.sampleInto(run, values);
    if (!isFirst) chunk += encoding.between;
    isFirst = false;
    chunk += row(run, values, sampler.scenarioOf?.(run));
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  chunk += encoding.tail;
  if (chunk !== '') yield chunk;
}

/** The selected runs as columns, `columns[k]` being that of `sampler.names[k]`. The caller cuts the selection to bound the memory. */
export function designColumns(
  sampler: Sampler,
  selection: RunSelection,
): { run_id: Int32Array; columns: Float64Array[] } {
  const { count } = selection;
  const runIds = Int32Array.from(selection.runIds());
  const columns = sampler.names.map(() => new Float64Array(count));
  const values = new Float64Array(sampler.names.length);
  for (let row = 0; row < count; row++) {
    sampler.sampleInto(runIds[row]!, values);
    for (let k = 0; k < values.length; k++) columns[k]![row] = values[k]!;
  }
  return { run_id: runIds, columns };
}

function jsonRow(names: readonly string[], end: string): RowText {
  const labels = names.map((name) => `${JSON.stringify(name)}:`);
  return (run, values, cell) => {
    let text = `{"run_id":${run},"parameters":{`;
    let comma = '';
    for (let k = 0; k < labels.length; k++) {
      // Of a study with scenarios a cell need not have every parameter.
      if (cell !== undefined && Number.isNaN(values[k]!)) continue;
      text += comma + labels[k]! + String(values[k]!);
      comma = ',';
    }
    const more = cell === undefined ? '' : `,"scenario":${JSON.stringify(cell.scenario)},"sample":${cell.sample}`;
    return `${text}}${more}}${end}`;
  };
}
