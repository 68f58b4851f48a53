/**
 * The migration from store format 1, whose records have no checksums. It rewrites the records in chunks; each chunk is
 * atomic and includes the last key it rewrote, so that a start after a crash continues there.
 */
import type { Engine, Operation } from '../engine.ts';
import { keys } from '../keys.ts';
import { seal } from './checksum.ts';
import { FORMAT_KEY } from './group-chain.ts';

/** Exists during the migration: the last key that is sealed. */
const CURSOR_KEY = keys.meta('migration');
const CHUNK = 500;
const EVERYTHING = { gte: '', lt: '\u{10ffff}' };

/** Was a migration begun and not finished? */
export const isMigrating = (engine: Engine): boolean => engine.get(CURSOR_KEY) !== undefined;

/**
 * Seals every record. The caller removes the cursor, by `endOfMigration`, together with the first group.
 * @returns the number of operations written
 */
export async function sealRecords(engine: Engine, chunkSize = CHUNK): Promise<number> {
  let written = 0;
  const write = async (operations: readonly Operation[]): Promise<void> => {
    await engine.write(operations, { sync: true });
    written += operations.length;
  };
  let cursor = engine.get(CURSOR_KEY);
  if (cursor === undefined) {
    // From here on an older program refuses the directory as newer.
    cursor = '';
    await write([[FORMAT_KEY, '2'], ...cursorAt(cursor)]);
  }
  const view = engine.snapshot();
  try {
    for await (const chunk of view.entries({ ...EVERYTHING, gte: cursor }, { chunkSize })) {
      const rest = chunk.filter(([key]) => key !== cursor && key !== FORMAT_KEY && key !== CURSOR_KEY);
      const last = chunk.at(-1)?.[0] ?? '';
      await write([...rest.map(([key, value]): Operation => [key, seal(key, value)]), ...cursorAt(last)]);
    }
  } finally {
    await view.close();
  }
  return written;
}

const cursorAt = (key: string): Operation[] => [[CURSOR_KEY, key]];

export const endOfMigration: readonly Operation[] = [[CURSOR_KEY, null]];
