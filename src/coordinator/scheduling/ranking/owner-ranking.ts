/**
 * The order in which batches are served: higher priority first, then the owner with the fewest active runs, then the batch with the fewest
 * active runs. Batches without an owner belong to one. A change costs a few binary searches; only the first batch of an owner that
 * a request cannot take makes it look at the next one.
 */
import { RankedSet, Sequences, type Ranked } from './ranked-set.ts';

/** Where a batch belongs. */
export interface Place {
  owner: string | undefined;
  priority: number;
  /** The name of its simulation. */
  group: string;
}

interface Owner<T> {
  items: number;
  active: number;
  /** By priority. They stay while they are empty. */
  queues: Map<number, Queue<T>>;
}

/** The ranked batches of one owner and priority. */
interface Queue<T> {
  priority: number;
  items: RankedSet<T & object>;
}

interface Entry<T> {
  owner: Owner<T>;
  active: number;
  queue?: Queue<T> | undefined;
}

/** More than the active runs of any owner, so that one step of priority outweighs them. */
const PRIORITY_WEIGHT = 2 ** 31;

export class OwnerRanking<T extends object> {
  readonly #owners = new Map<string | undefined, Owner<T>>();
  readonly #entries = new Map<T, Entry<T>>();
  /** The order of the batches is kept while they move between queues. */
  readonly #sequences = new Sequences<T>();
  readonly #ofQueues = new Sequences<Queue<T>>();
  readonly #queues = new RankedSet<Queue<T>>(this.#ofQueues);

  /** True when no item is ranked. */
  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Ranks an item with so many active runs, or moves it. */
  put(item: T, place: Place, active: number): void {
    const entry = this.#count(item, place, active);
    const { owner } = entry;
    let queue = owner.queues.get(place.priority);
    if (queue === undefined) {
      queue = { priority: place.priority, items: new RankedSet(this.#sequences) };
      owner.queues.set(place.priority, queue);
    }
    if (entry.queue !== queue) this.#unrank(item, entry);
    entry.queue = queue;
    queue.items.put(item, place.group, active);
    this.#rank(owner, queue);
  }

  /** Ranks an item no more, whose active runs still count for its owner. */
  withdraw(item: T, place: Place, active: number): void {
    this.#unrank(item, this.#count(item, place, active));
  }

  /** Removes an item with its active runs. */
  remove(item: T, place: Place): void {
    this.withdraw(item, place, 0);
    this.#entries.delete(item);
    const owner = this.#owners.get(place.owner);
    if (owner !== undefined && (owner.items -= 1) === 0) this.#owners.delete(place.owner);
  }

  /** The owner was served: it is now the last of the owners with equally many active runs. */
  served({ owner: name }: Place): void {
    const owner = this.#owners.get(name);
    if (owner === undefined || this.#owners.size === 1) return;
    for (const queue of owner.queues.values()) {
      this.#queues.remove(queue);
      this.#ofQueues.renew(queue);
      this.#rank(owner, queue);
    }
  }

  /** All items, in the order in which they are served. The ranking must not change during iteration, except right before it ends. */
  all(): Iterable<Ranked<T>> {
    const [first, second] = this.#queues.all();
    return first !== undefined && second === undefined ? first.item.items.all() : this.#inTurn((it) => it.all());
  }

  /** The items of these groups, in the order in which they are served. */
  among(groups: readonly string[]): Iterable<Ranked<T>> {
    return this.#inTurn((it) => it.among(groups));
  }

  *#inTurn(items: (ranked: RankedSet<T>) => Iterable<Ranked<T>>): Iterable<Ranked<T>> {
    for (const { item: queue } of this.#queues.all()) yield* items(queue.items);
  }

  #count(item: T, { owner: name }: Place, active: number): Entry<T> {
    let entry = this.#entries.get(item);
    if (entry === undefined) {
      const owner = this.#owners.get(name) ?? { items: 0, active: 0, queues: new Map<number, Queue<T>>() };
      this.#owners.set(name, owner);
      owner.items += 1;
      entry = { owner, active: 0 };
      this.#entries.set(item, entry);
    }
    if (entry.active !== active) {
      const { owner } = entry;
      owner.active += active - entry.active;
      entry.active = active;
      for (const queue of owner.queues.values()) this.#rank(owner, queue);
    }
    return entry;
  }

  #unrank(item: T, entry: Entry<T>): void {
    const { queue } = entry;
    if (queue === undefined) return;
    entry.queue = undefined;
    queue.items.remove(item);
    this.#rank(entry.owner, queue);
  }

  #rank({ active }: Owner<T>, queue: Queue<T>): void {
    if (queue.items.size === 0) this.#queues.remove(queue);
    else this.#queues.put(queue, '', active - queue.priority * PRIORITY_WEIGHT);
  }
}
