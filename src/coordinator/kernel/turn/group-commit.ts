/**
 * Group commit: collects the changes of turns in an open group and writes one group at a time as one atomic, synced batch.
 * Turns that arrive during a write share the next group. A turn is answered when the group with its changes is on disk.
 */
import type { Fact } from '../../../../machines/protocol.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { persistedState, type Activation } from '../actors/directory.ts';
import type { Store } from '../storage/store.ts';
import type { ActorTransition } from './actor-transition.ts';
import type { Clock } from '../../../base/clock.ts';

interface Group {
  /** The activations of the group, each once: an activation knows its group. */
  actors: Activation[];
  puts: Map<string, string | null>;
  facts: Fact[];
  steps: ActorTransition[];
  written: Promise<void>;
  settle: { resolve(): void; reject(error: Error): void };
}

/** A group that is on disk. */
export interface CommittedGroup {
  facts: readonly Fact[];
  steps: readonly ActorTransition[];
  /** The number of records written. */
  records: number;
}

export interface CommitListener {
  /** Called when a group is on disk, with those of its actors that have not changed again. */
  committed(group: CommittedGroup, actors: readonly Activation[]): void;
  /** Called when turns begin to wait for the disk, and when all of them have been answered. */
  waiting(areWaiting: boolean): void;
  /** Called when a write failed: memory is ahead of the disk, and the coordinator must stop. */
  failed(error: SimbatchError): void;
}

function newGroup(): Group {
  const settle = { resolve: () => {}, reject: (_: Error) => {} };
  const written = new Promise<void>((resolve, reject) => Object.assign(settle, { resolve, reject }));
  // A group without a waiting turn may fail; `failed` reports it.
  written.catch(() => {});
  return { actors: [], puts: new Map(), facts: [], steps: [], written, settle };
}

const isEmpty = (group: Group): boolean =>
  group.actors.length === 0 && group.puts.size === 0 && group.facts.length === 0;

export class GroupCommit {
  readonly #store: Store;
  readonly #world: Clock;
  readonly #listener: CommitListener;
  #open = newGroup();
  #writing: Group | undefined;
  #failure: SimbatchError | undefined;
  #isScheduled = false;

  constructor(store: Store, world: Clock, listener: CommitListener) {
    this.#store = store;
    this.#world = world;
    this.#listener = listener;
  }

  /** The failure after which nothing can be written; undefined before one. */
  get failure(): SimbatchError | undefined {
    return this.#failure;
  }

  /** The value of the key, including changes that are not yet written. */
  read(key: string): string | undefined {
    const pending = this.#open.puts.get(key) ?? undefined;
    if (pending !== undefined || this.#open.puts.has(key)) return pending;
    if (this.#writing?.puts.has(key) === true) return this.#writing.puts.get(key) ?? undefined;
    return this.#store.get(key);
  }

  /** Adds a turn's changes to the open group. Resolves when they are on disk. */
  add(
    actors: Iterable<Activation>,
    puts: Map<string, string | null>,
    facts: readonly Fact[],
    steps: readonly ActorTransition[] = [],
  ): Promise<void> {
    const group = this.#open;
    for (const actor of actors) {
      if (actor.unwritten === group) continue;
      actor.unwritten = group;
      group.actors.push(actor);
    }
    // A turn writes nothing after it has ended: a group whose first puts these are takes them over.
    if (group.puts.size === 0) group.puts = puts;
    else for (const [key, value] of puts) group.puts.set(key, value);
    for (const fact of facts) group.facts.push(fact);
    for (const step of steps) group.steps.push(step);
    if (isEmpty(group)) return this.durable();
    this.#listener.waiting(true);
    this.#schedule();
    return group.written;
  }

  /** Does the actor have a change that is not on disk yet? */
  holds(actor: Activation): boolean {
    return actor.unwritten !== undefined;
  }

  /** Resolves when all changes so far are on disk. */
  durable(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (!isEmpty(this.#open)) return this.#open.written;
    return this.#writing?.written ?? Promise.resolve();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#writing !== undefined) return;
    this.#isScheduled = true;
    this.#world.soon(() => {
      this.#isScheduled = false;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    if (this.#writing !== undefined || isEmpty(this.#open) || this.#failure !== undefined) return;
    const group = this.#open;
    this.#writing = group;
    this.#open = newGroup();
    const changes: [string, string | null][] = [...group.puts];
    try {
      for (const actor of group.actors) {
        const { stored } = actor.table;
        changes.push([stored.key(actor.id), stored.encode(persistedState(actor))]);
      }
      await this.#store.write(changes);
    } catch (cause) {
      this.#fail(cause, group);
      return;
    }
    this.#writing = undefined;
    // Actors that changed again during the write are in the open group and are deactivated after it.
    const settled = group.actors.filter((actor) => actor.unwritten === group);
    for (const actor of settled) actor.unwritten = undefined;
    const { facts, steps } = group;
    try {
      this.#listener.committed({ facts, steps, records: changes.length }, settled);
    } finally {
      group.settle.resolve();
    }
    if (isEmpty(this.#open)) this.#listener.waiting(false);
    else this.#schedule();
  }

  #fail(cause: unknown, group: Group): void {
    const failure = this.giveUp('cannot write its data directory', cause);
    group.settle.reject(failure);
  }

  /** Gives up: memory and disk differ, so nothing more is written and the process must end. */
  giveUp(problem: string, cause: unknown): SimbatchError {
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#failure ??= new SimbatchError('unavailable', `the coordinator ${problem} and stops: ${why}`, { cause });
    this.#listener.failed(this.#failure);
    this.#open.settle.reject(this.#failure);
    return this.#failure;
  }
}
