/** Sorting by buckets: equal to the engine's order to the bit, whatever the numbers are. */
import { expect } from 'chai';
import fc from 'fast-check';
import { NumberSorter } from '../../../src/analysis/numeric/sorting.ts';

const bitsOf = (values: Float64Array): string =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('hex');

/** Many numbers of one of several shapes, of which some are replaced by any number. */
const numbers = fc
  .record({
    seed: fc.integer({ min: 1, max: 1e6 }),
    count: fc.integer({ min: 0, max: 3_000 }),
    shape: fc.constantFrom(
      (u: number) => u,
      (u: number) => u ** 30,
      (u: number) => Math.round(u * 5) - 2,
      (u: number) => 1e9 + u * 1e-7,
    ),
    others: fc.array(fc.double({ noNaN: true }), { maxLength: 4 }),
  })
  .map(({ seed, count, shape, others }) => {
    let state = seed;
    const values = Float64Array.from({ length: count }, () =>
      shape((state = (state * 48_271) % 2_147_483_647) / 2_147_483_647),
    );
    for (const [at, value] of others.entries()) if (count > 0) values[(at * 997) % count] = value;
    return values;
  });

describe('analysis/numeric/sorting', () => {
  it('has the order of the engine to the bit, also of equal, skewed and infinite numbers and of both zeros', () => {
    const sorter = new NumberSorter(3_000);
    fc.assert(
      fc.property(numbers, (values) => {
        const expected = bitsOf(values.slice().sort());
        expect(bitsOf(sorter.sort(values))).to.equal(expected);
      }),
    );
  });

  it('has the least and the greatest doubles, differences of one step, and -0 before 0', () => {
    const sorter = new NumberSorter(100);
    for (const pair of [
      [5e-324, 0],
      [-Number.MAX_VALUE, Number.MAX_VALUE],
      [1, 1 + Number.EPSILON],
      [0, -0],
      [-Infinity, 3],
      [7, 7],
    ]) {
      const values = Float64Array.from({ length: 100 }, (_, at) => pair[(at * 7) % 3 === 0 ? 0 : 1]!);
      const expected = bitsOf(values.slice().sort());
      expect(bitsOf(sorter.sort(values)), String(pair)).to.equal(expected);
    }
  });

  it('leaves what is after the array in its memory', () => {
    const all = Float64Array.from({ length: 300 }, (_, at) => Math.cos(at));
    const rest = all.slice(200);
    new NumberSorter(200).sort(all.subarray(0, 200));
    expect([...all.subarray(200)]).to.deep.equal([...rest]);
    expect([...all.subarray(0, 200)]).to.deep.equal([...all.slice(0, 200).sort()]);
  });
});
