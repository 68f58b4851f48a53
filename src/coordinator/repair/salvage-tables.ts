/** Saves the whole blocks of damaged tables for LevelDB's own repair, which gives up a whole table when its end or its index is damaged. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileFault } from '../kernel/storage/leveldb/inspection.ts';
import { logOf } from '../kernel/storage/leveldb/log-writer.ts';
import { salvageTable, type LostBytes } from '../kernel/storage/leveldb/salvage.ts';
import { singleWrite } from '../kernel/storage/leveldb/write-batch.ts';

const TABLE = /^(\d+)\.(?:ldb|sst)$/;

/**
 * Replaces each damaged table of a clone by a write-ahead log with its entries, under the same number and with their sequence numbers: LevelDB's repair makes
 * a table of it. Returns the losses, a sentence each.
 */
export async function salvageTables(clone: string, faults: readonly FileFault[]): Promise<string[]> {
  const losses: string[] = [];
  for (const name of new Set(faults.map(({ file }) => file))) {
    const number = TABLE.exec(name)?.[1];
    if (number === undefined) continue;
    const bytes = await readFile(join(clone, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (bytes === undefined) {
      losses.push(`${name}: its records are lost with the file`);
      continue;
    }
    const { entries, lost } = salvageTable(bytes);
    for (const it of lost) losses.push(`${name}: ${described(it)}`);
    await rm(join(clone, name));
    if (entries.length === 0) continue;
    const writes = entries.map(({ sequence, key, value }) => singleWrite(sequence, key, value));
    await writeFile(join(clone, `${number}.log`), logOf(writes), { mode: 0o600 });
  }
  return losses;
}

function described({ from, to, after, before }: LostBytes): string {
  const [low, high] = [after, before].map((it) => it?.toString('utf8'));
  const keys =
    low === undefined
      ? high === undefined
        ? ''
        : `, with keys before ${high}`
      : high === undefined
        ? `, with keys after ${low}`
        : `, with keys between ${low} and ${high}`;
  return `the records in bytes ${String(from)} to ${String(to)} are lost${keys}`;
}
