/** The summary of a study: moments, quantiles and their bounds, tolerance bounds, failures, worst cases. */
import { expect } from 'chai';
import fc from 'fast-check';
import { kthSmallest, orderedArray } from '../../../src/analysis/outputs/censoring.ts';
import { type OutputSummary, summarizeOutput } from '../../../src/analysis/outputs/output-summary.ts';
import { worstRuns } from '../../../src/analysis/outputs/worst.ts';
import { summarizeStudy } from '../../../src/analysis/summary.ts';
import type { TableLayout } from '../../../src/analysis/table/layout.ts';
import { expectClose } from '../data.ts';
import { type Run, tableOf, times } from '../tables.ts';

const OPTIONS = { confidence: 0.95, quantiles: [0.5, 0.95] };

function summaryOf(runs: readonly Run[], layout: Partial<TableLayout> = {}, options = {}): OutputSummary {
  return summarizeOutput(tableOf(runs, layout), 'y', { ...OPTIONS, ...options });
}

/** A run that a rule ended. */
const ended = (variable: string, condition: string): Run => ({
  status: 'Failed',
  reason: 'early_termination',
  terminatedBy: { variable, condition },
});

describe('analysis/outputs: summary', () => {
  it('moments and quantiles are those of the completed runs', () => {
    // The quantiles from NumPy, the interval from mpmath.
    const found = summaryOf([3, 1, 4, 1, 5, 9, 2, 6, 'crashed', NaN]);
    expect(found).to.include({
      count: 8,
      missing: 1,
      mean: 3.875,
      min: 1,
      max: 9,
      mean_method: 't',
      mean_reason: null,
    });
    expectClose(found.sd, 2.748376143938713, 1e-14, 'sd');
    expectClose(found.mean_interval![0], 1.577300043159244, 1e-12, 'low');
    expectClose(found.mean_interval![1], 6.172699956840756, 1e-12, 'high');
    expectClose(found.quantiles[0]!.value, 3.5, 1e-14, 'median');
    expectClose(found.quantiles[1]!.value, 7.95, 1e-14, '95 %');
  });

  it('the interval of the mean depends on the sampling method', () => {
    const values = [1, 2, 3, 4, 5, 6];
    const rows: [string, Partial<TableLayout>, Partial<OutputSummary>][] = [
      ['monte carlo', {}, { mean_method: 't' }],
      ['one latin hypercube', { method: 'latin_hypercube' }, { mean_method: 't-conservative' }],
      ['rows of a table', { method: 'table' }, { mean_method: null, mean_interval: null, mean: 3.5 }],
      ['one sequence', { method: 'quasi_monte_carlo' }, { mean_method: null, mean_interval: null, mean: 3.5 }],
    ];
    for (const [label, layout, expected] of rows) expect(summaryOf(values, layout), label).to.deep.include(expected);
    expect(summaryOf(values, { method: 'quasi_monte_carlo' }).mean_reason).to.match(/no error estimate/);
    const replicates = Uint16Array.of(0, 0, 0, 1, 1, 1);
    expect(
      summaryOf(values, { method: 'table', replicates, runIds: Uint32Array.of(0, 1, 2, 0, 1, 2) }).mean_reason,
    ).to.match(/unknown dependence/);
    for (const method of ['latin_hypercube', 'quasi_monte_carlo'] as const) {
      const found = summaryOf(values, { method, replicates, runIds: Uint32Array.of(0, 1, 2, 0, 1, 2) });
      // Means 2 and 5: 3.5 +- t(0.975, 1) * 1.5.
      expect(found).to.include({ mean: 3.5, mean_method: 'replicates' });
      expectClose(found.mean_interval![1] - 3.5, 1.5 * 12.706204736174694, 1e-12, method);
    }
    expect(summaryOf(values, { replicates, runIds: Uint32Array.of(0, 1, 2, 0, 1, 2) }).mean_method).to.equal('t');
    expect(summaryOf([7])).to.include({ mean: 7, mean_interval: null, sd: null, mean_reason: 'fewer than two values' });
    expect(summaryOf([NaN])).to.deep.include({
      mean: null,
      mean_interval: null,
      quantiles: [],
      min: null,
      mean_reason: 'no values',
    });
  });

  it('a quantile of incomplete data is given with bounds', () => {
    const values = Array.from({ length: 8 }, (_, i) => i + 1);
    // Ten terminal runs, two without a value: the median is between the fifth and the sixth smallest.
    const found = summaryOf([...values, 'crashed', NaN, 'open']);
    expect(found.quantiles.map((it) => it.bounds)).to.deep.equal([
      [3.5, 5.5],
      [7 + (0.95 * 9 - 8), null],
    ]);
    expect(summaryOf(values).quantiles.map((it) => it.bounds)).to.deep.equal([null, null]);
  });

  it('a rule on the output itself bounds the values of the runs that it ended', () => {
    const values = Array.from({ length: 6 }, (_, i) => i / 2);
    const rows: [Run, Partial<{ censored: ReadonlyMap<string, string> }>, unknown][] = [
      // Ten runs: the median is between the fifth and the sixth smallest.
      [ended('y', '> 3.8'), {}, [2.25, 2.25]],
      [ended('max_nz', '> 3.8'), { censored: new Map([['y', 'max_nz']]) }, [2.25, 2.25]],
      [ended('max_nz', '> 3.8'), {}, [0.25, 2.25]],
      [ended('y', '<= -1'), {}, [0.25, 0.25]],
      [ended('y', '!= 3'), {}, [0.25, 2.25]],
    ];
    for (const [run, options, expected] of rows)
      expect(
        summaryOf([...values, ...times(4, run)], {}, options).quantiles[0]!.bounds,
        JSON.stringify(run),
      ).to.deep.equal(expected);
    expect(summaryOf([...values, ...times(4, ended('y', '> 3.8'))]).quantiles[1]!.bounds).to.deep.equal([3.8, null]);
  });

  it('the survivors of a rule on the output do not hide the tail that it cut', () => {
    const found = summaryOf([...Array.from({ length: 66 }, (_, i) => 3 + i / 100), ...times(134, ended('y', '> 3.8'))]);
    expect(found.quantiles[1]!.value).to.be.below(3.8);
    expect(found.quantiles[1]!.bounds).to.deep.equal([3.8, null]);
  });

  it('the k-th smallest of values and groups is that of the sorted whole', () => {
    const value = fc.integer({ min: -5, max: 5 });
    const group = fc.record({
      value: fc.oneof(value, fc.constantFrom(-Infinity, Infinity)),
      count: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(value), fc.array(group, { maxLength: 4 }), (values, groups) => {
        const sorted = Float64Array.from(values).sort();
        const all = Float64Array.from([
          ...values,
          ...groups.flatMap((it) => Array<number>(it.count).fill(it.value)),
        ]).sort();
        for (let k = 1; k <= all.length; k++) expect(kthSmallest(orderedArray(sorted), groups, k)).to.equal(all[k - 1]);
      }),
    );
  });

  it('tolerance bounds are null until there are runs enough, which the answer counts', () => {
    const values = Array.from({ length: 100 }, (_, i) => i);
    expect(summaryOf(values.slice(0, 58)).tolerance).to.deep.equal({
      content: 0.95,
      confidence: 0.95,
      lower: null,
      upper: null,
      two_sided: null,
      runs_needed: 59,
    });
    expect(summaryOf(values).tolerance).to.deep.include({ lower: 1, upper: 98, two_sided: [0, 99] });
  });

  it('text outputs are counted, most frequent first, the rare ones together', () => {
    const phases = [...Array<string>(3).fill('boost'), ...Array.from({ length: 21 }, (_, i) => `p${i}`)];
    const runs = phases.map((it): Run => ({ status: 'Completed', outputs: [['y', it]] }));
    const found = summaryOf([...runs, { status: 'Failed', reason: 'exit', outputs: [['y', 'boost']] }]);
    expect(found.text_values!.slice(0, 2)).to.deep.equal([
      { value: 'boost', count: 3 },
      { value: 'p0', count: 1 },
    ]);
    expect(found.text_values!.at(-1)).to.deep.equal({ value: null, count: 2 });
    expect(found.count).to.equal(0);
    expect(summaryOf([1])).not.to.have.property('text_values');
  });

  it('a summary says first of how many runs it speaks', () => {
    const requirement = { name: 'r', output: 'y', condition: '< 3', probability: 0.5 };
    const found = summarizeStudy(tableOf([1, 2, 'lost'], { method: 'latin_hypercube' }), {
      requirements: [requirement],
    });
    expect(found.sentence).to.equal('statistics of 2 of 3 runs: 1 lost and left out');
    expect(found.warnings.map((it) => it.code)).to.deep.equal(['runs-left-out', 'not-independent', 'conservative']);
    expect(found.outputs.map((it) => it.name)).to.deep.equal(['y', 'execution_secs']);
    expect(found.outputs[0]!.quantiles).to.have.length(7);
    expect(found.requirements[0]).to.include({ passed: 2, unknown: 1 });
    expect(summarizeStudy(tableOf([1]), { units: new Map([['y', 'm']]) }).outputs[0]!.units).to.equal('m');
    expect(summarizeStudy(tableOf([1, 'open'])).sentence).to.equal(
      'unfinished study: statistics of 1 of 2 runs: 1 open and left out',
    );
    expect(() => summarizeStudy(tableOf([]), { confidence: 95 })).to.throw(RangeError, 'confidence is 95');
    expect(() => summarizeStudy(tableOf([]), { quantiles: [0.5, 95] })).to.throw(RangeError, 'quantiles holds 95');
  });

  it('a summary names the outputs whose mean is doubtful because they are skewed, and how many runs it needs', () => {
    // SciPy's skewness of nine 0 and one 1 is 8/3: 25 times its square is 177.8.
    const rare = [...Array<number>(9).fill(0), 1];
    expectClose(summaryOf(rare).skewness, 8 / 3, 1e-12, 'skewness');
    expect(summaryOf([2, 2, 2]).skewness).to.equal(null);
    const said = (values: readonly Run[], layout: Partial<TableLayout> = {}) =>
      summarizeStudy(tableOf(values, layout)).warnings.filter((it) => it.code === 'mean-skewed');
    expect(said(rare)[0]!.message).to.include('y (178)');
    expect(said(rare, { method: 'latin_hypercube' })).to.have.length(1);
    expect(said(Array.from({ length: 20 }, () => rare).flat())).to.deep.equal([]);
    for (const unaffected of [{ method: 'quasi_monte_carlo' }, { method: 'table' }] as const)
      expect(said(rare, unaffected)).to.deep.equal([]);
    expect(said(rare.map((it): Run => ({ status: 'Completed', outputs: [['y', it === 1]] })))).to.deep.equal([]);
  });

  it('failures are grouped by class and pattern, most frequent first', () => {
    const crash = (message: string): Run => ({ status: 'Failed', reason: 'exit', errorMessage: message });
    const runs: Run[] = [
      1,
      crash('no fuel at 3.2 s'),
      'cancelled',
      crash('no fuel at 4.1 s'),
      'open',
      'timeout',
      crash('nan'),
    ];
    const found = summarizeStudy(tableOf(runs, { runIds: Uint32Array.from(runs, (_, i) => 10 * i) })).failures;
    expect(found.map(({ id, ...rest }) => [/^[0-9a-f]{12}$/.test(id), rest])).to.deep.equal([
      [
        true,
        { class: 'crashed', pattern: 'no fuel at … s', count: 2, share: 0.5, example_run_id: 10, run_ids: [10, 30] },
      ],
      [true, { class: 'timeout', pattern: '(no message)', count: 1, share: 0.25, example_run_id: 50, run_ids: [50] }],
      [true, { class: 'crashed', pattern: 'nan', count: 1, share: 0.25, example_run_id: 60, run_ids: [60] }],
    ]);
    const many = summarizeStudy(tableOf(times(1500, crash('nan')))).failures[0]!;
    expect([many.count, many.run_ids.length, many.id]).to.deep.equal([1500, 1000, found[2]!.id]);
  });

  it('worst cases are the most extreme completed runs, of equal ones the earlier, each with its replay', () => {
    const table = tableOf([5, 9, 'crashed', 1, 9, NaN, 7]);
    const ids = (k: number, direction: 'largest' | 'smallest') =>
      worstRuns(table, 'y', k, direction).runs.map((it) => it.run_id);
    expect([ids(3, 'largest'), ids(2, 'smallest'), ids(0, 'largest'), ids(99, 'largest')]).to.deep.equal([
      [1, 4, 6],
      [3, 0],
      [],
      [1, 4, 6, 0, 3],
    ]);
    const found = worstRuns(table, 'y', 1);
    expect(found.runs[0]).to.deep.equal({ run_id: 1, value: 9, replay: 'simbatch replay b1/1' });
    expect(found).to.deep.include({ n_used: 5, excluded: { crashed: 1, no_value: 1 } });
    expect(worstRuns(table, 'z', 3).runs).to.deep.equal([]);
    const family = tableOf([1, 2], { replicates: Uint16Array.of(0, 1), runIds: Uint32Array.of(0, 0) });
    expect(worstRuns(family, 'y', 1).runs[0]).to.include({ run_id: 0, replicate: 1 });
  });

  it('worst cases agree with sorting', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.nat(10), (values, k) => {
        const expected = values
          .map((value, row) => ({ value, row }))
          .sort((a, b) => b.value - a.value || a.row - b.row)
          .slice(0, k);
        expect(worstRuns(tableOf(values), 'y', k).runs.map((it) => it.run_id)).to.deep.equal(
          expected.map((it) => it.row),
        );
      }),
    );
  });
});
