/** Deletes the logs of runners of allocations that have ended. */
import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleaned } from '../../engine.ts';
import { errorLine } from '../../engine.ts';

/** Deletes `simbatch-<queue>-<id>-<job>.log` of these allocations. Does not throw. */
export async function removeLogs(directory: string, queue: string, ids: ReadonlySet<string>): Promise<Cleaned> {
  const cleaned = { count: 0, bytes: 0, kept: [] as string[], why: undefined as string | undefined };
  let names: string[] = [];
  try {
    names = await readdir(directory);
  } catch (error) {
    // Without the folder there are no logs.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      return { ...cleaned, kept: [...ids], why: errorLine(error) };
  }
  const prefix = `simbatch-${queue}-`;
  for (const name of names) {
    const [id = '', job = '', ...more] = name.startsWith(prefix) ? name.slice(prefix.length).split('-') : [];
    if (more.length > 0 || !/^\d+\.log$/.test(job) || !ids.has(id)) continue;
    try {
      const path = join(directory, name);
      const { size } = await lstat(path);
      await unlink(path);
      cleaned.count += 1;
      cleaned.bytes += size;
    } catch (error) {
      cleaned.kept.push(id);
      cleaned.why = errorLine(error);
    }
  }
  const { why, ...rest } = cleaned;
  return why === undefined ? rest : { ...rest, why };
}
