/** Exports parameters and outputs of a study as a file, from the data of the page. */
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { RunTable } from './run-table.ts';

export const FORMATS = ['CSV', 'JSON', 'Parquet'] as const;
export type Format = (typeof FORMATS)[number];

interface Columns {
  names: string[];
  values: Float64Array[];
}

function columnsOf(table: RunTable): Columns {
  const outputs = [...table.outputs];
  const taken = new Set(table.parameters.map((it) => it.name));
  return {
    names: [
      ...table.parameters.map((it) => it.name),
      ...outputs.map(([name]) => (taken.has(name) ? `output.${name}` : name)),
    ],
    values: [...table.parameters.map((it) => it.values), ...outputs.map(([, values]) => values)],
  };
}

const numberOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function csv(table: RunTable, { names, values }: Columns): Blob {
  const parts = [['run_id', 'status', ...names, 'error_message'].map(quoted).join(',') + '\r\n'];
  for (let run = 0; run < table.size; run += 1) {
    const figures = values.map((it) => (Number.isNaN(it[run]!) ? '' : String(it[run])));
    parts.push(
      [table.runAt(run), JOB_STATUSES[table.status[run]!], ...figures, quoted(table.errors.get(run) ?? '')].join(',') + '\r\n',
    );
  }
  return new Blob(parts, { type: 'text/csv' });
}

function json(table: RunTable, { values }: Columns): Blob {
  const parameters = table.parameters.map((it) => it.name);
  const outputs = [...table.outputs.keys()];
  const parts = ['[\n'];
  const row = (names: string[], run: number, from: number): object =>
    Object.fromEntries(names.map((name, at) => [name, numberOrNull(values[from + at]![run]!)]));
  for (let run = 0; run < table.size; run += 1) {
    const record = {
      run_id: table.runAt(run),
      status: JOB_STATUSES[table.status[run]!],
      parameters: row(parameters, run, 0),
      outputs: row(outputs, run, parameters.length),
      error_message: table.errors.get(run),
    };
    parts.push(JSON.stringify(record) + (run === table.size - 1 ? '\n' : ',\n'));
  }
  return new Blob([...parts, ']\n'], { type: 'application/json' });
}

async function parquet(table: RunTable, { names, values }: Columns): Promise<Blob> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const runs = Array.from({ length: table.size }, (_, run) => run);
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: 'run_id', data: Int32Array.from(runs, (row) => table.runAt(row)), type: 'INT32' },
      { name: 'status', data: runs.map((run) => JOB_STATUSES[table.status[run]!]), type: 'STRING' },
      ...names.map((name, at) => ({
        name,
        data: Array.from(values[at]!, (it) => (Number.isNaN(it) ? null : it)),
        type: 'DOUBLE' as const,
        nullable: true,
      })),
      { name: 'error_message', data: runs.map((run) => table.errors.get(run) ?? null), type: 'STRING', nullable: true },
    ],
  });
  return new Blob([buffer], { type: 'application/vnd.apache.parquet' });
}

/** Creates the file and lets the browser save it. */
export async function download(table: RunTable, format: Format, name: string): Promise<void> {
  const columns = columnsOf(table);
  const blob =
    format === 'CSV' ? csv(table, columns) : format === 'JSON' ? json(table, columns) : await parquet(table, columns);
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name.replaceAll(/[^\w.-]+/g, '_') || 'batch'}.${format.toLowerCase()}`;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
