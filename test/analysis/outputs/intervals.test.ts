/** Intervals that hold whatever the missing runs are, against SciPy and NumPy; how they are written for people. */
import { expect } from 'chai';
import fc from 'fast-check';
import { convergence } from '../../../src/analysis/outputs/convergence.ts';
import { intervalNote, meanText, quantileParts } from '../../../src/analysis/outputs/estimate-text.ts';
import type { StudySummary } from '../../../src/contract/types.ts';
import { summarizeOutput } from '../../../src/analysis/outputs/output-summary.ts';
import { summarizeStudy } from '../../../src/analysis/summary.ts';
import { joinTables } from '../../../src/analysis/table/join.ts';
import { expectClose, referenceData } from '../data.ts';
import { type Run, tableOf, times } from '../tables.ts';

type Ends = [number | null, number | null];

interface Reference {
  quantiles: {
    values: number[];
    ended: number;
    crashed: number;
    rule: string | null;
    p: number;
    confidence: number;
    value: number;
    interval: Ends;
    at_random: Ends;
    bounds: Ends | null;
  }[];
  shares: { true: number; of: number; confidence: number; interval: [number, number] }[];
}

const ended = (condition: string): Run => ({
  status: 'Failed',
  reason: 'early_termination',
  terminatedBy: { variable: 'y', condition },
});
const said = (value: boolean): Run => ({ status: 'Completed', outputs: [['y', value]] });
const crashed = (count: number): Run[] => times(count, 'crashed');

const expectEnds = (found: Ends | null, expected: Ends | null, label: string): void => {
  if (expected === null || found === null) expect(found, label).to.equal(expected);
  else for (const side of [0, 1]) expectClose(found[side]!, expected[side]!, 1e-9, label);
};

describe('analysis/outputs: intervals', () => {
  const reference = referenceData('intervals.json') as Reference;

  it('quantiles, their intervals and their bounds are those of the reference', () => {
    for (const row of reference.quantiles) {
      const { values, rule, p, confidence } = row;
      const runs: Run[] = [...values, ...(rule === null ? [] : times(row.ended, ended(rule))), ...crashed(row.crashed)];
      const label = `n ${values.length}, ${row.ended} ended by ${rule}, ${row.crashed} crashed, p ${p}`;
      const [found, atRandom] = (['any', 'at_random'] as const).map(
        (missing) => summarizeOutput(tableOf(runs), 'y', { confidence, quantiles: [p], missing }).quantiles[0]!,
      );
      expectClose(found!.value, row.value, 1e-9, label);
      expectEnds(found!.interval, row.interval, label);
      expectEnds(found!.bounds, row.bounds, label);
      expectEnds(atRandom!.interval, row.at_random, `${label}, missing at random`);
      const { points, bounds } = convergence(tableOf(runs), { output: 'y', quantity: { p }, confidence });
      expectEnds([points.at(-1)!.low, points.at(-1)!.high], row.interval, `${label}, convergence`);
      expectEnds(bounds, row.bounds, `${label}, convergence`);
    }
  });

  it('a study whose crashed runs are missing at random says so', () => {
    const table = tableOf([...Array.from({ length: 30 }, (_, i) => i), 'crashed', 'timeout', 'lost']);
    const codes = (missing: 'any' | 'at_random') => summarizeStudy(table, { missing }).warnings.map((it) => it.code);
    expect([codes('any').includes('missing-at-random'), codes('at_random').at(-1)]).to.deep.equal([
      false,
      'missing-at-random',
    ]);
    const request = { output: 'y', quantity: { p: 0.5 }, confidence: 0.9, missing: 'at_random' } as const;
    expect(convergence(table, request).warnings.map((it) => it.code)).to.include('missing-at-random');
  });

  it('the share of true values has the exact interval, and everything about it lies within 0 and 1', () => {
    for (const { true: k, of, confidence, interval } of reference.shares) {
      const runs = Array.from({ length: of }, (_, i) => said(i < k));
      const found = summarizeOutput(tableOf(runs), 'y', { confidence, quantiles: [0.05, 0.5] });
      expect(found.mean_method).to.equal('exact');
      expectEnds(found.mean_interval, interval, `${k} of ${of}`);
      const missing = summarizeOutput(tableOf([...runs, 'crashed', ended('> 3')]), 'y', {
        confidence,
        quantiles: [0.5],
      });
      for (const end of [...found.quantiles, ...missing.quantiles].flatMap((it) => [
        ...it.interval,
        ...(it.bounds ?? []),
      ]))
        expect(end).to.be.within(0, 1);
    }
  });

  it('the mean of booleans over replicates stays within 0 and 1; numbers among the booleans make an output of numbers', () => {
    const layout = {
      method: 'latin_hypercube',
      replicates: Uint16Array.of(0, 0, 1, 1),
      runIds: Uint32Array.of(0, 1, 0, 1),
    } as const;
    const options = { confidence: 0.95, quantiles: [] };
    const two = summarizeOutput(tableOf([said(true), said(true), said(true), said(false)], layout), 'y', options);
    expect(two).to.deep.include({ mean_method: 'replicates', mean_interval: [0, 1] });
    expect(summarizeOutput(tableOf([said(true), 1, 0]), 'y', options).mean_method).to.equal('t');
    const joined = (runs: Run[]) =>
      joinTables('b1', [
        { table: tableOf([said(true), said(false)]), replicate: 0 },
        { table: tableOf(runs), replicate: 1 },
      ]).booleans.has('y');
    expect([joined([said(true)]), joined(['crashed']), joined([1])]).to.deep.equal([true, true, false]);
  });

  it('no value is outside its interval or bounds but where the threshold of a rule excludes it', () => {
    const run = fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: -9, max: 9 }) },
      fc.constantFrom<Run>('crashed', 'lost', 'timeout', Number.NaN),
    );
    const p = fc.constantFrom(0.05, 0.25, 0.5, 0.75, 0.95);
    fc.assert(
      fc.property(fc.array(run, { maxLength: 200 }), p, (runs, q) => {
        const found = summarizeOutput(tableOf([1, ...runs]), 'y', { confidence: 0.95, quantiles: [q] }).quantiles[0]!;
        for (const [low, high] of [found.interval, ...(found.bounds === null ? [] : [found.bounds])])
          expect(found.value).to.be.within(low ?? -Infinity, high ?? Infinity);
      }),
    );
  });

  it('estimates are written with the digits that their intervals support', () => {
    const { quantiles, means, notes } = referenceData('estimate-texts.json') as {
      quantiles: { value: number; interval: Ends; bounds: Ends | null; text: string }[];
      means: { mean: number | null; interval: [number, number] | null; text: string }[];
      notes: { outputs: StudySummary['outputs']; text: string | null }[];
    };
    for (const { outputs, text } of notes) expect(intervalNote(outputs) ?? null).to.equal(text);
    for (const { text, ...estimate } of quantiles) expect(quantileParts(estimate).join(' ')).to.equal(text);
    for (const { mean, interval, text } of means) expect(meanText(mean, interval)).to.equal(text);
  });

  it('rounding never puts a value outside its bracket', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e18, max: 1e18 });
    fc.assert(
      fc.property(fc.array(number, { minLength: 3, maxLength: 3 }), (numbers) => {
        const [low, value, high] = [...Float64Array.from(numbers).sort()] as [number, number, number];
        const [text, bracket] = quantileParts({ value, interval: [low, high], bounds: null });
        const [from, to] = JSON.parse(bracket!) as [number, number];
        expect(Number(text)).to.be.within(from, to);
      }),
    );
  });
});
