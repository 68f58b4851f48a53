/** Comparison of two batches against SciPy and statsmodels, and on small batches whose answer is plain. */
import { expect } from 'chai';
import { type ComparedBatch, compare } from '../../../src/analysis/compare/compare.ts';
import type { PairedComparison, UnpairedComparison } from '../../../src/analysis/compare/answer.ts';
import { configurationChanges } from '../../../src/analysis/compare/configuration-changes.ts';
import { kolmogorovSmirnovSf } from '../../../src/analysis/groups/kolmogorov-finite.ts';
import { expectClose, referenceData } from '../data.ts';
import { uniformSource } from '../synthetic.ts';

interface Reference {
  y1: number[];
  y2: number[];
  pass1: boolean[];
  pass2: boolean[];
  identical: number;
  mean_difference: number;
  t95: [number, number];
  wilcoxon_p: number;
  mcnemar: { broke: number; mended: number; p: number };
  unpaired: {
    ks_d: number;
    ks_p: number;
    mann_whitney_p: number;
    welch95: [number, number];
    newcombe95: [number, number];
  };
}

/** A batch of terminal runs 0, 1, ... with one parameter and one output. */
function batch(y: readonly number[], pass: readonly boolean[], more: Partial<ComparedBatch> = {}): ComparedBatch {
  const n = y.length;
  return {
    runIds: Uint32Array.from({ length: n }, (_, i) => i),
    terminal: new Uint8Array(n).fill(1),
    groups: Int8Array.from(pass, (it) => (it ? 0 : 1)),
    parameters: [{ name: 'mass', values: Float64Array.from(y, (_, i) => i / 7) }],
    outputs: [{ name: 'miss_m', values: Float64Array.from(y) }],
    configuration: {},
    ...more,
  };
}

const all = (n: number): boolean[] => Array.from({ length: n }, () => true);

describe('analysis/compare', () => {
  for (const row of referenceData('compare.json') as Reference[]) {
    const [before, after] = [batch(row.y1, row.pass1), batch(row.y2, row.pass2)];

    it(`agrees on pairs with SciPy and statsmodels to 1e-9: n = ${row.y1.length}`, () => {
      const found = compare(before, after) as PairedComparison;
      const output = found.outputs[0]!;
      expect(found.paired).to.equal(true);
      expect([output.identical, found.identical_runs]).to.deep.equal([row.identical, row.identical]);
      expectClose(output.mean_difference, row.mean_difference, 1e-9, 'mean difference');
      row.t95.forEach((bound, i) => expectClose(output.interval![i]!, bound, 1e-9, 'interval'));
      expectClose(output.wilcoxon_p, row.wilcoxon_p, 1e-9, 'wilcoxon_p');
      expect(output.p_holm).to.equal(output.wilcoxon_p);
      expect([found.flips.broke.length, found.flips.mended.length]).to.deep.equal([
        row.mcnemar.broke,
        row.mcnemar.mended,
      ]);
      expectClose(found.flips.mcnemar_p, row.mcnemar.p, 1e-9, 'mcnemar_p');
    });

    it(`agrees on samples with SciPy and statsmodels to 1e-9: n = ${row.y1.length}`, () => {
      const moved = {
        ...after,
        parameters: [{ name: 'mass', values: after.parameters[0]!.values.map((it) => it + 1) }],
      };
      const found = compare(before, moved) as UnpairedComparison;
      const output = found.outputs[0]!;
      expect(found.paired).to.equal(false);
      for (const figure of ['ks_d', 'ks_p', 'mann_whitney_p'] as const) {
        expectClose(output[figure], row.unpaired[figure], 1e-9, figure);
      }
      row.unpaired.welch95.forEach((bound, i) => expectClose(output.welch![i]!, bound, 1e-9, 'welch'));
      row.unpaired.newcombe95.forEach((bound, i) => expectClose(found.passing!.newcombe[i]!, bound, 1e-9, 'newcombe'));
    });
  }

  it('pairs runs by id, over runs that are terminal in both', () => {
    const parameters = (values: number[]) => [{ name: 'mass', values: Float64Array.from(values) }];
    const before = batch([1, 2, 3, Number.NaN], [true, true, true, true], {
      runIds: Uint32Array.of(2, 4, 6, 8),
      parameters: parameters([20, 40, 60, 80]),
    });
    const after = batch([2.5, 3, 9, 7, 1], [false, true, false, true, false], {
      runIds: Uint32Array.of(4, 6, 7, 8, 9),
      parameters: parameters([40, 60, 70, 80, 90]),
    });
    const found = compare(before, after) as PairedComparison;
    expect(found).to.include({ paired: true, pairs: 3, identical_runs: 1 });
    const { mcnemar_p, ...table } = found.flips;
    expect(table).to.deep.equal({ broke: [4], mended: [], passed_both: 2, failed_both: 0 });
    expectClose(mcnemar_p, 1, 1e-12, 'mcnemar_p');
    expect(found.outputs[0]!.pairs).to.equal(2);
    expect(found.outputs[0]!.largest).to.deep.equal([{ run_id: 4, before: 2, after: 2.5 }]);
    const open = compare(before, { ...after, terminal: Uint8Array.of(0, 1, 1, 1, 1) }) as PairedComparison;
    expect(open.pairs).to.equal(2);
    expect(open.flips.broke).to.deep.equal([]);
  });

  it('leaves runs in neither group out of the table of verdicts', () => {
    const pass = [true, false, true, false];
    const after = { ...batch([1, 2, 3, 4], [false, true, true, false]), groups: Int8Array.of(-1, 0, 0, 1) };
    const { flips } = compare(batch([1, 2, 3, 4], pass), after) as PairedComparison;
    expect(flips).to.deep.include({ broke: [], mended: [1], passed_both: 1, failed_both: 1 });
  });

  it('is unpaired without common runs, and, without the seeds, where one parameter differs in its last bit', () => {
    const before = batch([1, 2, 3], all(3));
    const apart = batch([1, 2, 3], all(3), { runIds: Uint32Array.of(5, 6, 7) });
    expect(compare(before, apart).pairing.reason).to.equal('no run has ended in both');
    const values = Float64Array.from(before.parameters[0]!.values);
    values[2] = values[2]! + Number.EPSILON / 4;
    expect(values[2]).not.to.equal(before.parameters[0]!.values[2]);
    const moved = compare(before, { ...before, parameters: [{ name: 'mass', values }] });
    expect(moved.pairing).to.deep.equal({
      inputs: 1,
      equal: 0,
      differing: ['mass'],
      reason: 'no varying input is equal to the bit',
    });
    expect(compare(before, before)).to.include({ paired: true });
  });

  it('counts -0 and 0 as different to the bit, and an output that only one side lacks', () => {
    const found = compare(batch([0, 1, Number.NaN, 2], all(4)), batch([-0, 1, 5, 2], all(4))) as PairedComparison;
    expect(found.identical_runs).to.equal(2);
    expect(found.outputs[0]!.identical).to.equal(2);
  });

  it('lists at most ten largest differences, largest first, the lower run id first among equals', () => {
    const before = Array.from({ length: 30 }, () => 0);
    const after = before.map((_, i) => (i % 2 === 0 ? 1 : -1) * (i < 15 ? 5 : 2));
    const { largest } = (compare(batch(before, all(30)), batch(after, all(30))) as PairedComparison).outputs[0]!;
    expect(largest.map((it) => it.run_id)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('gives reasons where there is nothing to compare', () => {
    const paired = compare(batch([1, 2], all(2)), batch([1, 2], all(2))) as PairedComparison;
    expect(paired.outputs[0]).to.deep.include({ wilcoxon_p: null, p_holm: null, mean_difference: 0, interval: [0, 0] });
    expect(paired.outputs[0]!.reason).to.equal('no pair differs, so there is nothing to rank');
    const none = compare(batch([Number.NaN], all(1)), batch([1], all(1))) as PairedComparison;
    expect(none.outputs[0]!.reason).to.equal('no pair has the output in both studies');
    const moved = batch([1], [true], { runIds: Uint32Array.of(9) });
    const unpaired = compare(batch([Number.NaN], [true]), moved) as UnpairedComparison;
    expect(unpaired.outputs[0]).to.deep.include({ ks_p: null, reason: 'the first study has no run with the output' });
  });

  it('names outputs that one batch lacks, and warns of few differences', () => {
    const after = { ...batch([1, 2, 4], all(3)), outputs: [{ name: 'other', values: Float64Array.of(1, 2, 3) }] };
    const found = compare(batch([1, 2, 3], all(3)), after);
    expect(found.warnings).to.deep.equal([
      {
        code: 'outputs-differ',
        message: 'outputs not compared, only in the first study: miss_m; only in the second study: other',
      },
    ]);
    const few = compare(batch([1, 2, 3], all(3)), batch([1, 2, 4], all(3)));
    expect(few.warnings.map((it) => it.code)).to.deep.equal(['few-differences']);
  });

  it('adjusts over outputs by Holm, and names the outputs that differ', () => {
    const uniform = uniformSource(9);
    const n = 60;
    const noise = Array.from({ length: n }, uniform);
    const outputs = (shift: number) => [
      { name: 'moved', values: Float64Array.from(noise, (it) => it + shift) },
      { name: 'still', values: Float64Array.from(noise, (it) => it + (shift > 0 ? 1e-3 * (uniform() - 0.5) : 0)) },
    ];
    const found = compare(
      { ...batch(noise, all(n)), outputs: outputs(0) },
      { ...batch(noise, all(n)), outputs: outputs(0.5) },
    ) as PairedComparison;
    const [moved, still] = found.outputs;
    expect(moved!.p_holm).to.equal(2 * moved!.wilcoxon_p!);
    expect(still!.p_holm).to.equal(still!.wilcoxon_p);
    expect(found.sentence).to.equal(
      'paired: the one input that varies is equal; 60 pairs: 0 runs broke, 0 mended (McNemar p = 1); 0 of 60 runs identical in all outputs; outputs that differ: moved',
    );
  });
});

describe('analysis/compare/configuration-changes', () => {
  it('lists changed, added and removed members by pointer', () => {
    const before = {
      simulation: { version: '1', name: 'a' },
      dispersions: { 'm/s': { mean: 1 }, gone: 2 },
      list: [1, 2],
    };
    const after = {
      simulation: { version: '2', name: 'a' },
      dispersions: { 'm/s': { mean: 1.5 }, added: null },
      list: [1, 3],
    };
    expect(configurationChanges(before, after)).to.deep.equal({
      changes: [
        { pointer: '/simulation/version', before: '1', after: '2' },
        { pointer: '/dispersions/m~1s/mean', before: 1, after: 1.5 },
        { pointer: '/dispersions/gone', before: 2 },
        { pointer: '/dispersions/added', after: null },
        { pointer: '/list/1', before: 2, after: 3 },
      ],
      omitted: 0,
    });
  });

  it('lists nothing for equal values, whatever the order of members', () => {
    const long = Array.from({ length: 200 }, (_, i) => ({ i }));
    const changes = configurationChanges({ a: 1, b: [null, 2n], long }, { b: [null, 2n], long: [...long], a: 1 });
    expect(changes).to.deep.equal({ changes: [], omitted: 0 });
  });

  it('takes long lists and lists of other length as a whole, and long ones by their length', () => {
    const long = Array.from({ length: 1000 }, (_, i) => i);
    expect(configurationChanges({ a: [1] }, { a: [1, 2] }).changes).to.deep.equal([
      { pointer: '/a', before: [1], after: [1, 2] },
    ]);
    expect(configurationChanges({ a: long }, { a: [7] }).changes).to.deep.equal([
      { pointer: '/a', before: 'a list of 1000 items', after: [7] },
    ]);
  });

  it('lists at most 1000 changes and counts the others', () => {
    const members = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`m${i}`, i]));
    const { changes, omitted } = configurationChanges({}, members);
    expect([changes.length, omitted]).to.deep.equal([1000, 200]);
  });
});

describe('analysis/groups/kolmogorov-finite', () => {
  it('agrees with exact arithmetic to 1e-9 up to n = 140, and to 4e-6 above', () => {
    // Marsaglia, Tsang and Wang's matrix power in 60-digit integers.
    const exact: [n: number, z: number, p: number, tolerance: number][] = [
      [139, 0.8, 0.522007799, 2e-9],
      [140, 0.8, 0.522084041, 2e-9],
      [141, 0.8, 0.522159492, 4e-6],
      [142, 1.2, 0.104740178, 4e-6],
    ];
    for (const [n, z, p, tolerance] of exact)
      expectClose(kolmogorovSmirnovSf(n, z / Math.sqrt(n)), p, tolerance, `n = ${n}`);
  });

  it('is exact for small distances: P(D_n < d) = n! (2d - 1/n)^n up to d = 1/n', () => {
    for (const n of [1, 2, 5, 10]) {
      let factorial = 1;
      for (let i = 2; i <= n; i++) factorial *= i;
      for (const share of [0.6, 0.8, 1]) {
        const d = share / n;
        expectClose(1 - kolmogorovSmirnovSf(n, d), factorial * (2 * d - 1 / n) ** n, 1e-9, `n = ${n}, d = ${d}`, 1);
      }
    }
  });

  it('is exact for large distances: P(D_n >= d) = 2 (1 - d)^n from d = 1 - 1/n on', () => {
    for (const n of [2, 7, 50]) expectClose(kolmogorovSmirnovSf(n, 1 - 0.5 / n), 2 * (0.5 / n) ** n, 1e-9, `n = ${n}`);
  });

  it('falls with the distance and hardly jumps where the method changes', () => {
    for (const n of [139, 140, 141, 500, 100_000, 100_001]) {
      let before = 1;
      for (let z = 0.2; z < 4; z += n > 1000 ? 0.3 : 0.02) {
        const p = kolmogorovSmirnovSf(n, z / Math.sqrt(n));
        expect(p, `n = ${n}, z = ${z}`).to.be.at.most(before * (1 + 1e-9));
        before = p;
      }
    }
    // From one size to the next the value changes smoothly, but for the error of the expansion.
    for (const z of [0.5, 0.8, 1.2, 1.48]) {
      const at = (n: number): number => kolmogorovSmirnovSf(n, z / Math.sqrt(n));
      expectClose(at(141) - at(140), at(140) - at(139), 4e-6, `z = ${z}`, 1);
    }
  });

  it('is 1 at no distance and 0 at the whole', () => {
    expect(kolmogorovSmirnovSf(10, 0)).to.equal(1);
    expect(kolmogorovSmirnovSf(10, 1)).to.equal(0);
    expect(kolmogorovSmirnovSf(1_000_000, 0.5)).to.equal(0);
  });

  it('a run whose text output differs is not identical, and the answer names the text', () => {
    const texts = (codes: number[], values: string[]) =>
      new Map([['phase', { codes: Uint16Array.from(codes), values: ['', ...values] }]]);
    const y = [1, 2, 3, 4];
    const before = batch(y, all(4), { texts: texts([1, 1, 2, 0], ['boost', 'coast']) });
    const after = batch(y, all(4), { texts: texts([2, 1, 1, 0], ['coast', 'boost']) });
    const found = compare(before, after) as PairedComparison;
    expect(found.identical_runs).to.equal(3);
    expect(found.warnings).to.deep.include({
      code: 'texts-differ',
      message: 'outputs of text differ: phase in 1 pairs',
    });
    const overflown = batch(y, all(4), { texts: texts([1, 1, 1, 1], ['(other values)']) });
    expect((compare(overflown, overflown) as PairedComparison).identical_runs).to.equal(0);
  });
});
