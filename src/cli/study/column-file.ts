/** Reads one column of numbers from a CSV or Parquet file. */
import { open, readFile } from 'node:fs/promises';

/** A larger file is not read: its column would not fit into a submission. */
const MAX_BYTES = 256 * 1024 * 1024;
const PARQUET_MAGIC = 'PAR1';

/** The numbers of the column, in the order of the rows; a string is the fault, as a phrase to follow the file's name. */
export async function readColumn(path: string, column: string): Promise<number[] | string> {
  let head: { size: number; magic: string };
  try {
    head = await headOf(path);
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (head.size > MAX_BYTES) return `is larger than ${MAX_BYTES / 1024 / 1024} MiB`;
  if (head.magic === PARQUET_MAGIC) return parquetColumn(path, column);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
    return csvColumn(text, column);
  } catch {
    return 'is neither a Parquet file nor UTF-8 text';
  }
}

async function headOf(path: string): Promise<{ size: number; magic: string }> {
  const file = await open(path);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Error('it is not a regular file');
    const bytes = Buffer.alloc(PARQUET_MAGIC.length);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { size: status.size, magic: bytes.toString('latin1', 0, bytesRead) };
  } finally {
    await file.close();
  }
}

/** A column of CSV text (RFC 4180) whose first row names the columns; as `readColumn`. */
export function csvColumn(text: string, column: string): number[] | string {
  const numbers: number[] = [];
  let place = -1;
  for (const { line, cells } of csvRows(text)) {
    if (place < 0) {
      const names = cells.map((it) => it.trim());
      place = names.indexOf(column);
      if (place < 0) return `has no column ${JSON.stringify(column)}; it has ${listed(names)}`;
      if (names.includes(column, place + 1)) return `has more than one column ${JSON.stringify(column)}`;
      continue;
    }
    if (cells.length === 1 && cells[0] === '') continue;
    const cell = cells[place]?.trim() ?? '';
    const value = cell === '' ? Number.NaN : Number(cell);
    if (!Number.isFinite(value)) {
      const found = cell === '' ? 'is empty' : `is ${JSON.stringify(cell.slice(0, 40))}`;
      return `has in line ${line} a ${JSON.stringify(column)} that ${found}; it must be a finite number`;
    }
    numbers.push(value);
  }
  return place < 0 ? 'is empty; its first row must name the columns' : numbers;
}

/** The rows of CSV text with the line each begins in. */
export function* csvRows(text: string): Generator<{ line: number; cells: string[] }> {
  const cell = /"((?:[^"]|"")*)"(?=[,\r\n]|$)|([^,\r\n]*)/y;
  // A byte order mark, which spreadsheets write.
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const begin = line;
    const cells: string[] = [];
    for (let more = true; more;) {
      cell.lastIndex = at;
      const [whole, quoted, plain] = cell.exec(text)!;
      cells.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
      if (quoted !== undefined) line += quoted.split('\n').length - 1;
      at += whole.length;
      more = text[at] === ',';
      if (more) at += 1;
    }
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    line += 1;
    yield { line: begin, cells };
  }
}

async function parquetColumn(path: string, column: string): Promise<number[] | string> {
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  let rows: Record<string, unknown>[];
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const names = metadata.schema.filter((it) => it.num_children === undefined).map((it) => it.name);
    if (!names.includes(column)) return `has no column ${JSON.stringify(column)}; it has ${listed(names)}`;
    rows = await parquetReadObjects({ file, metadata, columns: [column], compressors });
  } catch (error) {
    return `cannot be read as Parquet: ${error instanceof Error ? error.message : String(error)}`;
  }
  const numbers: number[] = [];
  for (const [row, { [column]: found }] of rows.entries()) {
    const value = typeof found === 'bigint' ? Number(found) : found;
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      return `has in row ${row + 1} a ${JSON.stringify(column)} that is not a finite number`;
    }
    numbers.push(value);
  }
  return numbers;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((it) => JSON.stringify(it.slice(0, 40)));
  return shown.join(', ') + (names.length > shown.length ? ', ...' : '');
}
