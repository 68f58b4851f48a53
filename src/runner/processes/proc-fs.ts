/**
 * Reads the machine's processes from Linux's `/proc`: start times, process groups, environments. Source: proc(5). Elsewhere,
 * or where `/proc` is not mounted, nothing is known and the answers say so.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { stopwatch } from '../../base/clock.ts';

/** A living process, for people. */
export interface ProcessInfo {
  /** 0: a container, named in `command`. */
  pid: number;
  /** The program's name as the kernel has it, at most 15 characters; empty when unknown. */
  command: string;
  /** One letter of proc(5), e.g. `D`: waits in the kernel and takes no signal; empty when unknown. */
  state: string;
}

interface Stat {
  command: string;
  state: string;
  parent: number;
  group: number;
  threads: number;
  start: string;
}

/** The marker of a server of processes, and of a process that it has just created: such a one may get another. */
const UNSETTLED = 'SVC_OUTPUT_DIR=-';
/** How long a process counts as foreign without another look: a pid is not used again within this time. */
const FOREIGN_MS = 1000;

export class ProcessTable {
  readonly #root: string;
  /** The boot's id; it cannot change while this process runs. */
  #boot: string | undefined;
  /** Processes whose environment was read and does not name an output directory. */
  readonly #foreign = new Set<number>();
  /** Start and marker of the processes that have the marker of a run, which are most processes of a runner with many slots. */
  readonly #marked = new Map<number, { start: string; marker: string }>();
  #foreignSinceMs = 0;
  #isAvailable: boolean | undefined;

  constructor(root = '/proc') {
    this.#root = root;
  }

  /** True where processes can be listed and their environments read. */
  get isAvailable(): boolean {
    this.#isAvailable ??= existsSync(`${this.#root}/self/environ`);
    return this.#isAvailable;
  }

  /** Ticks since boot with the boot's id: different for every process. Undefined when the process or `/proc` is missing. */
  processStart(pid: number): string | undefined {
    const stat = this.#stat(pid);
    return stat === undefined ? undefined : this.startAt(stat.start);
  }

  /** The form of `processStart` for a process that started `ticks` clock ticks after boot. */
  startAt(ticks: string): string | undefined {
    try {
      this.#boot ??= readFileSync(`${this.#root}/sys/kernel/random/boot_id`, 'utf8').trim();
      return `${this.#boot}:${ticks}`;
    } catch {
      return undefined;
    }
  }

  /** The process, or undefined when it is dead; unreaped processes are dead. Without `/proc` only its pid is known. */
  living(pid: number): ProcessInfo | undefined {
    const stat = this.#stat(pid);
    if (stat !== undefined) return isDead(stat) ? undefined : { pid, command: stat.command, state: stat.state };
    return !this.isAvailable && canSignal(pid) ? { pid, command: '', state: '' } : undefined;
  }

  /** The living processes of a group. Without `/proc`, its leader represents the group. */
  livingMembers(group: number): ProcessInfo[] {
    // Cheaper than a look at every process, and in most cases the answer.
    if (!hasMembers(group)) return [];
    const pids = this.#pids();
    if (pids === undefined) return [{ pid: group, command: '', state: '' }];
    return pids.flatMap((pid) => {
      const stat = this.#stat(pid);
      return stat?.group === group && !isDead(stat) ? [{ pid, command: stat.command, state: stat.state }] : [];
    });
  }

  /**
   * Living processes, other than this one, that were started with `SVC_OUTPUT_DIR=<directory>`. Only processes that were
   * not seen before are read: the environment of a process comes from its parent, so a process without the marker never gets it.
   */
  async carriersOf(directory: string): Promise<ProcessInfo[]> {
    const wanted = `SVC_OUTPUT_DIR=${directory}`;
    const found: ProcessInfo[] = [];
    const names = await readdir(this.#root).catch((): string[] => []);
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const present = new Set(pids);
    if (stopwatch() - this.#foreignSinceMs > FOREIGN_MS) {
      this.#foreign.clear();
      this.#marked.clear();
      this.#foreignSinceMs = stopwatch();
    }
    for (const pid of this.#foreign) if (!present.has(pid)) this.#foreign.delete(pid);
    for (const pid of this.#marked.keys()) if (!present.has(pid)) this.#marked.delete(pid);
    for (const pid of pids) {
      if (pid === process.pid || this.#foreign.has(pid) || this.#isOfAnother(pid, wanted)) continue;
      const environ = await readFile(`${this.#root}/${String(pid)}/environ`, 'utf8').catch(() => undefined);
      const stat = this.#stat(pid);
      if (stat === undefined || isDead(stat)) continue;
      const variables = environ?.split('\0') ?? [];
      const marker = variables.find((it) => it.startsWith('SVC_OUTPUT_DIR='));
      if (variables.includes(wanted)) found.push({ pid, command: stat.command, state: stat.state });
      else if (marker?.startsWith(UNSETTLED) === true) continue;
      else if (marker !== undefined) this.#marked.set(pid, { start: stat.start, marker });
      // A child of this process may not have its own environment yet.
      else if (stat.parent !== process.pid) this.#foreign.add(pid);
    }
    return found;
  }

  /** True for a process that was seen with the marker of another run; another process under its pid has another start. */
  #isOfAnother(pid: number, wanted: string): boolean {
    const marked = this.#marked.get(pid);
    return marked !== undefined && marked.marker !== wanted && this.#stat(pid)?.start === marked.start;
  }

  #pids(): number[] | undefined {
    try {
      return readdirSync(this.#root)
        .filter((name) => /^\d+$/.test(name))
        .map(Number);
    } catch {
      return undefined;
    }
  }

  #stat(pid: number): Stat | undefined {
    try {
      const stat = readFileSync(`${this.#root}/${String(pid)}/stat`, 'utf8');
      // The command's name is in parentheses and may hold anything, parentheses and blanks included.
      const end = stat.lastIndexOf(')');
      const fields = stat.slice(end + 2).split(' ');
      return {
        command: stat.slice(stat.indexOf('(') + 1, end),
        state: fields[0] ?? '',
        parent: Number(fields[1]),
        group: Number(fields[2]),
        threads: Number(fields[17]),
        start: fields[19] ?? '',
      };
    } catch {
      return undefined;
    }
  }
}

/** A process whose first thread has ended is a zombie by name, and runs on while it has other threads. */
function isDead({ state, threads }: Stat): boolean {
  return state === 'X' || (state === 'Z' && threads <= 1);
}

/** True when the process group has members; unreaped ones count. */
export const hasMembers = (group: number): boolean => canSignal(-group);

/** Whether there is such a process, or process group when negative; an unreaped one counts. */
function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** SIGKILL to a process, or to a process group when negative. */
export function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is dead, or another user's.
  }
}
