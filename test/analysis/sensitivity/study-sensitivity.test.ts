/** The sensitivity of a study with scenarios: an input of some cells leaves no run of the others out. */
import { expect } from 'chai';
import { studySensitivity } from '../../../src/analysis/sensitivity/study-sensitivity.ts';
import { Cells } from '../../../src/domain/scenarios/cells.ts';
import { uniformSource } from '../synthetic.ts';
import { type Run, tableOf } from '../tables.ts';

describe('analysis/sensitivity/study-sensitivity', () => {
  it('leaves an input out that only some cells have, says so, and uses the runs of all cells', () => {
    const cells = new Cells({ wind: { calm: {}, storm: {} } });
    const next = uniformSource(5);
    const runs: Run[] = [];
    for (let sample = 0; sample < 60; sample++) {
      const mass = next();
      for (let cell = 0; cell < cells.count; cell++) {
        const isStorm = cells.scenarioOf(cell)['wind'] === 'storm';
        const parameters = { mass, ...(isStorm ? { gust: next() } : {}) };
        runs.push({ status: 'Completed', parameters, outputs: [['range', 10 * mass]] });
      }
    }
    const table = tableOf(runs, { method: 'scenarios', cells: { cells, method: 'monte_carlo' } });
    const { n_used: used, parameters, warnings } = studySensitivity(table, 'range');
    expect(used).to.equal(120);
    expect(parameters.map(({ name }) => name))
      .to.include('mass')
      .and.not.include('gust');
    const warning = warnings.find(({ code }) => code === 'parameters-of-some-cells');
    expect(warning?.message).to.equal('not every cell has gust: left out, so that the runs of all cells count');
  });
});
