import { expect } from 'chai';
import { compareLevels } from '../../../src/analysis/scenarios/compare-levels.ts';
import { studentQuantile } from '../../../src/analysis/special/student.ts';
import { Cells } from '../../../src/domain/scenarios/cells.ts';
import type { RunTable } from '../../../src/analysis/table/run-table.ts';
import type { Scenario, Scenarios } from '../../../src/contract/types.ts';
import { type Run, tableOf } from '../tables.ts';

const TWO: Scenarios = { site: { a: {}, b: {} }, wind: { calm: {}, storm: {} } };
const SAMPLES = 12;

function tableOfCells(scenarios: Scenarios, runOf: (sample: number, scenario: Scenario) => Run): RunTable {
  const cells = new Cells(scenarios);
  const runs = Array.from({ length: SAMPLES * cells.count }, (_, run) =>
    runOf(cells.sampleOf(run), cells.scenarioOf(cells.cellOf(run))),
  );
  return tableOf(runs, { method: 'scenarios', cells: { cells, method: 'monte_carlo' } });
}

/** A large value that all cells of a sample share, and a small effect of the storm. */
const value = (sample: number, { site, wind }: Scenario): number =>
  1000 * Math.sin(sample) + (wind === 'storm' ? 1 + 0.1 * Math.cos(3 * sample) + (site === 'b' ? 0.5 : 0) : 0);
const levels = { level: 'wind:calm', with: 'wind:storm' };

describe('analysis/scenarios/compare-levels', () => {
  it('takes the t interval of the differences of samples, averaged over the other axes', () => {
    const answer = compareLevels(tableOfCells(TWO, value), levels);
    if (!answer.paired) throw new Error('not paired');
    const differences = Array.from({ length: SAMPLES }, (_, i) => 1.25 + 0.1 * Math.cos(3 * i));
    const mean = differences.reduce((a, b) => a + b) / SAMPLES;
    const sd = Math.sqrt(differences.reduce((sum, it) => sum + (it - mean) ** 2, 0) / (SAMPLES - 1));
    const half = (studentQuantile(0.975, SAMPLES - 1) * sd) / Math.sqrt(SAMPLES);
    const [y] = answer.outputs;
    expect([answer.pairs, y!.pairs]).to.deep.equal([SAMPLES, SAMPLES]);
    expect(y!.mean_difference).to.be.closeTo(mean, 1e-9);
    expect(y!.interval![0]).to.be.closeTo(mean - half, 1e-9);
    expect(y!.interval![1]).to.be.closeTo(mean + half, 1e-9);
    expect(answer.levels).to.deep.equal({ axis: 'wind', before: 'calm', after: 'storm', cells: 2, cells_left_out: 0 });
    expect([answer.of, answer.with.of]).to.deep.equal([2 * SAMPLES, 2 * SAMPLES]);
    expect(answer.sentence).to.match(
      /^wind=storm minus wind=calm, by sample, averaged over 2 pairs of cells; 12 pairs: /,
    );
  });

  it('leaves out cells that one level has alone, and samples that have not ended in every cell', () => {
    const skipped = { ...TWO, skip: [{ site: 'b', wind: 'storm' }] };
    const table = tableOfCells(skipped, (sample, scenario) =>
      sample === 3 && scenario['wind'] === 'storm' ? 'open' : value(sample, scenario),
    );
    const answer = compareLevels(table, levels);
    if (!answer.paired) throw new Error('not paired');
    expect([answer.pairs, answer.levels!.cells, answer.levels!.cells_left_out]).to.deep.equal([SAMPLES - 1, 1, 1]);
    expect(answer.warnings.map(({ code }) => code)).to.include.members(['cells-left-out', 'samples-left-out']);
  });

  it('counts a sample as failed where it fails in a cell, and its value as missing where a cell has none', () => {
    const table = tableOfCells(TWO, (sample, scenario) =>
      sample < 2 && scenario['wind'] === 'storm' && scenario['site'] === 'b' ? 'crashed' : value(sample, scenario),
    );
    const answer = compareLevels(table, levels);
    if (!answer.paired) throw new Error('not paired');
    expect([answer.flips.broke, answer.flips.passed_both]).to.deep.equal([[0, 1], SAMPLES - 2]);
    expect(answer.outputs[0]!.pairs).to.equal(SAMPLES - 2);
  });

  const REFUSED: [level: string, other: string, detail: string][] = [
    ['calm', 'wind:storm', 'level is "calm", which has no axis'],
    ['wind:calm', 'site:a', 'with is of the axis site and level of wind'],
    ['wind:calm', 'wind:calm', 'level and with are both calm'],
    ['wind:clam', 'wind:storm', 'did you mean "calm"?'],
  ];
  for (const [level, other, detail] of REFUSED)
    it(`refuses ${level} with ${other}`, () => {
      const table = tableOfCells(TWO, value);
      expect(() => compareLevels(table, { level, with: other })).to.throw(RangeError, detail);
    });

  it('refuses levels that share no cell, and a study without scenarios', () => {
    const skip = [
      { site: 'a', wind: 'calm' },
      { site: 'b', wind: 'storm' },
    ];
    const table = tableOfCells({ ...TWO, skip }, value);
    expect(() => compareLevels(table, levels)).to.throw(RangeError, 'share no cells');
    expect(() => compareLevels(tableOf([1, 2]), levels)).to.throw(RangeError, 'this one has none');
  });
});
