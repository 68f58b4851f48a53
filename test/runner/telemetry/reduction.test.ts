import { expect } from 'chai';
import * as fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../../src/runner/telemetry/limits.ts';
import { Reduction } from '../../../src/runner/telemetry/reduction.ts';
import { Sample } from '../../../src/runner/telemetry/sample.ts';
import { VariableTable } from '../../../src/runner/telemetry/variables.ts';

type Given = [timeNs: number | bigint, ...names: string[]];
type Stored = [timeNs: number | bigint, ...indices: number[]];

/**
 * The stored rows of samples, in order: a time, and for each of its values the index of its sample. A sample
 * is a time in nanoseconds and the names it carries.
 */
function stored(rateHz: number, samples: Given[]): Stored[] {
  const table = new VariableTable([], ['watched'], () => () => undefined, DEFAULT_LIMITS);
  const rows: Stored[] = [];
  const reduction = new Reduction(rateHz, 10, (sample) => {
    const row: Stored = [sample.timestampNs, ...sample.values.slice(0, sample.count)];
    if (row.length > 1) rows.push(row);
  });
  for (const [index, [time, ...names]] of samples.entries()) {
    const sample = new Sample(10);
    sample.low = Number(BigInt.asUintN(32, BigInt(time)));
    sample.high = Number(BigInt(time) >> 32n);
    for (const name of names) {
      const bytes = Buffer.from(name);
      const variable = table.find(bytes, 0, bytes.length);
      if (typeof variable === 'string') throw new Error(variable);
      sample.variables[sample.count] = name === 'watched' ? { ...variable, column: -1 } : variable;
      sample.values[sample.count] = index;
      sample.count += 1;
    }
    reduction.take(sample);
  }
  reduction.finish();
  return rows;
}

/** The indices of the samples kept, when all carry the same variable. */
const kept = (rateHz: number, times: (number | bigint)[]): number[] =>
  stored(
    rateHz,
    times.map((time) => [time, 'x']),
  ).map(([, index]) => Number(index));

const S = 1e9;

describe('runner/telemetry/reduction', () => {
  const single: [what: string, rateHz: number, times: (number | bigint)[], indices: number[]][] = [
    ['0 keeps all', 0, [0, 0, 1, 2], [0, 1, 2, 3]],
    ['a negative or absurd rate keeps all', -1, [0, 1, 2], [0, 1, 2]],
    ['NaN keeps all', NaN, [0, 1, 2], [0, 1, 2]],
    ['10 Hz to 2 Hz', 2, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1].map((s) => s * S), [0, 5, 10]],
    ['the rate itself keeps all', 10, [0, 0.1, 0.2, 0.3].map((s) => s * S), [0, 1, 2, 3]],
    ['ticks count from the first sample', 1, [0.7, 1.3, 1.6, 2.6, 2.8].map((s) => s * S), [0, 2, 3]],
    ['the nearest to a tick, before or after it', 1, [0, 0.9, 1.2, 1.8, 1.9, 2.3].map((s) => s * S), [0, 1, 4]],
    ['of two at the same distance the first', 1, [0, 0.75, 1.25].map((s) => s * S), [0, 1]],
    ['nothing is made up for a gap', 1, [0, 10, 10.1, 10.9, 11].map((s) => s * S), [0, 1, 4]],
    ['a third of a second, cut to nanoseconds', 3, [0, 333_333_333, 666_666_666, 1_000_000_000], [0, 1, 2, 3]],
    ['times since 1970', 1, [1_700_000_000n, 1_700_000_000n, 1_700_000_001n].map((s) => s * 1_000_000_000n), [0, 2]],
    ['a countdown', 1, [-2, -1.6, -1, -0.6, 0].map((s) => s * S), [0, 2, 4]],
    ['a clock that starts anew is stored as well', 1, [5, 5.1, 0, 0.1, 1].map((s) => s * S), [0, 2, 4]],
    ['a rate below 1', 0.1, [0, 4, 9.5, 10, 20].map((s) => s * S), [0, 3, 4]],
  ];
  for (const [what, rateHz, times, indices] of single) {
    it(what, () => {
      expect(kept(rateHz, times)).to.deep.equal(indices);
    });
  }

  it('1 kHz to 10 Hz keeps 0, 100, 200 ms', () => {
    const times = Array.from({ length: 301 }, (_, ms) => Math.round(ms * 0.001 * S));
    expect(kept(10, times)).to.deep.equal([0, 100, 200, 300]);
  });

  it('variables sent in samples of their own do not push each other out', () => {
    const samples: Given[] = [
      [0, 'a'],
      [0, 'b'],
      [1, 'a'],
      [1, 'b'],
      [S, 'a'],
      [S, 'b'],
      [S, 'a', 'c'],
    ];
    expect(stored(1, samples)).to.deep.equal([
      [0n, 0],
      [0n, 1],
      [BigInt(S), 4, 5, 6],
    ]);
  });

  it('values of one sample are stored as one row', () => {
    const samples: Given[] = [0, 0.9, 1.05, 2].map((s) => [s * S, 'a', 'b']);
    expect(stored(1, samples)).to.deep.equal([
      [0n, 0, 0],
      [1_050_000_000n, 2, 2],
      [2_000_000_000n, 3, 3],
    ]);
  });

  it('a variable sent once is stored in its place, not at the end', () => {
    const samples: Given[] = [[0, 'once'], ...Array.from({ length: 5 }, (_, i): Given => [i * S, 'x'])];
    expect(stored(1, samples).map(([time]) => time)).to.deep.equal(
      [0n, 0n, 1n, 2n, 3n, 4n].map((s) => s * 1_000_000_000n),
    );
  });

  it('a sample with nothing to store is not kept', () => {
    expect(stored(1, [[0], [1, 'watched'], [2 * S, 'watched']])).to.deep.equal([]);
  });

  it('stores of each tick that has a sample within half a period the nearest one, and no other', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 200_000_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), steps, (rateHz, gaps) => {
        let time = 0;
        const times = gaps.map((gap) => (time += gap));
        const nearest = new Map<number, { index: number; distance: number }>();
        for (const [index, at] of times.entries()) {
          const position = ((at - (times[0] ?? 0)) / S) * rateHz;
          const tick = Math.round(position);
          const distance = Math.abs(position - tick);
          if (distance < (nearest.get(tick)?.distance ?? Infinity)) nearest.set(tick, { index, distance });
        }
        expect(kept(rateHz, times)).to.deep.equal([...nearest.values()].map(({ index }) => index));
      }),
    );
  });
});
