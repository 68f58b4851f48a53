/**
 * The processes of one run: how they are found and how they are ended. Four means: its container, the
 * run's cgroup, its process group, and the marker `SVC_OUTPUT_DIR=<directory>` in the environment of its processes.
 */
import { sleep, type Clock } from '../../base/clock.ts';
import type { Log } from '../log.ts';
import type { SpooledAttempt } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import type { CgroupLimits, Cgroups, RunCgroup } from './cgroups.ts';
import { hasMembers, sendKill, type ProcessInfo, type ProcessTable } from './proc-fs.ts';

const FIRST_LOOK_MS = 2;
const LONGEST_LOOK_MS = 250;
/** How long processes may take to die of SIGKILL before the slot is given up. */
export const KILL_DEADLINE_MS = 10_000;

/** How this machine finds and ends processes. */
export interface ProcessTools {
  table: ProcessTable;
  /** Undefined: this machine or this user has none. */
  cgroups: Cgroups | undefined;
}

/** A container of the run, whose processes are not descendants of the run's first process. */
export interface AttachedContainer {
  /** Name of the scope for people: `container simbatch-...`. */
  what: string;
  /** Ends and removes it. Never rejects. */
  kill: () => Promise<void>;
  isRunning: () => Promise<boolean>;
  /** Limits that its runtime does not enforce. */
  ignored: readonly (keyof CgroupLimits)[];
}

export class ProcessScope {
  readonly #tools: ProcessTools;
  readonly #log: Log;
  readonly #directory: string;
  readonly #limits: CgroupLimits;
  #cgroup: RunCgroup | undefined;
  #leader: number | undefined;
  /** Start time of the leader as `processStart` returns it: another process with the same pid has another one. */
  #leaderStart: string | undefined;
  #container: AttachedContainer | undefined;
  /** The process that the run shares with others, whose scope it is, and how that is ended for this run. */
  #worker: { scope: ProcessScope; kill: () => void } | undefined;
  #hasExceededMemory = false;
  /** Why the limits of the container do not take effect, if so. */
  limitFault: string | undefined;

  /** @param directory the run's output directory, the value of its marker. */
  constructor(tools: ProcessTools, log: Log, directory: string, limits: CgroupLimits) {
    this.#tools = tools;
    this.#log = log;
    this.#directory = directory;
    this.#limits = limits;
  }

  /**
   * Calls `start`, which creates the run's first process, so that it is born in the run's cgroup. Nothing else runs in this
   * process meanwhile.
   */
  launch<T extends { pid?: number | undefined }>(start: () => T): T {
    const { cgroups } = this.#tools;
    const cgroup = cgroups === undefined ? undefined : this.#enter(cgroups);
    let child: T;
    try {
      child = start();
    } finally {
      if (cgroup !== undefined) this.#leave(cgroup);
    }
    if (child.pid !== undefined) this.#lead(child.pid);
    this.#limit();
    return child;
  }

  /**
   * The directories of a cgroup for a process that is born in it, and of the runner's own, to which its creator returns; null when
   * there is none. `adopt` comes next.
   */
  prepare(): { directory: string; home: string } | null {
    try {
      this.#cgroup = this.#tools.cgroups?.acquire();
    } catch (error) {
      this.#log.warn(`a run has no cgroup: ${oneLine(error)}`);
    }
    const { cgroups } = this.#tools;
    return this.#cgroup === undefined || cgroups === undefined
      ? null
      : { directory: this.#cgroup.directory, home: cgroups.home };
  }

  /** The run's first process, created by another. @param ticks when it started, if it may have ended already. */
  adopt(leader: number, ticks?: string): void {
    this.#lead(leader, ticks);
    this.#limit();
  }

  /** The run's first process could not enter its cgroup. */
  disown(why: string): void {
    this.#log.warn(`a run has no cgroup: ${why}`);
    this.release();
  }

  /** The scope of a process that executes many runs with the same limits, marked by `directory`. */
  ofWorker(directory: string): ProcessScope {
    return new ProcessScope(this.#tools, this.#log, directory, this.#limits);
  }

  /** The run is executed by a process that executes others too: its end is that of the process. */
  join(scope: ProcessScope, kill: () => void): void {
    this.#worker = { scope, kill };
    this.#leader = scope.#leader;
    this.#leaderStart = scope.#leaderStart;
    this.limitFault = scope.limitFault;
  }

  /** The run has ended, and its process executes others. */
  part(): void {
    this.#worker = undefined;
    this.#leader = undefined;
  }

  /** The container that the run's first process starts: ended and looked for with it, until `detach`. */
  attach(container: AttachedContainer): void {
    this.#container = container;
    if (container.ignored.length > 0) {
      const names = container.ignored.map((it) => (it === 'memoryBytes' ? 'memory' : 'CPU')).join(' and ');
      this.limitFault = `the container runtime cannot limit ${names} on this machine`;
    }
  }

  /** The container has ended and is removed. */
  detach(): void {
    this.#container = undefined;
  }

  /** When the first process of the run started, as `processStart` returns it. */
  get leaderStart(): string | undefined {
    return this.#leaderStart;
  }

  /** True where a pid that another process has meanwhile is recognised, so that nothing is sent to that one. */
  get knowsPids(): boolean {
    return this.#tools.table.isAvailable;
  }

  /** SIGKILL to the process group and the cgroup, at once. `clear` finds the rest. */
  kill(): void {
    if (this.#worker !== undefined) {
      this.#worker.kill();
      return;
    }
    void this.#container?.kill();
    if (this.#leader !== undefined) {
      const whose = this.#whoseIs(this.#leader);
      // The leader before its group: a process that was just forked has not made it yet, and has no others without it.
      if (whose === 'its own') sendKill(this.#leader);
      if (whose !== 'another') sendKill(-this.#leader);
    }
    try {
      this.#cgroup?.kill();
    } catch (error) {
      this.#log.error(`a cgroup could not be ended: ${oneLine(error)}`);
    }
  }

  /**
   * Ends every process of the run that can be found.
   * @param thorough looks for the marker even with a cgroup, and before anything is known to be left.
   * @returns the processes that are not dead after `deadlineMs`.
   */
  async clear(clock: Clock, thorough: boolean, deadlineMs = KILL_DEADLINE_MS): Promise<readonly ProcessInfo[]> {
    if (this.#worker !== undefined) {
      const left = await this.#worker.scope.clear(clock, thorough, deadlineMs);
      if (left.length > 0) return left;
    }
    // A run that has parted from its process has left nothing.
    if (this.#leader === undefined && this.#cgroup === undefined && this.#container === undefined && !thorough)
      return [];
    const endMs = clock.monotonicMs() + deadlineMs;
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 2, LONGEST_LOOK_MS)) {
      const left = await this.#living(thorough);
      if (this.#container !== undefined && (await this.#container.isRunning())) {
        left.push({ pid: 0, command: this.#container.what, state: '' });
      }
      if (left.length === 0 || clock.monotonicMs() >= endMs) return left;
      // The kill is repeated at each look, which finds processes that were being created at the last one.
      this.kill();
      for (const { pid } of left) if (pid !== 0) sendKill(pid);
      await sleep(clock, lookMs);
    }
  }

  /** True when the kernel ended a process of the run for exceeding `container.memory_limit`. */
  get exceededMemory(): boolean {
    return this.#worker?.scope.exceededMemory ?? this.#cgroup?.exceededMemory ?? this.#hasExceededMemory;
  }

  /** Gives the cgroup back. Call when no process is left. */
  release(): void {
    const cgroup = this.#cgroup;
    this.#cgroup = undefined;
    if (cgroup === undefined) return;
    try {
      this.#hasExceededMemory = cgroup.exceededMemory;
      this.#tools.cgroups?.release(cgroup);
    } catch (error) {
      this.#log.warn(`a cgroup could not be used again: ${oneLine(error)}`);
    }
  }

  async #living(thorough: boolean): Promise<ProcessInfo[]> {
    const { table } = this.#tools;
    const found = new Map<number, ProcessInfo>();
    const add = (it: ProcessInfo | undefined): void => {
      if (it !== undefined) found.set(it.pid, it);
    };
    // In most cases the group has ended, which costs less to see than whose it is.
    if (this.#leader !== undefined && hasMembers(this.#leader) && this.#whoseIs(this.#leader) !== 'another') {
      for (const it of table.livingMembers(this.#leader)) add(it);
    }
    if (this.#cgroup !== undefined && !this.#cgroup.isEmpty) {
      for (const pid of this.#cgroup.members()) add(table.living(pid));
    }
    if (thorough || this.#cgroup === undefined) for (const it of await table.carriersOf(this.#directory)) add(it);
    return [...found.values()];
  }

  #lead(pid: number, ticks?: string): void {
    const { table } = this.#tools;
    this.#leader = pid;
    this.#leaderStart = ticks === undefined ? table.processStart(pid) : table.startAt(ticks);
  }

  /** Whose the pid of the leader is now. `another`: the leader is dead, and so is the group with its number another's. */
  #whoseIs(leader: number): 'its own' | 'another' | 'unknown' {
    const start = this.#tools.table.processStart(leader);
    if (start === undefined || this.#leaderStart === undefined) return 'unknown';
    return start === this.#leaderStart ? 'its own' : 'another';
  }

  #limit(): void {
    // The cgroup of a container is another.
    if (this.#container !== undefined) return;
    if (this.#cgroup === undefined && Object.keys(this.#limits).length > 0) {
      this.limitFault = 'runs have no cgroup on this machine';
    }
    try {
      this.#cgroup?.limit(this.#limits);
    } catch (error) {
      this.limitFault = oneLine(error);
    }
  }

  #enter(cgroups: Cgroups): RunCgroup | undefined {
    try {
      const cgroup = cgroups.acquire();
      cgroup.enter();
      this.#cgroup = cgroup;
      return cgroup;
    } catch (error) {
      this.#log.warn(`a run has no cgroup: ${oneLine(error)}`);
      return undefined;
    }
  }

  #leave(cgroup: RunCgroup): void {
    try {
      this.#tools.cgroups?.leave();
    } catch (error) {
      // With this process inside, the cgroup must neither be limited nor ended.
      this.#cgroup = undefined;
      this.#log.error(`the runner could not leave ${cgroup.directory}: ${oneLine(error)}`);
    }
  }
}

/**
 * Ends what a former runner process left of an attempt, and returns how many processes that were. A recycled pid is
 * recognised by its start time and left alone.
 */
export async function killOrphans(
  clock: Clock,
  table: ProcessTable,
  attempt: SpooledAttempt,
): Promise<{ killed: number; survivors: readonly ProcessInfo[] }> {
  const { pid, pidStart, directory } = attempt;
  const isOurs = pid !== undefined && pidStart !== undefined && table.processStart(pid) === pidStart;
  const living = async (): Promise<Map<number, ProcessInfo>> => {
    const all = [...(await table.carriersOf(directory)), ...(isOurs ? table.livingMembers(pid) : [])];
    return new Map(all.map((it) => [it.pid, it]));
  };
  const seen = new Set<number>();
  const endMs = clock.monotonicMs() + KILL_DEADLINE_MS;
  for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 2, LONGEST_LOOK_MS)) {
    const left = await living();
    if (left.size === 0 || clock.monotonicMs() >= endMs) {
      return { killed: seen.size - left.size, survivors: [...left.values()] };
    }
    if (isOurs) sendKill(-pid);
    for (const one of left.keys()) {
      seen.add(one);
      sendKill(one);
    }
    await sleep(clock, lookMs);
  }
}

/** `4711 (python3, waits in the kernel)`. */
export function describeProcess({ pid, command, state }: ProcessInfo): string {
  const details = [command, ...(state === 'D' ? ['waits in the kernel'] : [])].filter((it) => it !== '');
  if (pid === 0) return command;
  return details.length === 0 ? String(pid) : `${String(pid)} (${details.join(', ')})`;
}
