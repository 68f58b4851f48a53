/** The order in which batches are served, compared with a full sort after each change, and the shares that owners get by it. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { OwnerRanking, type Place } from '../../../../src/coordinator/scheduling/ranking/owner-ranking.ts';

type Item = Place & { name: string };

const OWNERS = ['alice', 'bob', undefined];
const ITEMS: Item[] = Array.from({ length: 9 }, (_, at) => ({
  name: `item ${at}`,
  owner: OWNERS[at % 3],
  priority: 0,
  group: `group ${at % 2}`,
}));

interface Known {
  place: Place;
  active: number;
  isRanked: boolean;
}

/** The same by a full sort: higher priority, fewer active runs of the owner, fewer of the item, first insertion. */
class Sorted {
  readonly known = new Map<number, Known>();
  readonly #coming: number[] = [];
  readonly #owners: string[] = [];

  set(at: number, priority: number, active: number, isRanked: boolean): void {
    const { owner, group } = ITEMS[at]!;
    if (isRanked && !this.#coming.includes(at)) this.#coming.push(at);
    this.known.set(at, { place: { owner, priority, group }, active, isRanked });
    const queue = `${owner}/${priority}`;
    if (isRanked && !this.#owners.includes(queue)) this.#owners.push(queue);
  }

  forget(at: number): void {
    const { owner } = ITEMS[at]!;
    this.known.delete(at);
    if ([...this.known.values()].some((it) => it.place.owner === owner)) return;
    const kept = this.#owners.filter((it) => !it.startsWith(`${owner}/`));
    this.#owners.splice(0, Infinity, ...kept);
  }

  served(owner: string | undefined): void {
    const known = new Set([...this.known.values()].map((it) => it.place.owner));
    if (known.size < 2) return;
    const own = this.#owners.filter((it) => it.startsWith(`${owner}/`));
    this.#owners.splice(0, Infinity, ...this.#owners.filter((it) => !own.includes(it)), ...own);
  }

  names(group?: string): string[] {
    const of = (at: number): Known => this.known.get(at)!;
    const ofOwner = (at: number): number =>
      [...this.known.values()]
        .filter((it) => it.place.owner === of(at).place.owner)
        .reduce((sum, it) => sum + it.active, 0);
    const queue = (at: number): number => this.#owners.indexOf(`${of(at).place.owner}/${of(at).place.priority}`);
    return [...this.known.keys()]
      .filter((at) => of(at).isRanked && (group === undefined || of(at).place.group === group))
      .sort(
        (a, b) =>
          of(b).place.priority - of(a).place.priority ||
          ofOwner(a) - ofOwner(b) ||
          queue(a) - queue(b) ||
          of(a).active - of(b).active ||
          this.#coming.indexOf(a) - this.#coming.indexOf(b),
      )
      .map((at) => ITEMS[at]!.name);
  }
}

const at = fc.nat({ max: ITEMS.length - 1 });
const change = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      at,
      act: fc.constantFrom('put', 'put', 'withdraw'),
      active: fc.nat({ max: 3 }),
      priority: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ at, act: fc.constantFrom('remove', 'served') }) },
) as fc.Arbitrary<{ at: number; act: string; active?: number; priority?: number }>;

describe('coordinator/scheduling/ranking/owner-ranking', () => {
  it('is in order after every change, as a whole and by simulation', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const ranking = new OwnerRanking<Item>();
        const sorted = new Sorted();
        for (const { at: which, act, active = 0, priority = 0 } of changes) {
          const item = ITEMS[which]!;
          if (act === 'put' || act === 'withdraw') {
            if (act === 'put') ranking.put(item, { ...item, priority }, active);
            else ranking.withdraw(item, { ...item, priority }, active);
            sorted.set(which, priority, active, act === 'put');
          } else if (act === 'served') {
            ranking.served(item);
            sorted.served(item.owner);
          } else if (sorted.known.has(which)) {
            ranking.remove(item, item);
            sorted.forget(which);
          }
          const names = (of: Iterable<{ item: Item }>): string[] => [...of].map((it) => it.item.name);
          expect(names(ranking.all())).to.deep.equal(sorted.names());
          expect(names(ranking.among(['group 1']))).to.deep.equal(sorted.names('group 1'));
          expect(names(ranking.among(['group 0', 'group 1']))).to.deep.equal(sorted.names());
          expect(ranking.isEmpty).to.equal(sorted.names().length === 0);
        }
      }),
    );
  });

  /** Serves one run at a time into free slots; each turn the oldest run ends. Returns the runs that each owner got. */
  function served(owners: readonly (string | undefined)[], slots: number, turns: number): Record<string, number> {
    const ranking = new OwnerRanking<Item & { active: number }>();
    const items = owners.map((owner, i) => ({ name: `${i}`, owner, priority: 0, group: 'sim', active: 0 }));
    for (const item of items) ranking.put(item, item, 0);
    const running: (typeof items)[number][] = [];
    const counts: Record<string, number> = {};
    for (let turn = 0; turn < turns; turn += 1) {
      if (running.length === slots) {
        const ended = running.shift()!;
        ranking.put(ended, ended, (ended.active -= 1));
      }
      const [{ item } = {}] = ranking.all();
      if (item === undefined) break;
      ranking.put(item, item, (item.active += 1));
      ranking.served(item);
      running.push(item);
      counts[item.owner ?? ''] = (counts[item.owner ?? ''] ?? 0) + 1;
    }
    return counts;
  }

  const SHARES: [what: string, owners: (string | undefined)[], slots: number, share: Record<string, number>][] = [
    ['three studies of one owner share with one of another', ['a', 'a', 'a', 'b'], 4, { a: 60, b: 60 }],
    ['studies without an owner are those of one', [undefined, undefined, 'b'], 4, { '': 60, b: 60 }],
    ['one slot goes round', ['a', 'b', 'b', 'c'], 1, { a: 40, b: 40, c: 40 }],
    ['with fewer slots than owners all are served', ['a', 'b', 'c', 'd'], 3, { a: 30, b: 30, c: 30, d: 30 }],
    ['one owner has everything', ['a', 'a'], 4, { a: 120 }],
  ];
  for (const [what, owners, slots, share] of SHARES) {
    it(`gives each owner the same: ${what}`, () => {
      expect(served(owners, slots, 120)).to.deep.equal(share);
    });
  }
});
