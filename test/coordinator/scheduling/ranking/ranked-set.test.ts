/** The ranked set of the scheduler, compared with a full sort after each change. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { RankedSet } from '../../../../src/coordinator/scheduling/ranking/ranked-set.ts';

const ITEMS = Array.from({ length: 6 }, (_, at) => ({ name: `item ${at}`, group: `group ${at % 2}` }));

/** Items in the order of rank, then of first insertion. */
class Sorted {
  readonly ranks = new Map<number, number>();
  readonly #firstComing: number[] = [];

  put(at: number, rank: number): void {
    if (!this.#firstComing.includes(at)) this.#firstComing.push(at);
    this.ranks.set(at, rank);
  }

  names(group?: string): string[] {
    const here = [...this.ranks.keys()].filter((at) => group === undefined || ITEMS[at]?.group === group);
    const rank = (at: number): number => this.ranks.get(at) ?? 0;
    here.sort((a, b) => rank(a) - rank(b) || this.#firstComing.indexOf(a) - this.#firstComing.indexOf(b));
    return here.map((at) => ITEMS[at]?.name ?? '');
  }
}

const at = fc.nat({ max: ITEMS.length - 1 });
const change = fc.oneof(
  fc.record({ at, rank: fc.nat({ max: 4 }) }),
  fc.record({ at, rank: fc.constant<undefined>(undefined) }),
);

describe('coordinator/scheduling/ranking/ranked-set', () => {
  it('is in order after every change, as a whole and by group', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const ranking = new RankedSet<(typeof ITEMS)[number]>();
        const sorted = new Sorted();
        for (const { at: which, rank } of changes) {
          const item = ITEMS[which]!;
          if (rank === undefined) {
            ranking.remove(item);
            sorted.ranks.delete(which);
          } else {
            ranking.put(item, item.group, rank);
            sorted.put(which, rank);
          }
          expect([...ranking.all()].map((it) => it.item.name)).to.deep.equal(sorted.names());
          expect([...ranking.among(['group 1'])].map((it) => it.item.name)).to.deep.equal(sorted.names('group 1'));
          expect([...ranking.among(['group 0', 'group 1'])].map((it) => it.item.name)).to.deep.equal(sorted.names());
          expect(ranking.size).to.equal(sorted.ranks.size);
        }
      }),
    );
  });
});
