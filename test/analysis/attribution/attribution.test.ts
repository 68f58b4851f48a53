/** Attribution against SciPy and brute force, and on synthetic studies whose cause is known. */
import { expect } from 'chai';
import fc from 'fast-check';
import { attributeOne, attribution } from '../../../src/analysis/attribution/attribution.ts';
import {
  type GroupedRuns,
  type OrderedColumn,
  bestInterval,
  describeInterval,
} from '../../../src/analysis/attribution/best-interval.ts';
import { bestPair } from '../../../src/analysis/attribution/best-pair.ts';
import { holm } from '../../../src/analysis/numeric/holm.ts';
import { ascendingOrder } from '../../../src/analysis/numeric/order.ts';
import { expectClose, referenceData } from '../data.ts';
import { column, namedColumns, uniformColumns, uniformSource } from '../synthetic.ts';
import { studyWithCause, studyWithoutCause } from './studies.ts';

interface Reference {
  n: number;
  x: Record<string, number[]>;
  failing: boolean[];
  by_parameter: Record<
    string,
    {
      auc: number;
      p: number;
      p_holm: number;
      ks_d: number;
      best_interval: { wracc: number; first: number | null; last: number | null; n_in: number; failures_in: number };
    }
  >;
}

const ordered = (name: string, values: Float64Array): OrderedColumn => ({
  name,
  values,
  order: ascendingOrder(values),
});

function grouped(failing: readonly (boolean | number)[]): GroupedRuns {
  const flags = Uint8Array.from(failing, Number);
  return { failing: flags, failures: flags.reduce((sum, it) => sum + it, 0) };
}

describe('analysis/attribution', () => {
  for (const row of referenceData('attribution.json') as Reference[]) {
    it(`agrees with SciPy to 1e-9, and on the interval exactly: n = ${row.n}`, () => {
      const runs = grouped(row.failing);
      const found = namedColumns(row.x).map((it) => attributeOne(ordered(it.name, it.values), runs, 0.95));
      const adjusted = holm(found.map((it) => it.p));
      found.forEach((it, j) => {
        const expected = row.by_parameter[it.name]!;
        for (const figure of ['auc', 'p', 'ks_d'] as const) expectClose(it[figure], expected[figure], 1e-9, figure);
        expectClose(adjusted[j]!, expected.p_holm, 1e-9, 'p_holm');
        const { sentence: _, wracc, ...interval } = it.best_interval;
        const { wracc: expectedWracc, ...expectedInterval } = expected.best_interval;
        expect(interval).to.deep.equal(expectedInterval);
        expectClose(wracc, expectedWracc, 1e-9, 'wracc');
      });
    });
  }

  it('says the best interval in words with counts', () => {
    const uniform = uniformSource(4);
    const [speed] = uniformColumns(1, 400, () => 40 * uniform()) as [ReturnType<typeof column>];
    const groups = Int8Array.from(speed.values, (it) => Number(it > 37));
    const failures = groups.reduce((sum, it) => sum + it, 0);
    const found = attribution({ groups, parameters: [{ name: 'gust_speed', values: speed.values }] });
    const share = Math.round((100 * failures) / 400);
    const sentence = `gust_speed >= 37: ${failures} of ${failures} failures, in ${share} % of the runs`;
    expect(found.parameters[0]!.best_interval.sentence).to.equal(sentence);
    expect(found.sentence).to.equal(`of ${failures} failing and ${400 - failures} passing runs: ${sentence}`);
    expect(found.best_pair).to.equal(null);
    expect(found.warnings.map((it) => it.code)).to.deep.equal(['searched-on-same-runs']);
  });

  it('gives a reason and no figure below 5 runs in a group, or when nothing varies', () => {
    const of = (groups: number[], value: (run: number) => number) =>
      attribution({ groups: Int8Array.from(groups), parameters: [column('a', groups.length, value)] });
    expect(of([1, 1, 1, 1, 0, 0, 0, 0, 0], (i) => i).reason).to.equal('4 runs fail, 5 are needed');
    expect(of([0, 1, 1, 1, 1, 1, -1, -1, -1, -1], (i) => i)).to.deep.include({
      reason: '1 run passes, 5 are needed',
      parameters: [],
    });
    expect(of([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], () => 3).reason).to.equal('no parameter varies');
    expect(of([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], (i) => i).reason).to.equal(null);
  });

  it('leaves out runs in neither group and runs with a missing parameter, and counts the latter', () => {
    const { groups, parameters } = studyWithCause(1);
    const more = Int8Array.from([...groups, -1, 1]);
    const longer = parameters.map((it) => ({
      name: it.name,
      values: Float64Array.from([...it.values, 0.5, Number.NaN]),
    }));
    const { warnings, ...found } = attribution({ groups: more, parameters: longer });
    const { warnings: _, ...expected } = attribution({ groups, parameters });
    expect(found).to.deep.equal(expected);
    expect(warnings.map((it) => it.code)).to.include('parameters-missing');
  });

  it('finds a cause at both ends of a range, where the AUC is near 1/2', () => {
    const [x, other] = uniformColumns(2, 400, uniformSource(6)) as [
      ReturnType<typeof column>,
      ReturnType<typeof column>,
    ];
    const groups = Int8Array.from(x.values, (it) => Number(Math.abs(it - 0.5) > 0.42));
    const found = attribution({ groups, parameters: [other, x] });
    expect(found.parameters.map((it) => [it.name, it.told_apart])).to.deep.equal([
      ['p0', true],
      ['p1', false],
    ]);
    expect(found.parameters[0]!.auc).to.be.within(0.3, 0.7);
  });

  it('names the planted cause first in 100 of 100 studies with an AUC of 0.8 or more', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { cause, ...study } = studyWithCause(seed);
      const found = attribution(study);
      const [first] = found.parameters;
      expect([seed, first!.name, first!.told_apart]).to.deep.equal([seed, cause, true]);
      expect(found.sentence).to.include(first!.best_interval.sentence);
    }
  });

  it('names nothing in at least 95 of 100 studies without a cause', () => {
    const named = Array.from({ length: 100 }, (_, seed) => attribution(studyWithoutCause(seed))).filter((it) =>
      it.parameters.some((parameter) => parameter.told_apart),
    );
    expect(named.length).to.be.at.most(5);
    const quiet = attribution(studyWithoutCause(0));
    expect(quiet.sentence).to.match(/^no parameter of 6 is told apart between the \d+ failing and \d+ passing runs$/);
  });
});

/** The bounds that a condition on `a` names. */
function boundsOf(condition: string): [low: number, high: number] {
  const single = /^a (<=|>=|=) (\S+)$/.exec(condition);
  if (single !== null) {
    const bound = Number(single[2]);
    return [single[1] === '<=' ? -Infinity : bound, single[1] === '>=' ? Infinity : bound];
  }
  const both = /^(\S+) <= a <= (\S+)$/.exec(condition);
  if (both === null) expect(condition).to.equal('any a');
  return both === null ? [-Infinity, Infinity] : [Number(both[1]), Number(both[2])];
}

describe('analysis/attribution/best-interval', () => {
  interface Candidate {
    gain: number;
    runs: number;
    first: number;
    last: number;
  }
  const isBetter = (a: Candidate, b: Candidate): boolean =>
    a.gain !== b.gain ? a.gain > b.gain : a.runs !== b.runs ? a.runs < b.runs : a.first < b.first;

  /** Every pair of distinct values as ends. */
  function bruteForce(values: readonly number[], { failing, failures }: GroupedRuns): Candidate {
    const n = values.length;
    const distinct = [...new Set(values)].sort((a, b) => a - b);
    let best: Candidate = { gain: -Infinity, runs: 0, first: 0, last: 0 };
    for (const first of distinct) {
      for (const last of distinct.filter((it) => it >= first)) {
        const inside = values.map((_, i) => i).filter((i) => values[i]! >= first && values[i]! <= last);
        const found = inside.filter((i) => failing[i] === 1).length;
        const candidate = { gain: n * found - failures * inside.length, runs: inside.length, first, last };
        if (isBetter(candidate, best)) best = candidate;
      }
    }
    return best;
  }

  const studies = fc.array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.boolean()), { minLength: 2, maxLength: 25 });

  it('is the best of all intervals, of equal ones the one with the fewest runs, then the lowest', () => {
    fc.assert(
      fc.property(studies, (rows) => {
        const values = rows.map(([value]) => value);
        const runs = grouped(rows.map(([, fails]) => fails));
        const subject = ordered('a', Float64Array.from(values));
        const found = bestInterval(subject, runs);
        const expected = bruteForce(values, runs);
        expect([found.gain, found.runs]).to.deep.equal([expected.gain, expected.runs]);
        const described = describeInterval(subject, found);
        expect(described.first ?? Math.min(...values)).to.equal(expected.first);
        expect(described.last ?? Math.max(...values)).to.equal(expected.last);
        expectClose(described.wracc, expected.gain / values.length ** 2, 1e-12, 'wracc');
      }),
      { numRuns: 500 },
    );
  });

  it('is written as a condition that selects exactly its runs', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.boolean()), { minLength: 2 }),
        (rows) => {
          const values = rows.map(([value]) => value);
          const subject = ordered('a', Float64Array.from(values));
          const found = bestInterval(subject, grouped(rows.map(([, fails]) => fails)));
          const { condition, n_in } = describeInterval(subject, found);
          const [low, high] = boundsOf(condition);
          expect(values.filter((it) => it >= low && it <= high)).to.have.length(n_in);
        },
      ),
    );
  });
});

describe('analysis/attribution/best-pair', () => {
  const studies = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }), fc.boolean()), {
    minLength: 4,
    maxLength: 30,
  });

  it('counts the runs of its box, and no single interval is better', () => {
    fc.assert(
      fc.property(studies, (rows) => {
        const runs = grouped(rows.map(([, , fails]) => fails));
        const [a, b] = [
          ordered(
            'a',
            Float64Array.from(rows, ([x]) => x),
          ),
          ordered(
            'b',
            Float64Array.from(rows, ([, y]) => y),
          ),
        ];
        const found = bestPair(a, b, runs);
        const [one, two] = found.parameters;
        const isIn = (value: number, side: typeof one): boolean =>
          value >= (side!.first ?? -Infinity) && value <= (side!.last ?? Infinity);
        const inside = rows.filter(([x, y]) => isIn(x, one) && isIn(y, two));
        expect(found.n_in).to.equal(inside.length);
        expect(found.failures_in).to.equal(inside.filter(([, , fails]) => fails).length);
        const singles = [a, b].map((it) => bestInterval(it, runs).gain / rows.length ** 2);
        expect(found.wracc).to.be.at.least(Math.max(...singles) - 1e-12);
      }),
      { numRuns: 300 },
    );
  });

  it('finds a corner that neither parameter shows alone', () => {
    const [x, y] = uniformColumns(2, 600, uniformSource(8)) as [ReturnType<typeof column>, ReturnType<typeof column>];
    const runs = grouped([...x.values].map((value, i) => value > 0.7 && y.values[i]! < 0.4));
    const found = bestPair(ordered('x', x.values), ordered('y', y.values), runs);
    expect(found.failures_in).to.equal(runs.failures);
    expect(found.n_in).to.equal(runs.failures);
    expect(found.sentence).to.match(/^x >= 0\.7\d* and y <= 0\.\d+: (\d+) of \1 failures, in 1\d % of the runs$/);
  });
});

describe('analysis/attribution/decile-rates', () => {
  it('counts every run once, in [from, to) with the last row closed', () => {
    const { groups, parameters } = studyWithCause(3);
    for (const parameter of attribution({ groups, parameters }).parameters) {
      const rows = parameter.rate_by_decile;
      const values = [...parameters.find((it) => it.name === parameter.name)!.values].filter(
        (_, i) => groups[i] !== -1,
      );
      expect(rows).to.have.length(10);
      rows.forEach((row, bin) => {
        const inside = values.filter((it) => it >= row.from && (bin === 9 ? it <= row.to : it < row.to));
        expect(row.of).to.equal(inside.length);
        expect(row.wilson === null).to.equal(row.of === 0);
        if (row.wilson !== null) expect(row.failing / row.of).to.be.within(row.wilson[0], row.wilson[1]);
      });
      expect(rows.reduce((sum, row) => sum + row.of, 0)).to.equal(values.length);
    }
  });
});
