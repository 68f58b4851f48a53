/** The map that forgets what was used longest ago, against a list in the order of use. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { RecentMap } from '../../src/base/recent-map.ts';

describe('base/recent-map', () => {
  const KEYS = ['a', 'b', 'c', 'd', 'e'];

  it('keeps the entries that were used last, whatever is read, set and deleted', () => {
    const key = fc.constantFrom(...KEYS);
    const step = fc.tuple(fc.constantFrom('get', 'peek', 'set', 'delete'), key, fc.integer());
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { minLength: 40, maxLength: 60 }),
        (capacity, steps) => {
          const map = new RecentMap<string, number>(capacity);
          // The last used is at the end.
          let model: [string, number][] = [];
          for (const [what, name, value] of steps) {
            const found = model.find(([it]) => it === name);
            const others = model.filter((it) => it !== found);
            if (what === 'set') model = [...others, [name, value] as [string, number]].slice(-capacity);
            if (what === 'delete') model = others;
            if (what === 'get' && found !== undefined) model = [...others, found];
            if (what === 'set') map.set(name, value);
            if (what === 'delete') map.delete(name);
            if (what === 'get') expect(map.get(name)).to.equal(found?.[1]);
            if (what === 'peek') expect(map.peek(name)).to.equal(found?.[1]);
          }
          expect(KEYS.map((it) => map.peek(it))).to.deep.equal(KEYS.map((it) => new Map(model).get(it)));
        },
      ),
    );
  });
});
