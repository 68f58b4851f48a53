/** Deletes the folders of ended allocations on a host. */
import { errorLine, type EndedAllocation } from '../../engine.ts';
import type { Machine } from './machines.ts';
import { cleanScript, folderName } from './scripts.ts';
import type { SshProgram } from './ssh-program.ts';

/** Adds to `total`. Returns why something is left; undefined: nothing is. Does not throw. */
export async function cleanHost(
  ssh: SshProgram,
  { target, folders, isSilent }: Machine,
  ended: readonly EndedAllocation[],
  total: { count: number; bytes: number; kept: string[] },
): Promise<string | undefined> {
  const ids = new Map(ended.map((it) => [folderName(it.queue, it.id), it.id]));
  const names = [...ids.keys()].filter((it) => /^[a-z0-9.-]+$/.test(it));
  // A host that gives no answer would hold every round of the sweep for the deadline of a call.
  const lines = isSilent
    ? `${target.place} gives no answer`
    : await ssh.script(target, cleanScript(folders, names)).catch(errorLine);
  if (typeof lines === 'string') {
    total.kept.push(...ids.values());
    return lines;
  }
  let why: string | undefined;
  for (const line of lines) {
    const [name = '', size = ''] = line.split('\t');
    const id = ids.get(name);
    if (id === undefined) continue;
    if (/^\d+$/.test(size)) {
      total.count += 1;
      total.bytes += Number(size) * 1024;
    } else {
      total.kept.push(id);
      why = `${target.place}: the folder ${name} has no exit code, or cannot be deleted`;
    }
  }
  return why;
}
