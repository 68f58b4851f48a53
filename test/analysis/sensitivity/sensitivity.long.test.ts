/** Sensitivity against SciPy and pingouin, against the definition written naively, and on Ishigami's function. */
import { expect } from 'chai';
import { adjustedIndex, cosineBasis, cosinePower } from '../../../src/analysis/sensitivity/cosine-index.ts';
import { chanceIndices, chanceOf, noiseFloor, permutationsFor } from '../../../src/analysis/sensitivity/noise-floor.ts';
import { permutationKey, permute } from '../../../src/analysis/sensitivity/permutations.ts';
import { sensitivity } from '../../../src/analysis/sensitivity/sensitivity.ts';
import { floorWarnings } from '../../../src/analysis/sensitivity/warnings.ts';
import { centred } from '../../../src/analysis/numeric/correlation.ts';
import { drawnRows } from '../../../src/analysis/numeric/drawn-rows.ts';
import { ascendingOrder } from '../../../src/analysis/numeric/order.ts';
import { orderedQuantile } from '../../../src/analysis/numeric/quantile.ts';
import { expectClose, referenceData } from '../data.ts';
import { column, namedColumns, uniformColumns, uniformSource } from '../synthetic.ts';
import { ishigamiError } from './ishigami.ts';

const FIGURES = ['spearman', 'spearman_p', 'prcc', 'prcc_p', 'srrc', 'sobol_cosine'] as const;
interface Reference {
  kind: string;
  n: number;
  x: Record<string, number[]>;
  y: number[];
  srrc_r2: number | null;
  by_parameter: Record<string, Record<(typeof FIGURES)[number], number | null>>;
}

describe('analysis/sensitivity', () => {
  for (const row of referenceData('sensitivity.json') as Reference[]) {
    it(`agrees with SciPy and pingouin to 1e-9: ${row.kind}, n = ${row.n}`, () => {
      const output = { name: 'y', values: Float64Array.from(row.y) };
      const found = sensitivity({ batchId: 'b', output, parameters: namedColumns(row.x) });
      expectClose(found.srrc_r2, row.srrc_r2, 1e-9, 'R^2');
      expect(found.parameters).to.have.length(Object.keys(row.x).length);
      for (const parameter of found.parameters) {
        for (const figure of FIGURES) {
          const expected = row.by_parameter[parameter.name]![figure];
          expectClose(parameter[figure], expected, 1e-9, `${figure} of ${parameter.name}`);
        }
      }
    });
  }

  it('finds an effect that is not monotone, which rank correlations miss', () => {
    const [x, other] = uniformColumns(2, 200, uniformSource(1)) as [
      ReturnType<typeof column>,
      ReturnType<typeof column>,
    ];
    const output = column('miss_m', 200, (run) => (x.values[run]! - 0.5) ** 2);
    const found = sensitivity({ batchId: 'b', output, parameters: [other, x] });
    expect(found.parameters.map((it) => [it.name, it.told_apart])).to.deep.equal([
      ['p0', true],
      ['p1', false],
    ]);
    expect(Math.abs(found.parameters[0]!.prcc!)).to.be.below(0.2);
    expect(found.sentence).to.match(
      /^miss_m depends most on p0 \(first-order index 0\.9\d, PRCC -?0\.\d\d\); 1 of 2 parameters not told apart from none/,
    );
  });

  it('names a parameter without influence in at most 5 % of studies, with both tests together', () => {
    const uniform = uniformSource(17);
    const STUDIES = 400;
    let [errors, aboveFloor, byRank] = [0, 0, 0];
    for (let study = 0; study < STUDIES; study++) {
      const parameters = uniformColumns(6, 50, uniform);
      const found = sensitivity({ batchId: String(study), output: column('y', 50, uniform), parameters });
      const named = found.parameters.filter((it) => it.told_apart === true);
      errors += Number(named.length > 0);
      aboveFloor += Number(found.parameters.some((it) => it.sobol_cosine! > it.noise_floor!));
      byRank += Number(found.parameters.some((it) => it.prcc_p_holm! < 0.05));
      const isNamed = found.sentence.startsWith('y depends most on');
      expect(isNamed).to.equal(named.length > 0);
    }
    expect(errors / STUDIES).to.be.within(0.02, 0.05 + 2 * Math.sqrt(0.0475 / STUDIES));
    // Each test alone at the whole error: together they would exceed it.
    expect(aboveFloor / STUDIES).to.be.within(0.03, 0.08);
    expect(byRank / STUDIES).to.be.within(0.03, 0.08);
  });

  it('gives the whole error to the test that there is', () => {
    const uniform = uniformSource(23);
    let found = 0;
    for (let study = 0; study < 400; study++) {
      const parameters = uniformColumns(3, 20, uniform);
      const { parameters: judged } = sensitivity({ batchId: 'b', output: column('y', 20, uniform), parameters });
      for (const it of judged) expect(it.told_apart).to.equal(it.prcc_p_holm! < 0.05);
      found += Number(judged.some((it) => it.told_apart === true && it.prcc_p_holm! > 0.025));
    }
    expect(found).to.be.above(0);
  });

  it('ranks by the index above the noise floor, the others by |PRCC|, and names none below both', () => {
    const uniform = uniformSource(29);
    const parameters = uniformColumns(8, 150, uniform);
    const [bent, weak] = parameters.map((it) => it.values) as [Float64Array, Float64Array];
    const output = column('y', 150, (run) => 8 * (bent[run]! - 0.5) ** 2 + 0.6 * weak[run]! + 0.3 * uniform());
    const { parameters: found, sentence } = sensitivity({ batchId: 'b', output, parameters });
    const above = found.filter((it) => it.sobol_cosine! > it.noise_floor!);
    const below = found.slice(above.length);
    expect(above.map((it) => it.name)).to.deep.equal(['p0']);
    // The linear effect is below the floor of the index, and found by its ranks alone.
    expect(below[0]).to.include({ name: 'p1', told_apart: true });
    const sizes = below.map((it) => Math.abs(it.prcc!));
    expect(sizes).to.deep.equal(sizes.toSorted((a, b) => b - a));
    const indices = below.map((it) => it.sobol_cosine!);
    expect(indices).not.to.deep.equal(indices.toSorted((a, b) => b - a));
    expect(sentence).to.match(
      /^y depends most on p0 \(.*\), then p1 \(.*\); 6 of 8 parameters not told apart from none/,
    );
  });

  it('uses only runs with a finite output and finite parameters', () => {
    const uniform = uniformSource(2);
    const [x] = uniformColumns(1, 60, uniform) as [ReturnType<typeof column>];
    const output = column('y', 60, (run) => x.values[run]! + 0.1 * uniform());
    const long = (values: Float64Array): Float64Array => Float64Array.from([...values, Number.NaN, 5, Infinity, 3]);
    const parameters = [{ name: 'p0', values: Float64Array.from([...x.values, 1, Number.NaN, 2, Infinity]) }];
    const found = sensitivity({ batchId: 'b', output: { name: 'y', values: long(output.values) }, parameters });
    expect(found).to.deep.equal(sensitivity({ batchId: 'b', output, parameters: [x] }));
    expect(found.n_used).to.equal(60);
  });

  const reasons: [name: string, n: number, y: (run: number) => number, x: (run: number) => number, reason: string][] = [
    ['three runs', 3, (i) => i, (i) => i * i, '3 runs have a value, 4 are needed'],
    ['a constant output', 50, () => 7, (i) => i, 'the output is 7 in all 50 runs'],
    ['a constant parameter', 50, (i) => i, () => 1, 'no parameter varies'],
  ];
  for (const [name, n, y, x, reason] of reasons) {
    it(`gives a reason and no figure for ${name}`, () => {
      const found = sensitivity({ batchId: 'b', output: column('y', n, y), parameters: [column('a', n, x)] });
      expect(found.reason).to.equal(reason);
      expect(found.parameters).to.deep.equal([]);
      expect(found.srrc_r2).to.equal(null);
      expect(found.sentence).to.equal(`no sensitivity of y: ${reason}`);
    });
  }

  it('gives a reason beside each null: PRCC from k + 3 runs on, the index from 30', () => {
    const at = (n: number) => {
      const uniform = uniformSource(n);
      return sensitivity({ batchId: 'b', output: column('y', n, uniform), parameters: uniformColumns(3, n, uniform) })
        .parameters[0]!;
    };
    expect(at(5)).to.include({ prcc: null, prcc_p: null, srrc: null, sobol_cosine: null, told_apart: null });
    expect(at(5).reason).to.equal(
      'PRCC and SRRC of 3 parameters need more than 5 runs, there are 5; a first-order index needs 30 runs, there are 5',
    );
    expect(at(6).prcc).to.be.a('number');
    expect(at(29)).to.include({
      sobol_cosine: null,
      noise_floor: null,
      reason: 'a first-order index needs 30 runs, there are 29',
    });
    expect(at(30).reason).to.equal(null);
    expect(at(30).sobol_cosine).to.be.a('number');
  });

  it('gives no PRCC above 500 parameters, and everything else as for fewer', () => {
    const uniform = uniformSource(13);
    const parameters = uniformColumns(501, 40, uniform);
    const output = column('y', 40, (run) => parameters[7]!.values[run]! ** 3);
    const many = sensitivity({ batchId: 'b', output, parameters });
    const few = sensitivity({ batchId: 'b', output, parameters: parameters.slice(5, 10) });
    const [of501, of5] = [many, few].map((it) => it.parameters.find((found) => found.name === 'p7')!) as [
      (typeof many.parameters)[0],
      (typeof many.parameters)[0],
    ];
    expect(of501).to.include({ prcc: null, srrc: null, told_apart: true });
    expect(of501.reason).to.equal('PRCC and SRRC are given for at most 500 parameters, there are 501');
    for (const figure of ['spearman', 'spearman_p', 'sobol_cosine'] as const) {
      expectClose(of501[figure], of5[figure], 1e-12, figure);
    }
    expect(many.srrc_r2).to.equal(null);
  });

  it('names parameters that do not vary, that others determine, and that are correlated', () => {
    const uniform = uniformSource(5);
    const [a, b] = uniformColumns(2, 100, uniform) as [ReturnType<typeof column>, ReturnType<typeof column>];
    const same = column('same', 100, () => 4);
    const double = column('double', 100, (run) => Math.exp(a.values[run]!));
    const output = column('y', 100, (run) => a.values[run]! + b.values[run]!);
    const found = sensitivity({ batchId: 'b', output, parameters: [a, b, same, double] });
    expect(found.warnings.map((it) => it.code)).to.deep.equal([
      'constant-parameters',
      'rank-deficient',
      'correlated-parameters',
    ]);
    expect(found.warnings[1]!.message).to.include('p0, double');
    expect(found.warnings[2]!.message).to.include('p0 and double with |rho| = 1.00');
    const byName = new Map(found.parameters.map((it) => [it.name, it]));
    expect([...byName.keys()]).to.have.members(['p0', 'p1', 'double']);
    expect(byName.get('double')!.prcc).to.equal(null);
    expect(byName.get('double')!.reason).to.include('other parameters determine this one');
    expect(byName.get('double')!.told_apart).to.equal(true);
    expect(byName.get('p1')!.prcc).to.be.above(0.9);
  });
});

describe('analysis/sensitivity/noise-floor', () => {
  /** The definition, without the short cuts. */
  function naiveFloor(orders: Uint32Array[], y: Float64Array, key: readonly [number, number]): number {
    const n = y.length;
    const { deviations, squares } = centred(y);
    const permuted = new Float64Array(n);
    const basis = cosineBasis(n);
    const maxima = Float64Array.from({ length: 200 }, (_, t) => {
      permute(deviations, key, t, permuted);
      return Math.max(...orders.map((order) => adjustedIndex(cosinePower(permuted, order, basis), squares / n, n)));
    });
    return orderedQuantile(maxima, ascendingOrder(maxima), 0.95);
  }

  it('is the quantile over all 200 permutations', () => {
    const uniform = uniformSource(500);
    const orders = uniformColumns(3, 500, uniform).map((it) => ascendingOrder(it.values));
    const y = Float64Array.from({ length: 500 }, uniform);
    const { deviations, squares } = centred(y);
    const key = permutationKey('batch', 'y');
    const found = noiseFloor(
      chanceIndices({ orders, deviations, variance: squares / 500, basis: cosineBasis(500), key }),
    );
    expectClose(found, naiveFloor(orders, y, key), 1e-9, 'noise floor');
  });

  it('draws a part of more runs than a million, the same each time, and says so', () => {
    const uniform = uniformSource(5);
    const parameters = uniformColumns(2, 4_000, uniform);
    const [first, second] = parameters.map((it) => it.values);
    const output = { name: 'y', values: first!.map((it, run) => it + 0.1 * second![run]!) };
    const of = (mostRuns: number) => sensitivity({ batchId: 'batch', output, parameters, mostRuns });
    const [drawn, whole] = [of(1_000), of(4_000)];
    expect(drawn).to.deep.equal(of(1_000));
    expect([drawn.n_used, whole.n_used]).to.deep.equal([4_000, 4_000]);
    expect(drawn.warnings.map((it) => it.message)).to.deep.equal([
      'the figures are those of 1000 of 4000 runs, drawn at random and the same each time: they have the chance error of so many runs',
    ]);
    expect(whole.warnings).to.deep.equal([]);
    for (const [j, it] of drawn.parameters.entries())
      expect(it.spearman!)
        .to.be.closeTo(whole.parameters[j]!.spearman!, 0.1)
        .and.not.equal(whole.parameters[j]!.spearman);
  });

  it('draws every part of the rows with the same chance, in their order', () => {
    const rows = Uint32Array.from({ length: 6 }, (_, at) => 10 * at);
    const counts = new Map<string, number>();
    for (let key = 0; key < 4_000; key++) {
      const drawn = [...drawnRows(rows, 3, [key, 7])];
      expect(drawn).to.deep.equal([...drawn].sort((a, b) => a - b));
      counts.set(drawn.join(), (counts.get(drawn.join()) ?? 0) + 1);
    }
    expect(counts.size).to.equal(20);
    // 200 each are expected; five standard deviations are 69.
    for (const [part, count] of counts) expect(count, part).to.be.within(131, 269);
    expect(drawnRows(rows, 6, [1, 2])).to.equal(rows);
  });

  it('takes fewer permutations of more than 200,000 runs, and says so', () => {
    const cases = [
      [200_000, 200],
      [200_001, 199],
      [400_000, 100],
      [1_000_000, 40],
      [10_000_000, 40],
    ] as const;
    for (const [runs, permutations] of cases) {
      expect(permutationsFor(runs)).to.equal(permutations);
      expect(floorWarnings(runs).map((it) => it.code)).to.deep.equal(permutations < 200 ? ['fewer-permutations'] : []);
    }
  });

  it('gives an index the share of permutations that reach it, the order that was found among them', () => {
    const uniform = uniformSource(3);
    const orders = uniformColumns(3, 60, uniform).map((it) => ascendingOrder(it.values));
    const { deviations, squares } = centred(Float64Array.from({ length: 60 }, uniform));
    const key = permutationKey('batch', 'y');
    const chance = chanceIndices({ orders, deviations, variance: squares / 60, basis: cosineBasis(60), key });
    expect(chance).to.have.length(200);
    expect([...chance]).to.deep.equal([...chance].toSorted((a, b) => a - b));
    expect(chanceOf(1, chance)).to.equal(1 / 201);
    expect(chanceOf(chance.at(-1)!, chance)).to.equal(2 / 201);
    expect(chanceOf(chance.at(-5)! - 1e-12, chance)).to.equal(6 / 201);
    expect(chanceOf(-1, chance)).to.equal(1);
  });

  it('depends on the batch and the output alone', () => {
    expect(permutationKey('a', 'y')).to.deep.equal(permutationKey('a', 'y'));
    expect(permutationKey('a', 'y')).not.to.deep.equal(permutationKey('b', 'y'));
    expect(permutationKey('a', 'y')).not.to.deep.equal(permutationKey('a', 'z'));
    const out = new Float64Array(6);
    permute(Float64Array.of(0, 1, 2, 3, 4, 5), permutationKey('a', 'y'), 3, out);
    // From an independent implementation of Philox and the shuffle.
    expect([...out]).to.deep.equal([1, 2, 5, 3, 0, 4]);
  });

  it('permutes fairly: each value takes each place equally often', () => {
    const out = new Float64Array(4);
    const counts = Array.from({ length: 4 }, () => [0, 0, 0, 0]);
    for (let t = 0; t < 4000; t++) {
      permute(Float64Array.of(0, 1, 2, 3), [1, 2], t, out);
      out.forEach((value, place) => counts[value]![place]!++);
    }
    // 1000 expected, standard deviation 27.
    for (const count of counts.flat()) expect(count).to.be.within(870, 1130);
  });
});

describe('analysis/sensitivity/cosine-index', () => {
  const errors: [method: 'monte_carlo' | 'latin_hypercube' | 'quasi_monte_carlo', rmse: number][] = [
    ['monte_carlo', 0.041],
    ['latin_hypercube', 0.036],
    ['quasi_monte_carlo', 0.02],
  ];
  for (const [method, rmse] of errors) {
    it(`has a root mean square error of about ${rmse} on Ishigami's function with 256 runs of ${method}`, () => {
      expect(ishigamiError(method, 256, 100)).to.be.within(rmse * 0.85, rmse * 1.15);
    });
  }

  it('is close to 1 for a function of one parameter, and has mean 0 for noise', () => {
    const n = 400;
    const basis = cosineBasis(n);
    const indexOf = (x: Float64Array, y: Float64Array): number => {
      const { deviations, squares } = centred(y);
      return adjustedIndex(cosinePower(deviations, ascendingOrder(x), basis), squares / n, n);
    };
    const uniform = uniformSource(11);
    const [x] = uniformColumns(1, n, uniform).map((it) => it.values) as [Float64Array];
    expect(
      indexOf(
        x,
        x.map((it) => Math.exp(it)),
      ),
    ).to.be.within(0.998, 1);
    let sum = 0;
    for (let study = 0; study < 200; study++) sum += indexOf(x, x.map(uniform));
    // The standard deviation of one index is about sqrt(12) / n.
    expect(Math.abs(sum / 200)).to.be.below((4 * Math.sqrt(12)) / n / Math.sqrt(200));
  });
});
