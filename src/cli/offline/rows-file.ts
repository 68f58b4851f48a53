/** Reads a table of runs from a Parquet or CSV file: its columns in batches of rows, and the study that the file describes. */
import { open } from 'node:fs/promises';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { openCsv } from './csv-rows.ts';
import { openParquet } from '../../base/tables/parquet-rows.ts';
import type { RowBatch, RowsFile } from '../../base/tables/rows.ts';

const PARQUET_MAGIC = 'PAR1';

/** @throws Failure that names the file when it cannot be read. */
export async function openRowsFile(path: string): Promise<RowsFile> {
  const magic = await beginningOf(path).catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'ENOENT' ? EXIT.missing : EXIT.invalid;
    throw new Failure(code, `${path} is not read: ${error.message}; give a file of \`simbatch table\``);
  });
  try {
    return await (magic === PARQUET_MAGIC ? openParquet(path) : openCsv(path));
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** @throws the error of a batch as a Failure that names the file. */
export async function* readableBatches(
  path: string,
  file: RowsFile,
  columns?: readonly string[],
): AsyncGenerator<RowBatch> {
  try {
    yield* file.batches(columns);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(EXIT.invalid, `${path} is not read: ${message}; give a Parquet or CSV file of \`simbatch table\``);
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const bytes = Buffer.alloc(PARQUET_MAGIC.length);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
