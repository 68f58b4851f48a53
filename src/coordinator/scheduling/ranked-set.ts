/**
 * An ordered set: items by rank (lowest first), and by the order of their first coming within a rank; as a whole and by
 * group. Putting and removing cost a binary search and a move of pointers; walking from the front costs nothing.
 */
interface RankedItem<T> {
  item: T;
  group: string;
  rank: number;
  sequence: number;
}

export class RankedSet<T extends object> {
  readonly #places = new Map<T, RankedItem<T>>();
  /** The order of first coming, kept while an item is away (capped, or without work for the moment). */
  readonly #sequences = new WeakMap<T, number>();
  readonly #all: RankedItem<T>[] = [];
  readonly #groups = new Map<string, RankedItem<T>[]>();
  #lastSequence = 0;

  get size(): number {
    return this.#places.size;
  }

  /** Adds the item, or moves it to its new rank. */
  put(item: T, group: string, rank: number): void {
    const known = this.#places.get(item);
    if (known !== undefined) {
      if (known.rank === rank || this.#staysAt(known, rank)) return;
      this.remove(item);
    }
    const sequence = this.#sequences.get(item) ?? (this.#lastSequence += 1);
    this.#sequences.set(item, sequence);
    const place = { item, group, rank, sequence };
    this.#places.set(item, place);
    insert(this.#all, place);
    const members = this.#groups.get(group) ?? [];
    if (members.length === 0) this.#groups.set(group, members);
    insert(members, place);
  }

  /** Gives the place its new rank if that leaves the order as it is, as it does while there is little to choose from. */
  #staysAt(place: RankedItem<T>, rank: number): boolean {
    const moved = { ...place, rank };
    const members = this.#groups.get(place.group) ?? [];
    if (!fitsThere(this.#all, place, moved) || !fitsThere(members, place, moved)) return false;
    place.rank = rank;
    return true;
  }

  remove(item: T): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    this.#all.splice(indexOf(this.#all, place), 1);
    const members = this.#groups.get(place.group) ?? [];
    members.splice(indexOf(members, place), 1);
    if (members.length === 0) this.#groups.delete(place.group);
  }

  /** All items, lowest rank first. Must not be changed while it is walked, but for a change that ends the walk. */
  *all(): Iterable<T> {
    for (const place of this.#all) yield place.item;
  }

  /** The items of these groups, lowest rank first. */
  *among(groups: readonly string[]): Iterable<T> {
    const heads = [...new Set(groups)].flatMap((it) => {
      const members = this.#groups.get(it);
      return members === undefined ? [] : [{ members, at: 0 }];
    });
    for (;;) {
      let best: RankedItem<T> | undefined;
      let from: { members: RankedItem<T>[]; at: number } | undefined;
      for (const head of heads) {
        const place = head.members[head.at];
        if (place === undefined || (best !== undefined && !isBefore(place, best))) continue;
        best = place;
        from = head;
      }
      if (best === undefined || from === undefined) return;
      from.at += 1;
      yield best.item;
    }
  }
}

function isBefore<T>(a: RankedItem<T>, b: RankedItem<T>): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.sequence < b.sequence);
}

/** Where the place is, or would have to be. */
function indexOf<T>(places: readonly RankedItem<T>[], place: RankedItem<T>): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(places[middle] as RankedItem<T>, place)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Would `moved` be in order where `place` is? */
function fitsThere<T>(places: readonly RankedItem<T>[], place: RankedItem<T>, moved: RankedItem<T>): boolean {
  const at = indexOf(places, place);
  const before = places[at - 1];
  const behind = places[at + 1];
  return (before === undefined || isBefore(before, moved)) && (behind === undefined || isBefore(moved, behind));
}

function insert<T>(places: RankedItem<T>[], place: RankedItem<T>): void {
  places.splice(indexOf(places, place), 0, place);
}
