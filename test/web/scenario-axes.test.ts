/** Axes of scenarios in the form: what refers to a name follows it. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import type { BatchSubmission, Scenario } from '../../src/contract/types.ts';
import { study } from '../support/studies.ts';

type Change = (study: BatchSubmission, ...names: (string | null)[]) => BatchSubmission;
type Levels = [level: string, inputs: Record<string, unknown>][];

interface Axes {
  axesIn: (study: BatchSubmission) => [axis: string, levels: Levels][];
  skippedIn: (study: BatchSubmission) => Scenario[];
  freeName: (prefix: string, names: readonly string[]) => string;
  renameAxis: Change;
  renameLevel: Change;
  withAxis: Change;
  withLevels: (study: BatchSubmission, axis: string, levels: Levels) => BatchSubmission;
  withSkipped: (study: BatchSubmission, skip: readonly Scenario[]) => BatchSubmission;
}

const SCENARIOS = {
  site: { andoya: { mass: 90 }, esrange: {} },
  wind: { calm: {}, storm: {} },
  skip: [{ site: 'esrange', wind: 'storm' }, { wind: 'calm' }] as Scenario[],
};

function withScenarios(): BatchSubmission {
  const made = study({ config: { scenarios: SCENARIOS } });
  const weights = { site: { andoya: 0.7, esrange: 0.3 } };
  const pooled = { name: 'near', output: 'y', condition: '< 1', probability: 0.9, in: 'pooled' as const, weights };
  return { ...made, requirements: [pooled, { name: 'low', output: 'y', condition: '< 2', probability: 0.9 }] };
}

const weightsOf = (it: BatchSubmission) => it.requirements!.map(({ weights }) => weights);

describe('web/submit/scenarios/axes', () => {
  let { axesIn, skippedIn, freeName, renameAxis, renameLevel, withAxis, withLevels, withSkipped } = {} as Axes;
  before(async () => {
    const path = new URL('../../../web/src/submit/scenarios/axes.ts', import.meta.url).href;
    const loaded = (await tsImport(path, import.meta.url)) as Axes;
    ({ axesIn, skippedIn, freeName, renameAxis, renameLevel, withAxis, withLevels, withSkipped } = loaded);
  });

  it('renames an axis in its place, in the skipped cells and in the weights', () => {
    const renamed = renameAxis(withScenarios(), 'site', 'place');
    expect(axesIn(renamed).map(([name]) => name)).to.deep.equal(['place', 'wind']);
    expect(skippedIn(renamed)).to.deep.equal([{ place: 'esrange', wind: 'storm' }, { wind: 'calm' }]);
    expect(weightsOf(renamed)).to.deep.equal([{ place: { andoya: 0.7, esrange: 0.3 } }, undefined]);
    expect(axesIn(renamed)[0]![1][0]).to.deep.equal(['andoya', { mass: 90 }]);
  });

  it('renames a level of one axis, and leaves a level of another axis with the same name', () => {
    const twins = { ...SCENARIOS, wind: { calm: {}, esrange: {} }, skip: [{ site: 'esrange', wind: 'esrange' }] };
    const made = withScenarios();
    const renamed = renameLevel({ ...made, config: { ...made.config, scenarios: twins } }, 'site', 'esrange', 'kiruna');
    expect(axesIn(renamed).map(([, levels]) => levels.map(([it]) => it))).to.deep.equal([
      ['andoya', 'kiruna'],
      ['calm', 'esrange'],
    ]);
    expect(skippedIn(renamed)).to.deep.equal([{ site: 'kiruna', wind: 'esrange' }]);
    expect(weightsOf(renamed)[0]).to.deep.equal({ site: { andoya: 0.7, kiruna: 0.3 } });
  });

  it('removes what named a level or an axis that is removed, and the member with the last axis', () => {
    const level = renameLevel(withScenarios(), 'site', 'esrange', null);
    expect(skippedIn(level)).to.deep.equal([{ wind: 'calm' }]);
    expect(weightsOf(level)[0]).to.deep.equal({ site: { andoya: 0.7 } });
    const axis = renameAxis(withScenarios(), 'site', null);
    expect(skippedIn(axis)).to.deep.equal([{ wind: 'storm' }, { wind: 'calm' }]);
    expect(axis.requirements![0]).not.to.have.property('weights');
    const none = renameAxis(axis, 'wind', null);
    expect(none.config).not.to.have.property('scenarios');
  });

  it('adds axes, levels and skipped cells with free names', () => {
    expect(freeName('axis', ['axis_1', 'axis_3'])).to.equal('axis_4');
    const epistemic = { axis_3: { interval: [0, 1] as [number, number], levels: 2 } };
    const made = withScenarios();
    const added = withAxis({ ...made, config: { ...made.config, epistemic } });
    expect(axesIn(added).at(-1)).to.deep.equal([
      'axis_4',
      [
        ['level_1', {}],
        ['level_2', {}],
      ],
    ]);
    expect(skippedIn(added)).to.deep.equal(SCENARIOS.skip);
    const levels = withLevels(added, 'wind', [['calm', { gust: 3 }]]);
    expect(axesIn(levels)[1]).to.deep.equal(['wind', [['calm', { gust: 3 }]]]);
    expect(withSkipped(levels, []).config.scenarios).not.to.have.property('skip');
  });

  it('takes members of an undocumented shape as empty', () => {
    const broken = study({ config: { scenarios: { wind: null, site: { calm: 3 }, skip: 'all' } as never } });
    expect(axesIn(broken)).to.deep.equal([
      ['wind', []],
      ['site', [['calm', {}]]],
    ]);
    expect(skippedIn(broken)).to.deep.equal([]);
  });
});
