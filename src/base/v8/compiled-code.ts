/** Keeps the code that V8 compiled from the modules of a program, where Node can (22.8 and later): the next start does not compile it again. */
import { lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Enable = (folder: string) => unknown;
const { enableCompileCache } = module as { enableCompileCache?: Enable };

/**
 * Call it before the modules of the program are loaded. The code is written when the process ends, and is read again while the text of its
 * module and Node's version are the same. The variables `NODE_COMPILE_CACHE=FOLDER` and `NODE_DISABLE_COMPILE_CACHE=1` have their usual meaning.
 *
 * Others who can write to the folder can have this user execute any code, so only the user can write to it. Where no such folder can be had,
 * as on a disk that takes no writes, nothing is kept.
 * @param enable Node's function; null where it has none.
 * @param parent an existing folder, which other users may write to.
 * @param user number of this process's user; null on a system without them, whose folder of temporary files is the user's own.
 */
export function keepCompiledCode(
  enable: Enable | null = enableCompileCache ?? null,
  parent: string = tmpdir(),
  user: number | null = process.getuid?.() ?? null,
): void {
  if (enable === null) return;
  const folder = join(parent, user === null ? 'simbatch-compiled' : `simbatch-compiled-${String(user)}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    if (user !== null && (uid !== user || (mode & 0o022) !== 0)) return;
  } catch {
    return;
  }
  enable(folder);
}
