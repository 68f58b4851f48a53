/** The machines of all queues: how each is reached, which queues use it, and how many of their allocations it has. */
import type { EngineAllocation, EngineContext } from '../../engine.ts';
import type { QueueConfig } from '../../settings.ts';
import { DEFAULT_DIRECTORY, hostsOf, type SshHost, type SshSection } from './section.ts';
import type { HostFolders } from './scripts.ts';
import type { SshTarget } from './ssh-program.ts';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export class Machine {
  readonly host: SshHost;
  readonly target: SshTarget;
  readonly folders: HostFolders;
  /** Queue -> allocations of it that the machine has room for. */
  readonly rooms = new Map<string, number>();
  /** Why the last request to list the processes of this machine failed, and when it is asked again (monotonic); undefined: it answered. */
  silence: { why: string; isRefusal: boolean; untilMs: number; failures: number } | undefined;
  /** Queue -> ids that lived at the last list, or were submitted since. */
  #living = new Map<string, Set<string>>();
  #pending: Promise<unknown> = Promise.resolve();

  constructor(host: SshHost, target: SshTarget, folders: HostFolders) {
    this.host = host;
    this.target = target;
    this.folders = folders;
  }

  note(found: readonly EngineAllocation[]): void {
    this.silence = undefined;
    this.#living = new Map();
    for (const it of found) if (it.state !== 'ended') this.add(it);
  }

  /** It gave no answer: it is asked again after a time that doubles, up to a minute. */
  noteSilence(why: string, isRefusal: boolean, nowMs: number): void {
    const failures = (this.silence?.failures ?? 0) + 1;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
    this.silence = { why, isRefusal, untilMs: nowMs + pauseMs, failures };
  }

  get isSilent(): boolean {
    return this.silence !== undefined;
  }

  add({ queue, id }: Pick<EngineAllocation, 'queue' | 'id'>): void {
    const ids = this.#living.get(queue) ?? new Set();
    this.#living.set(queue, ids.add(id));
  }

  /** Allocations of the queue that it has room for now. */
  freeFor(queue: string): number {
    return (this.rooms.get(queue) ?? 0) - (this.#living.get(queue)?.size ?? 0);
  }

  /** Calls `act` after earlier calls have ended. */
  exclusively<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#pending.then(act, act);
    this.#pending = result.catch(() => {});
    return result;
  }
}

export class Machines {
  readonly all: readonly Machine[];

  constructor({ launcher, queues }: Pick<EngineContext<SshSection>, 'launcher' | 'queues'>) {
    const machines = new Map<string, Machine>();
    for (const queue of queues) {
      const { section } = queue;
      const directory = section.directory ?? DEFAULT_DIRECTORY;
      for (const host of hostsOf(queue)) {
        // Queues that reach one folder in one way share its query.
        const way = { place: host.place, directory, ...settingsOf(section) };
        const key = JSON.stringify(way);
        const machine = machines.get(key) ?? new Machine(host, { ...host, section }, { launcher, directory });
        machine.rooms.set(queue.name, host.room);
        machines.set(key, machine);
      }
    }
    this.all = [...machines.values()];
  }

  /** The machines of a queue: those that answer first, and of these the emptier first. */
  byRoom({ name }: Pick<QueueConfig<SshSection>, 'name'>): Machine[] {
    const own = this.all.filter((it) => it.rooms.has(name));
    return own.toSorted((a, b) => Number(a.isSilent) - Number(b.isSilent) || b.freeFor(name) - a.freeFor(name));
  }
}

const settingsOf = ({ identity_file, known_hosts, config }: SshSection) => ({ identity_file, known_hosts, config });
