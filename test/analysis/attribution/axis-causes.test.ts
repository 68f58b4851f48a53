/** The levels of scenarios as causes of failures: found where they are one, named seldom where they are none, and not confounded by skipped cells. */
import { expect } from 'chai';
import { axisCauses } from '../../../src/analysis/attribution/axis-causes.ts';
import { failingGroups } from '../../../src/analysis/attribution/failing-groups.ts';
import { studyAttribution } from '../../../src/analysis/attribution/study-attribution.ts';
import type { Scenarios } from '../../../src/contract/types.ts';
import type { RunTable } from '../../../src/analysis/table/run-table.ts';
import { Cells } from '../../../src/domain/scenarios/cells.ts';
import { uniformSource } from '../synthetic.ts';
import { type Run, tableOf } from '../tables.ts';

const LEVEL = { a: {}, b: {}, c: {} };

/** A table whose run ends as its cell and the random number of its sample say. */
function played(
  scenarios: Scenarios,
  samples: number,
  runOf: (scenario: Record<string, string>, u: number, sample: number) => Run,
  seed = 1,
): RunTable {
  const cells = new Cells(scenarios);
  const next = uniformSource(seed);
  const runs: Run[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const u = next();
    for (let cell = 0; cell < cells.count; cell++) runs.push(runOf(cells.scenarioOf(cell), u, sample));
  }
  return tableOf(runs, { method: 'scenarios', cells: { cells, method: 'monte_carlo' } });
}

const levelsOf = (table: RunTable, confidence = 0.95) =>
  axisCauses(table, table.cells!, failingGroups(table), confidence);

describe('analysis/attribution/axis-causes', () => {
  it('names the level that fails more often, with its counts, before any parameter', () => {
    const table = played({ site: LEVEL, wind: { calm: {}, storm: {} } }, 100, ({ wind }, u) =>
      u < (wind === 'storm' ? 0.3 : 0.1) ? 'crashed' : 0,
    );
    const answer = studyAttribution(table);
    const { levels = [], failing } = answer;
    const storm = levels[0]!;
    expect(levels.map((it) => [it.axis, it.level, it.told_apart])).to.deep.equal([
      ['wind', 'storm', true],
      ['wind', 'calm', true],
      ['site', 'a', false],
      ['site', 'b', false],
      ['site', 'c', false],
    ]);
    expect(storm.of).to.equal(300);
    expect(storm.difference).to.be.closeTo((storm.failing - (failing - storm.failing)) / 300, 1e-12);
    expect(levels[1]!.difference).to.equal(-storm.difference!);
    expect(levels[2]!.difference).to.equal(0);
    expect(answer.sentence).to.contain(
      `by scenario, wind = storm: ${storm.failing} of ${failing} failures, in 50 % of the runs, `,
    );
    expect(storm.sentence).to.match(/ percentage points more often than with the other levels$/);
    expect(levels[1]!.sentence).to.match(/ percentage points less often than with the other levels$/);
    expect(answer.sentence).to.not.contain('no cause of failures can be named');
  });

  it('compares cells that are alike in the other axes, so that skipped cells confound nothing', () => {
    // Storms fail at every site alike, and only one site has them.
    const skip = [
      { site: 'b', wind: 'storm' },
      { site: 'c', wind: 'storm' },
    ];
    const table = played({ site: LEVEL, wind: { calm: {}, storm: {} }, skip }, 60, ({ wind }, u) =>
      u < (wind === 'storm' ? 0.5 : 0.1) ? 'terminated' : 0,
    );
    const levels = levelsOf(table);
    const site = levels.find((it) => it.axis === 'site' && it.level === 'a')!;
    expect([site.difference, site.told_apart]).to.deep.equal([0, false]);
    expect(levels[0]).to.include({ axis: 'wind', level: 'storm', told_apart: true });
  });

  it('compares a parameter that a level adds over its own runs, and keeps the runs of the other cells', () => {
    const next = uniformSource(3);
    // A heavy run fails everywhere, and a gust above 0.8 fails too; the calm cells have no gust.
    const scenarios = { site: { a: {}, b: {} }, wind: { calm: {}, storm: {} } };
    const table = played(scenarios, 100, ({ site, wind }, _, sample) => {
      const [mass, gust, height] = [sample / 100, next(), site === 'a' ? 1 : 2];
      const parameters = { mass, height, ...(wind === 'storm' ? { gust } : {}) };
      const fails = mass > 0.9 || (wind === 'storm' && gust > 0.8);
      return fails ? { status: 'Failed', reason: 'exit', parameters } : { status: 'Completed', parameters };
    });
    const { failing, passing, parameters, best_pair: pair, warnings, n_used: used } = studyAttribution(table);
    expect([failing + passing, used]).to.deep.equal([400, 400]);
    const [mass, gust] = ['mass', 'gust'].map((name) => parameters.find((it) => it.name === name)!);
    expect([mass!.told_apart, gust!.told_apart]).to.deep.equal([true, true]);
    expect(mass!.best_interval.sentence).to.match(/^mass >= 0\.(89|9).*of \d+ failures/);
    expect(gust!.best_interval.sentence).to.match(/^gust >= 0\.[78].*that have it$/);
    expect(parameters.map((it) => it.name)).to.include('height');
    expect(pair!.parameters.map((it) => it.name)).to.not.include('gust');
    const codes = warnings.map((it) => it.code);
    expect(codes).to.include('parameters-of-some-cells').and.not.include('parameters-missing');
    expect(codes).to.not.include('constant-parameters');
  });

  it('leaves out the runs in neither group, and has no difference where no sample has two levels', () => {
    const table = played({ site: { a: {}, b: {} } }, 40, ({ site }, u, sample) =>
      (sample % 2 === 0) === (site === 'a') ? 'cancelled' : u < 0.5 ? 'crashed' : 0,
    );
    const levels = levelsOf(table);
    expect(levels.map((it) => [it.of, it.difference, it.p, it.told_apart])).to.deep.equal([
      [20, null, 1, false],
      [20, null, 1, false],
    ]);
  });

  it('says nothing below five runs in a group, and has no levels without scenarios', () => {
    const table = played({ site: { a: {}, b: {} } }, 20, ({ site }, _, sample) =>
      site === 'a' && sample < 4 ? 'crashed' : 0,
    );
    expect(levelsOf(table)).to.deep.equal([]);
    expect(studyAttribution(table).levels).to.deep.equal([]);
    expect(studyAttribution(tableOf([0, 1, 'crashed']))).to.not.have.property('levels');
  });

  it('names a level without influence in at most one study of 20', () => {
    // Each run fails by a random number of its own and one of its sample: cells depend on each other.
    let wrong = 0;
    const own = uniformSource(9);
    for (let study = 0; study < 400; study++) {
      const table = played({ site: LEVEL, wind: LEVEL }, 30, (_, u) => (u + own() < 0.5 ? 'crashed' : 0), study + 1);
      if (levelsOf(table).some((it) => it.told_apart)) wrong++;
    }
    expect(wrong).to.be.at.most(20);
  });

  it('has the p-value of the bets: of samples that all differ in one direction', () => {
    const samples = 10;
    const table = played({ site: { a: {}, b: {} } }, samples, ({ site }) => (site === 'a' ? 'crashed' : 0));
    const [first] = levelsOf(table);
    // Each stake multiplies its capital by 1 + stake or 1 - stake with every sample, so that no p is below that of staking all, 2 / 2^10.
    expect(first).to.include({ level: 'a', difference: 1, told_apart: true });
    expect(first!.p)
      .to.be.above(2 ** (1 - samples))
      .and.below(0.025);
  });
});
