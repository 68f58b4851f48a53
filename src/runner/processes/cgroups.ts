/**
 * A cgroup for each run (Linux, cgroup version 2): every process that a simulation starts is born in it and can be ended
 * with it, also a process that leaves its process group and drops its environment. Holds limits of memory and CPU where the
 * controllers are there. Source: Documentation/admin-guide/cgroup-v2. All files are in the kernel's memory, so no call waits.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { oneLine, systemCode } from '../system-error.ts';

export interface CgroupLimits {
  /** `container.memory_limit` in bytes. */
  memoryBytes?: number;
  /** `container.cpu_limit` in thousandths of a core. */
  cpuMilli?: number;
}

/** The kernel's default period of `cpu.max`. */
const CPU_PERIOD_US = 100_000;
/** The least quota of `cpu.max` that the kernel takes. */
const LEAST_QUOTA_US = 1000;
const WANTED_CONTROLLERS = ['memory', 'cpu'] as const;

/** The cgroup of one run at a time. Reused, because making one costs more than a short run. */
export class RunCgroup {
  readonly directory: string;
  readonly #procs: number;
  readonly #limited = new Set<string>();
  #oomKillsBefore = 0;

  /** @param directory an existing cgroup. */
  constructor(directory: string) {
    this.directory = directory;
    this.#procs = openSync(join(directory, 'cgroup.procs'), 'r+');
  }

  /** Moves this process, with all its threads, into the cgroup. */
  enter(): void {
    writeSync(this.#procs, '0');
  }

  /** Applies the limits. Not while this process is inside: it could be ended for the memory of the run. */
  limit({ memoryBytes, cpuMilli }: CgroupLimits): void {
    if (memoryBytes !== undefined && memoryBytes > 0) {
      this.#oomKillsBefore = this.#oomKills();
      this.#write('memory.max', String(memoryBytes));
    }
    if (cpuMilli !== undefined && cpuMilli > 0) {
      const quotaUs = Math.max(LEAST_QUOTA_US, Math.round((cpuMilli / 1000) * CPU_PERIOD_US));
      this.#write('cpu.max', `${String(quotaUs)} ${String(CPU_PERIOD_US)}`);
    }
  }

  get isEmpty(): boolean {
    return !/^populated 1$/m.test(readFileSync(join(this.directory, 'cgroup.events'), 'latin1'));
  }

  members(): number[] {
    return pidsIn(this.directory);
  }

  /** SIGKILL to every process in it, those that fork meanwhile included. Never with this process inside. */
  kill(): void {
    if (this.members().includes(process.pid)) throw new Error(`this process is in ${this.directory}`);
    writeFileSync(join(this.directory, 'cgroup.kill'), '1');
  }

  /** True when the kernel ended a process of the run for exceeding its memory limit. */
  get exceededMemory(): boolean {
    return this.#limited.has('memory.max') && this.#oomKills() > this.#oomKillsBefore;
  }

  /** Makes the cgroup ready for the next run; it must be empty. */
  reset(): void {
    for (const file of this.#limited) writeFileSync(join(this.directory, file), 'max');
    this.#limited.clear();
  }

  remove(): void {
    closeSync(this.#procs);
    rmdirSync(this.directory);
  }

  #write(file: string, value: string): void {
    this.#limited.add(file);
    writeFileSync(join(this.directory, file), value);
  }

  #oomKills(): number {
    try {
      const events = readFileSync(join(this.directory, 'memory.events'), 'latin1');
      return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
    } catch {
      return 0;
    }
  }
}

export class Cgroups {
  /** The controllers whose limits take effect: `memory`, `cpu`. */
  readonly controllers: readonly string[];
  /** How many processes of a former process were found and sent SIGKILL. */
  readonly killedAtStart: number;
  /** The directory of this process's own cgroup. */
  readonly home: string;
  readonly #parent: string;
  readonly #tag: string;
  readonly #home: number;
  readonly #free: RunCgroup[] = [];
  #leftovers: string[];
  #made = 0;

  private constructor(it: { parent: string; tag: string; home: string; controllers: string[]; leftovers: Leftovers }) {
    this.#parent = it.parent;
    this.#tag = it.tag;
    this.home = it.home;
    this.#home = openSync(join(it.home, 'cgroup.procs'), 'r+');
    this.controllers = it.controllers;
    this.#leftovers = it.leftovers.directories;
    this.killedAtStart = it.leftovers.processes;
  }

  /**
   * Prepares cgroups below the one of this process.
   * @param tag names this runner's cgroups; those that a former process left under the same tag are ended and removed.
   * @param root of the system's files; for tests.
   * @returns why there are none, when this machine or this user cannot make them.
   */
  static open(tag: string, root = '/'): Cgroups | string {
    try {
      const own = ownCgroup(root);
      if (typeof own === 'string') return own;
      const leftovers = killLeftovers(own.directory, tag);
      const { home, controllers } = enableControllers(own, tag);
      const cgroups = new Cgroups({ parent: own.directory, tag, home, controllers, leftovers });
      // Tries all that a run needs.
      const first = cgroups.#make();
      try {
        first.enter();
      } finally {
        cgroups.leave();
      }
      first.kill();
      cgroups.#free.push(first);
      return cgroups;
    } catch (error) {
      return oneLine(error);
    }
  }

  /** Removes what a former process left. Returns false while some of its processes are not dead. */
  removeLeftovers(): boolean {
    this.#leftovers = this.#leftovers.filter((directory) => {
      try {
        rmdirSync(directory);
        return false;
      } catch (error) {
        return systemCode(error) !== 'ENOENT';
      }
    });
    return this.#leftovers.length === 0;
  }

  acquire(): RunCgroup {
    return this.#free.pop() ?? this.#make();
  }

  /** Takes back a cgroup that is empty. */
  release(cgroup: RunCgroup): void {
    cgroup.reset();
    this.#free.push(cgroup);
  }

  /** Moves this process back to where it belongs. */
  leave(): void {
    writeSync(this.#home, '0');
  }

  /** Removes the cgroups that are free. One with processes stays for the next process under this tag. */
  close(): void {
    this.removeLeftovers();
    for (const cgroup of this.#free.splice(0)) {
      try {
        cgroup.remove();
      } catch {
        // The next start of a runner removes the cgroup.
      }
    }
    closeSync(this.#home);
  }

  #make(): RunCgroup {
    for (;;) {
      this.#made += 1;
      try {
        const directory = join(this.#parent, `${this.#tag}.${String(this.#made)}`);
        mkdirSync(directory);
        return new RunCgroup(directory);
      } catch (error) {
        // A cgroup of a former process whose processes are not dead yet.
        if (systemCode(error) !== 'EEXIST') throw error;
      }
    }
  }
}

function pidsIn(directory: string): number[] {
  return readFileSync(join(directory, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean).map(Number);
}

interface OwnCgroup {
  directory: string;
  /** The root of the hierarchy: processes and controllers may be together there. */
  isRoot: boolean;
}

function ownCgroup(root: string): OwnCgroup | string {
  const mounts = readFileSync(join(root, 'proc/self/mountinfo'), 'utf8').split('\n');
  const mount = mounts.map((line) => line.split(' ')).find((fields) => fields[fields.indexOf('-') + 1] === 'cgroup2');
  if (mount === undefined) return 'no cgroup version 2 is mounted';
  const [, , , mountRoot = '/', mountPoint = ''] = mount;
  const path = /^0::(.*)$/m.exec(readFileSync(join(root, 'proc/self/cgroup'), 'utf8'))?.[1];
  if (path === undefined) return 'this process is in no cgroup of version 2';
  const below = mountRoot !== '/' && path.startsWith(mountRoot) ? path.slice(mountRoot.length) : path;
  const directory = join(root, mountPoint, below);
  return { directory, isRoot: below === '' || below === '/' };
}

/**
 * Below a cgroup with processes no controller can be enabled, so this process moves into a cgroup of its own first. Where
 * that is not possible (other processes are there too) runs are ended by their cgroup and not limited by it.
 */
function enableControllers({ directory, isRoot }: OwnCgroup, tag: string): { home: string; controllers: string[] } {
  const enabled = (): string[] => {
    const names = readFileSync(join(directory, 'cgroup.subtree_control'), 'latin1').trim().split(' ');
    return WANTED_CONTROLLERS.filter((it) => names.includes(it));
  };
  const available = readFileSync(join(directory, 'cgroup.controllers'), 'latin1').trim().split(' ');
  const missing = WANTED_CONTROLLERS.filter((it) => available.includes(it) && !enabled().includes(it));
  if (isRoot || missing.length === 0) return { home: directory, controllers: enabled() };
  const home = join(directory, `${tag}.runner`);
  mkdirSync(home);
  try {
    writeFileSync(join(home, 'cgroup.procs'), '0');
    writeFileSync(join(directory, 'cgroup.subtree_control'), missing.map((it) => `+${it}`).join(' '));
    return { home, controllers: enabled() };
  } catch {
    writeFileSync(join(directory, 'cgroup.procs'), '0');
    rmdirSync(home);
    return { home: directory, controllers: enabled() };
  }
}

interface Leftovers {
  directories: string[];
  processes: number;
}

/** Sends SIGKILL to all processes in the cgroups of a former process. */
function killLeftovers(directory: string, tag: string): Leftovers {
  const left = readdirSync(directory)
    .filter((name) => name.startsWith(`${tag}.`))
    .map((name) => join(directory, name));
  let processes = 0;
  for (const it of left) {
    processes += pidsIn(it).length;
    writeFileSync(join(it, 'cgroup.kill'), '1');
  }
  return { directories: left, processes };
}
