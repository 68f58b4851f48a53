/**
 * Makes a valid Parquet file of what a run has flushed: after a crash of its runner, where at most the last interval is missing, and
 * as a copy while the run continues. The restarted runner calls it for each job directory it finds.
 */
import { constants } from 'node:fs';
import { access, copyFile, link, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

/**
 * Writes what the run in `directory` has flushed into the new file `path`, and returns the number of rows: 0, and no file,
 * when nothing is flushed yet. Null when no telemetry is being written there: the run has sent none, or is over and its
 * own file is complete.
 * Throws the system's error when a file cannot be read or written; EEXIST when `path` exists.
 */
export async function copyFlushed(directory: string, path: string): Promise<number | null> {
  const parts = await mkdtemp(join(dirname(path), '.telemetry-'));
  try {
    // The journal first: whatever the run adds afterwards is in the Parquet file already, or in neither copy.
    const isWritten = await copy(join(directory, JOURNAL_NAME), join(parts, JOURNAL_NAME));
    const journal = isWritten ? await readJournal(parts) : null;
    if (journal === null) return null;
    await copy(join(directory, journal.header.file), join(parts, journal.header.file));
    const recovered = await recoverTelemetry(parts);
    if (recovered === null) return 0;
    // Unlike a rename, a link never replaces a file.
    await link(recovered.location, path);
    return recovered.rows;
  } finally {
    await rm(parts, { recursive: true, force: true });
  }
}

/** Copies a file; false when it does not exist. */
async function copy(from: string, to: string): Promise<boolean> {
  try {
    await access(from);
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
