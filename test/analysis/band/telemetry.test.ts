/** The band of telemetry: its sample of runs, its quantiles, and runs that end before the others. */
import { expect } from 'chai';
import { telemetryBandOf as bandOfTable } from '../../../src/analysis/band/telemetry.ts';
import type { RunSamples } from '../../../src/analysis/table/drawn-telemetry.ts';
import { BAND_RUNS, bandSample } from '../../../src/analysis/band/sample.ts';
import { type Run, tableOf, times } from '../tables.ts';

/** A run that sends y = `value` + t at 0, 1, ... `end` seconds. */
function ramp(value: number, end: number): RunSamples {
  const secs = Float64Array.from({ length: end + 1 }, (_, second) => second);
  return { startSecs: 0, endSecs: end, variables: new Map([['y', { secs, values: secs.map((it) => value + it) }]]) };
}

/** The band of a study whose runs all have these samples. */
const telemetryBandOf = (runs: RunSamples[]) =>
  bandOfTable(tableOf(times(runs.length, 1)), { rows: [...runs.keys()], drawnFrom: runs.length, runs });

describe('analysis/band', () => {
  it('has the quantiles of the runs at each time, linear between samples', () => {
    const { seconds, present, variables } = telemetryBandOf([0, 10, 20, 30, 40].map((value) => ramp(value, 10)));
    expect([seconds[0], seconds[25], seconds.at(-1), seconds.length]).to.deep.equal([0, 0.5, 10, 501]);
    expect(new Set(present)).to.deep.equal(new Set([5]));
    const [{ name, runs, p5, median, p95 }] = variables as [(typeof variables)[0]];
    expect([name, runs]).to.deep.equal(['y', 5]);
    // Type 7 of 0, 10, 20, 30, 40: 0.2 of the way between the outer two.
    expect([p5[25], median[25], p95[25]]).to.deep.equal([2.5, 20.5, 38.5]);
    expect([p5[500], median[500], p95[500]]).to.deep.equal([12, 30, 48]);
  });

  it('uses a run up to its last sample and says how many are left', () => {
    const { present, variables } = telemetryBandOf([ramp(0, 2), ramp(100, 5), ramp(100, 10)]);
    const [{ present: values, median }] = variables as [(typeof variables)[0]];
    expect([100, 101, 250, 251, 500].map((at) => present[at])).to.deep.equal([3, 2, 2, 1, 1]);
    expect(values).to.deep.equal(present);
    expect(median[100]).to.equal(102);
    expect(median[101], 'the run that has ended pulls it no more').to.equal(100 + 101 * 0.02);
  });

  it('has nothing before the first and after the last sample of a variable', () => {
    const late = { secs: Float64Array.of(4, 6), values: Float64Array.of(1, 2) };
    const { variables } = telemetryBandOf([{ startSecs: 0, endSecs: 10, variables: new Map([['late', late]]) }]);
    const [{ present, median }] = variables as [(typeof variables)[0]];
    expect([199, 200, 250, 300, 301].map((at) => median[at])).to.deep.equal([null, 1, 1.5, 2, null]);
    expect([199, 200, 301].map((at) => present[at])).to.deep.equal([0, 1, 0]);
  });

  it('is empty without a run', () => {
    const { read, sentence, seconds, present, variables } = telemetryBandOf([]);
    expect({ read, sentence }).to.deep.equal({ read: 0, sentence: 'band of 0 of 0 runs' });
    expect([seconds, present, variables]).to.deep.equal([[], [], []]);
  });
});

describe('analysis/band: sample', () => {
  it('draws a bounded number of runs that ended by themselves, the same every time', () => {
    const runs: Run[] = Array.from({ length: 1000 }, (_, i) =>
      i % 10 === 0 ? 'cancelled' : i % 10 === 1 ? 'lost' : i % 10 === 2 ? 'terminated' : i,
    );
    const sample = bandSample(tableOf(runs));
    expect(sample).to.deep.equal(bandSample(tableOf(runs)));
    expect([sample.drawnFrom, sample.rows.length]).to.deep.equal([800, BAND_RUNS]);
    expect(sample.rows.filter((it) => it % 10 < 2)).to.deep.equal([]);
    expect(sample.rows).to.deep.equal(sample.rows.toSorted((a, b) => a - b));
    expect(new Set(sample.rows).size).to.equal(BAND_RUNS);
    // Drawn, not the first ones: of 64 runs, about half are of the second half.
    expect(sample.rows.filter((it) => it >= 500).length).to.be.within(16, 48);
  });

  it('leaves the compared run out and is else the same', () => {
    const table = tableOf(times(500, 1));
    const all = bandSample(table).rows;
    const others = bandSample(table, { without: all[7] }).rows;
    expect(others).to.not.include(all[7]);
    expect(others.filter((it) => all.includes(it)).length).to.equal(BAND_RUNS - 1);
    expect(bandSample(tableOf(times(5, 1)), { without: 2 }).rows).to.deep.equal([0, 1, 3, 4]);
  });

  it('is drawn from the rows that may be drawn', () => {
    const selected = Uint8Array.from({ length: 500 }, (_, row) => Number(row % 5 === 3));
    const { rows, drawnFrom } = bandSample(tableOf(times(500, 1)), { selected });
    expect([drawnFrom, rows.length, rows.every((it) => it % 5 === 3)]).to.deep.equal([100, BAND_RUNS, true]);
  });

  it('is drawn from the complete prefix, and keeps most of its runs as that grows', () => {
    const table = (ended: number) => tableOf([...times(ended, 1), 'open', ...times(100, 1)]);
    expect(bandSample(table(3))).to.deep.equal({ rows: [0, 1, 2], drawnFrom: 3 });
    const before = bandSample(table(1000)).rows;
    const after = bandSample(table(1050)).rows;
    expect(after.filter((it) => before.includes(it)).length).to.be.above(50);
  });
});
