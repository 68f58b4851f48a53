/**
 * Closes the telemetry of a job whose runner was killed: what had been flushed becomes readable, at most the last
 * interval is missing. The restarted runner calls it for each job directory it finds.
 */
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Compression } from '../../contract/types.ts';
import { JOURNAL_NAME, readJournal, syncDirectory } from './journal.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { encodeRows, TelemetryFile } from './parquet.ts';
import { Rows } from './rows.ts';

export interface RecoveredTelemetry {
  /** Path of the Parquet file. */
  location: string;
  rows: number;
}

/**
 * Turns what a crash left in a job's output directory into a valid Parquet file. Null when there is nothing to recover: no
 * journal (telemetry was closed, or none came), or no row in it. May itself be interrupted and called again.
 * Throws when the files cannot be read or written; they are then left as they are.
 */
export async function recoverTelemetry(directory: string): Promise<RecoveredTelemetry | null> {
  const journal = await readJournal(directory);
  await rm(join(directory, `${JOURNAL_NAME}.next`), { force: true });
  if (journal === null) return null;
  const { file: name, compression, footedBytes } = journal.header;
  const path = join(directory, name);
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  const file = exists ? await TelemetryFile.reopen(path, footedBytes) : await TelemetryFile.create(path);
  try {
    // A footer newer than the journal's header holds all the journal's rows: the crash came between the two.
    const readable = file.rows;
    let rows = new Rows();
    for (const frame of journal.frames) {
      if (frame.firstRow < readable) continue;
      frame.appendTo(rows);
      if (rows.count < DEFAULT_LIMITS.rowGroupRows && rows.values < DEFAULT_LIMITS.rowGroupValues) continue;
      await append(file, rows, compression);
      rows = new Rows();
    }
    if (rows.count > 0) await append(file, rows, compression);
    if (file.bytes > file.footedBytes) await file.writeFooter();
  } finally {
    await file.close();
  }
  if (file.rows === 0) await rm(path, { force: true });
  await rm(join(directory, JOURNAL_NAME), { force: true });
  await syncDirectory(directory);
  return file.rows === 0 ? null : { location: path, rows: file.rows };
}

async function append(file: TelemetryFile, rows: Rows, compression: Compression): Promise<void> {
  await file.append(rows.count, [...encodeRows(rows, compression)]);
}
