import { expect } from 'chai';
import * as fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../../src/runner/telemetry/limits.ts';
import { Reduction } from '../../../src/runner/telemetry/reduction.ts';
import { Sample } from '../../../src/runner/telemetry/sample.ts';
import { VariableTable } from '../../../src/runner/telemetry/variables.ts';

/** The indices of the samples kept; a sample is a time in nanoseconds and the names it carries. */
function kept(rateHz: number, samples: [timeNs: number | bigint, ...names: string[]][]): number[] {
  const table = new VariableTable([], ['watched'], () => () => undefined, DEFAULT_LIMITS);
  const reduction = new Reduction(rateHz);
  return samples.flatMap(([time, ...names], index) => {
    const sample = new Sample(10);
    sample.low = Number(BigInt.asUintN(32, BigInt(time)));
    sample.high = Number(BigInt(time) >> 32n);
    for (const name of names) {
      const bytes = Buffer.from(name);
      const variable =
        name === 'watched'
          ? { name, bytes, column: -1, probe: undefined, slot: 0 }
          : table.find(bytes, 0, bytes.length);
      if (typeof variable === 'string') throw new Error(variable);
      sample.variables[sample.count] = variable;
      sample.count += 1;
    }
    return reduction.keeps(sample) ? [index] : [];
  });
}

const S = 1e9;

describe('runner/telemetry/reduction', () => {
  const single: [what: string, rateHz: number, times: (number | bigint)[], indices: number[]][] = [
    ['0 keeps all', 0, [0, 0, 1, 2], [0, 1, 2, 3]],
    ['a negative or absurd rate keeps all', -1, [0, 1, 2], [0, 1, 2]],
    ['NaN keeps all', NaN, [0, 1, 2], [0, 1, 2]],
    ['10 Hz to 2 Hz', 2, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1].map((s) => s * S), [0, 5, 10]],
    ['the rate itself keeps all', 10, [0, 0.1, 0.2, 0.3].map((s) => s * S), [0, 1, 2, 3]],
    ['slots count from the first sample', 1, [0.7, 1.2, 1.7, 2.6, 2.7].map((s) => s * S), [0, 2, 4]],
    ['no catching up after a gap', 1, [0, 10, 10.1, 10.9, 11].map((s) => s * S), [0, 1, 4]],
    ['a third of a second, cut to nanoseconds', 3, [0, 333_333_333, 666_666_666, 1_000_000_000], [0, 1, 2, 3]],
    ['times since 1970', 1, [1_700_000_000n, 1_700_000_000n, 1_700_000_001n].map((s) => s * 1_000_000_000n), [0, 2]],
    ['a countdown', 1, [-2, -1.5, -1, -0.5, 0].map((s) => s * S), [0, 2, 4]],
    ['a clock that starts anew is stored on', 1, [5, 5.1, 0, 0.1, 1].map((s) => s * S), [0, 2, 4]],
    ['a rate below 1', 0.1, [0, 5, 9.5, 10, 20].map((s) => s * S), [0, 3, 4]],
  ];
  for (const [what, rateHz, times, indices] of single) {
    it(what, () => {
      expect(
        kept(
          rateHz,
          times.map((time) => [time, 'x']),
        ),
      ).to.deep.equal(indices);
    });
  }

  it('variables sent in samples of their own do not push each other out', () => {
    const samples: [number, ...string[]][] = [
      [0, 'a'],
      [0, 'b'],
      [1, 'a'],
      [1, 'b'],
      [S, 'a'],
      [S, 'b'],
      [S, 'a', 'c'],
    ];
    expect(kept(1, samples)).to.deep.equal([0, 1, 4, 5, 6]);
  });

  it('a sample with nothing to store is not kept', () => {
    expect(kept(1, [[0], [1, 'watched'], [2 * S, 'watched']])).to.deep.equal([]);
  });

  it('never keeps more than the rate allows, and never leaves a slot empty that had a sample', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 200_000_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), steps, (rateHz, gaps) => {
        let time = 0;
        const times = gaps.map((gap) => (time += gap));
        const slot = (at: number): number => Math.floor(((at - (times[0] ?? 0)) / S) * rateHz + 0.01);
        const slots = kept(
          rateHz,
          times.map((at) => [at, 'x']),
        ).map((index) => slot(times[index] ?? 0));
        expect(slots).to.deep.equal([...new Set(times.map(slot))]);
      }),
    );
  });
});
