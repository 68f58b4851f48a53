/** The lines of a p-box on a terminal of 80 columns. */
import { expect } from 'chai';
import { outputBox } from '../../../src/analysis/scenarios/box.ts';
import { boxLines } from '../../../src/cli/commands/analysis/scenarios/box-lines.ts';
import { cellsOf } from '../../../src/domain/scenarios/cells.ts';
import { tableOf } from '../../analysis/tables.ts';

const cells = cellsOf({ epistemic: { bias_mpa: { interval: [-40, 10], levels: 3 } } })!;
const runs = Array.from(
  { length: 60 },
  (_, run) => (run % 20) + Number(cells.scenarioOf(cells.cellOf(run))['bias_mpa']),
);
const table = tableOf(runs, { method: 'scenarios', cells: { cells, epistemic: ['bias_mpa'], method: 'monte_carlo' } });
const requirement = { name: 'holds', output: 'y', condition: '>= 0', probability: 0.9 };
const box = outputBox(table, { output: 'y', at: [0], requirements: [requirement] });

describe('cli/commands/analysis/scenarios/box-lines', () => {
  it('has a row for each bound of a figure with its cell, and the shares at the values asked for', () => {
    const text = boxLines(box, { width: 80 }, { query: { at: [0] } }).join('\n');
    expect(text).to.match(/FIGURE +BOUND +VALUE +INTERVAL +CELL/);
    expect(text).to.match(/mean +least +-30\.5 +-?[\d.]+ to -?[\d.]+ +bias_mpa=-40/);
    expect(text).to.match(/p95 +greatest +[\d.]+ .*bias_mpa=10/);
    expect(text).to.match(/passing holds +least +0 % .*bias_mpa=-40/);
    expect(text).to.match(/passing holds +greatest +100 % .*bias_mpa=10/);
    expect(text).to.match(/y <= 0 +0 % +100 %/);
    expect(text).to.contain('note: bounds are over the cells that were run');
    const tables = text.split('\n').filter((line) => !line.startsWith('note: ') && line !== box.sentence);
    for (const line of tables) expect(line.length, line).to.be.at.most(80);
  });

  it('has no curves where no value is asked for, and `-` for a figure that no cell has', () => {
    const lines = boxLines({ ...box, mean: null }, {}, { query: {} }).join('\n');
    expect(lines).to.not.contain('y <= 0');
    expect(lines).to.match(/mean +- +- +- +-/);
  });
});
