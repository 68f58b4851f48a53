/**
 * Looks at the machine's processes (Linux `/proc`): who a pid is, who is left of a process group, who still works in a
 * directory. Elsewhere it knows nothing, and says so by answering undefined.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The boot's id; it cannot change while this process lives. */
let boot: string | undefined;

/** When the process started, in clock ticks since boot, with the boot's id: never the same for two processes. */
export function processStart(pid: number): string | undefined {
  const stat = readStat(pid);
  if (stat === undefined) return undefined;
  try {
    boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${stat.start}`;
  } catch {
    return undefined;
  }
}

/** The living (not merely unreaped) processes of a group; undefined where this cannot be told. */
export function livingMembers(group: number): number[] | undefined {
  return everyPid()?.filter((pid) => {
    const stat = readStat(pid);
    return stat?.group === group && stat.state !== 'Z' && stat.state !== 'X';
  });
}

/** Living processes, other than this one, with `variable=value` in the environment they were started with. */
export function processesWith(variable: string, value: string): number[] {
  const wanted = `${variable}=${value}`;
  return (everyPid() ?? []).filter((pid) => {
    if (pid === process.pid) return false;
    try {
      return readFileSync(`/proc/${String(pid)}/environ`, 'utf8')
        .split('\0')
        .includes(wanted);
    } catch {
      // Gone meanwhile, or another user's: not ours either way.
      return false;
    }
  });
}

function everyPid(): number[] | undefined {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return undefined;
  }
}

function readStat(pid: number): { state: string; group: number; start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The command's name stands in parentheses and may hold anything, parentheses and blanks included. See proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', group: Number(fields[2]), start: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
