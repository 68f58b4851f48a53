/**
 * An ordered set of items by rank (lowest first), then by first insertion; as a whole and by group. `put` and `remove` cost
 * a binary search and a move of pointers; iteration from the front is free.
 */

/** An item with its place. */
export interface Ranked<T> {
  readonly item: T;
}

interface RankedItem<T> extends Ranked<T> {
  group: string;
  rank: number;
  sequence: number;
}

/** The order of first insertion, kept while an item is absent (capped, or without work), and in every set that shares it. */
export class Sequences<T extends object> {
  readonly #known = new WeakMap<T, number>();
  #last = 0;

  of(item: T): number {
    return this.#known.get(item) ?? this.renew(item);
  }

  /** Puts an item that is in no set after all others. */
  renew(item: T): number {
    this.#known.set(item, (this.#last += 1));
    return this.#last;
  }
}

export class RankedSet<T extends object> {
  readonly #entries = new Map<T, RankedItem<T>>();
  readonly #sequences: Sequences<T>;
  readonly #all: RankedItem<T>[] = [];
  readonly #groups = new Map<string, RankedItem<T>[]>();

  constructor(sequences = new Sequences<T>()) {
    this.#sequences = sequences;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds the item, or moves it to its new rank. */
  put(item: T, group: string, rank: number): void {
    const known = this.#entries.get(item);
    if (known !== undefined) {
      if (known.rank === rank || this.#updateRankInPlace(known, rank)) return;
      this.remove(item);
    }
    const entry = { item, group, rank, sequence: this.#sequences.of(item) };
    this.#entries.set(item, entry);
    insert(this.#all, entry);
    const members = this.#groups.get(group) ?? [];
    if (members.length === 0) this.#groups.set(group, members);
    insert(members, entry);
  }

  /** Sets the entry's new rank in place if the order stays the same, as is usual with few items. */
  #updateRankInPlace(entry: RankedItem<T>, rank: number): boolean {
    const members = this.#groups.get(entry.group) ?? [];
    if (!isInOrderAt(this.#all, entry, rank) || !isInOrderAt(members, entry, rank)) return false;
    entry.rank = rank;
    return true;
  }

  remove(item: T): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    this.#entries.delete(item);
    this.#all.splice(indexOf(this.#all, entry), 1);
    const members = this.#groups.get(entry.group) ?? [];
    members.splice(indexOf(members, entry), 1);
    if (members.length === 0) this.#groups.delete(entry.group);
  }

  /**
   * All items, lowest rank first: a list that follows the set, not to be changed. The set must not change during iteration, except
   * right before the iteration ends.
   */
  all(): readonly Ranked<T>[] {
    return this.#all;
  }

  /** The items of these groups, lowest rank first. */
  *among(groups: readonly string[]): Iterable<Ranked<T>> {
    const heads = [...new Set(groups)].flatMap((it) => {
      const members = this.#groups.get(it);
      return members === undefined ? [] : [{ members, at: 0 }];
    });
    for (;;) {
      let best: RankedItem<T> | undefined;
      let from: { members: RankedItem<T>[]; at: number } | undefined;
      for (const head of heads) {
        const entry = head.members[head.at];
        if (entry === undefined || (best !== undefined && !isBefore(entry, best))) continue;
        best = entry;
        from = head;
      }
      if (best === undefined || from === undefined) return;
      from.at += 1;
      yield best;
    }
  }
}

const isBefore = <T>(a: RankedItem<T>, b: RankedItem<T>): boolean => isBeforePlace(a, b.rank, b.sequence);

const isBeforePlace = <T>(a: RankedItem<T>, rank: number, sequence: number): boolean =>
  a.rank < rank || (a.rank === rank && a.sequence < sequence);

/** Returns the index of the entry, or the index at which it belongs. */
function indexOf<T>(entries: readonly RankedItem<T>[], entry: RankedItem<T>): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(entries[middle] as RankedItem<T>, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns true when another rank keeps the entry at its position. */
function isInOrderAt<T>(entries: readonly RankedItem<T>[], entry: RankedItem<T>, rank: number): boolean {
  const at = indexOf(entries, entry);
  const before = entries[at - 1];
  const after = entries[at + 1];
  if (before !== undefined && !isBeforePlace(before, rank, entry.sequence)) return false;
  return after === undefined || !isBeforePlace(after, rank, entry.sequence);
}

function insert<T>(entries: RankedItem<T>[], entry: RankedItem<T>): void {
  entries.splice(indexOf(entries, entry), 0, entry);
}
