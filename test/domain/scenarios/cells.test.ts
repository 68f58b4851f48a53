import { expect } from 'chai';
import fc from 'fast-check';
import { Cells, cellCount, cellsOf } from '../../../src/domain/scenarios/cells.ts';
import { selectedRuns } from '../../../src/domain/runs/run-selection.ts';
import { configHash } from '../../../src/domain/study/config-hash.ts';
import { studySampler } from '../../../src/domain/sampling/sampler.ts';
import { randomSeedOf } from '../../../src/domain/seed.ts';
import { runKey } from '../../../src/domain/reuse/run-key.ts';
import type { BatchConfig, SamplingMethod, Scenarios } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';

const SITES: Scenarios = {
  wind: { calm: {}, storm: { gust: { type: 'normal', mean: 20, std_dev: 4 } } },
  site: { b: { latitude: 69.3, mass: 5 }, a: { latitude: 67.9 } },
  skip: [{ site: 'a', wind: 'storm' }],
};

const configOf = (scenarios: Scenarios, method: SamplingMethod = 'monte_carlo', runs = 8): BatchConfig =>
  study({ runs, config: { monte_carlo: { sampling_method: method }, scenarios } }).config;

describe('domain/scenarios/cells', () => {
  it('numbers cells by the axes in the order of their names, the last varying fastest, levels as written', () => {
    const cells = new Cells(SITES);
    expect(cells.axes.map(({ name }) => name)).to.deep.equal(['site', 'wind']);
    expect(Array.from({ length: cells.count }, (_, cell) => cells.scenarioOf(cell))).to.deep.equal([
      { site: 'b', wind: 'calm' },
      { site: 'b', wind: 'storm' },
      { site: 'a', wind: 'calm' },
    ]);
    expect(cells.scenarioOf(1, ['wind'])).to.deep.equal({ wind: 'storm' });
    expect([cells.cellOf(7), cells.sampleOf(7)]).to.deep.equal([1, 2]);
    expect([cellCount({}), cellsOf({})]).to.deep.equal([1, undefined]);
  });

  it('skips every cell with all levels of an entry, whatever axes it names', () => {
    const levels = fc.integer({ min: 0, max: 2 });
    const entry = fc.dictionary(fc.constantFrom('x', 'y', 'z'), levels.map(String), { minKeys: 1 });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (skip) => {
        const axis = { '0': {}, '1': {}, '2': {} };
        const cells = new Cells({ x: axis, y: axis, z: axis, skip });
        const kept = new Set(Array.from({ length: cells.count }, (_, cell) => JSON.stringify(cells.scenarioOf(cell))));
        for (let place = 0; place < 27; place++) {
          const one = { x: String(Math.floor(place / 9)), y: String(Math.floor(place / 3) % 3), z: String(place % 3) };
          const isSkipped = skip.some((it) => Object.entries(it).every(([name, level]) => one[name as 'x'] === level));
          expect(kept.has(JSON.stringify(one))).to.equal(!isSkipped);
        }
      }),
    );
  });

  it('selects samples in every cell, and runs by their own numbers', () => {
    const { monte_carlo } = configOf(SITES);
    const ids = (design: object, cap?: number): string =>
      selectedRuns({ monte_carlo: { ...monte_carlo, ...design }, scenarios: SITES }, cap).toString();
    expect(ids({})).to.equal('0-23');
    expect(ids({}, 2)).to.equal('0-5');
    expect(ids({ run_ids: '1-2,6' })).to.equal('3-8,18-20');
    expect(ids({ run_ids: '0-4:2' })).to.equal('0-2,6-8,12-14');
    expect(ids({ cell_run_ids: '4,7' })).to.equal('4,7');
  });

  for (const method of ['monte_carlo', 'latin_hypercube', 'quasi_monte_carlo'] as const) {
    it(`gives a sample the same uniforms in every cell, and those of a study without scenarios: ${method}`, () => {
      const config = configOf(SITES, method);
      config.correlations = [{ parameters: ['mass', 'wind'], rank: 0.5 }];
      config.scenarios = { wind: { calm: {}, storm: { wind: { type: 'normal', mean: 1, std_dev: 2 } } } };
      const sampler = studySampler(config, 42);
      const { scenarios: _, ...plain } = config;
      const alone = studySampler(plain, 42);
      for (let sample = 0; sample < 8; sample++) {
        const expected = alone.uniforms(sample);
        for (const cell of [0, 1]) expect(sampler.uniforms(2 * sample + cell)).to.deep.equal(expected);
        expect(sampler.parameters(2 * sample)).to.deep.equal(alone.parameters(sample));
        expect(sampler.parameters(2 * sample + 1)['wind']).not.to.equal(alone.parameters(sample)['wind']);
      }
    });
  }

  it('omits a parameter that a cell does not have, keeps the dimension of a fixed one, and reads tables by sample', () => {
    const table = { type: 'table' as const, values: [10, 11, 12, 13, 14, 15, 16, 17] };
    const config = configOf({ ...SITES, day: { one: {}, two: { wind: table } }, skip: [] }, 'quasi_monte_carlo');
    const sampler = studySampler(config, 1);
    const cells = new Cells(config.scenarios);
    expect(sampler.names).to.deep.equal(['gust', 'latitude', 'mass', 'wind']);
    for (let run = 0; run < sampler.runs; run++) {
      const { scenario, sample } = sampler.scenarioOf!(run);
      expect({ scenario, sample }).to.deep.equal({
        scenario: cells.scenarioOf(run % cells.count),
        sample: Math.floor(run / cells.count),
      });
      const values = sampler.parameters(run);
      expect(Object.hasOwn(values, 'gust')).to.equal(scenario['wind'] === 'storm');
      expect(values['latitude']).to.equal(scenario['site'] === 'b' ? 69.3 : 67.9);
      if (scenario['day'] === 'two') expect(values['wind']).to.equal(10 + sample);
      const random = Array.from(sampler.uniforms(run), (it) => !Number.isNaN(it));
      expect(random).to.deep.equal([
        scenario['wind'] === 'storm',
        false,
        scenario['site'] === 'a',
        scenario['day'] === 'one',
      ]);
    }
    expect(() => sampler.parameters(sampler.runs)).to.throw(RangeError, 'is not one of');
  });

  it('seeds the noise of a sample alike in every cell, and has keys that differ by cell', () => {
    const seed = (run_id: number, sample?: number): number =>
      randomSeedOf({ run_id, metadata: { seed: 7, ...(sample === undefined ? {} : { sample }) } as never });
    expect([seed(8, 2), seed(7, 2)]).to.deep.equal([seed(2), seed(2)]);
    const { config } = study();
    const key = (scenario?: Record<string, string>): string =>
      runKey(config, { code: { digest: 'ab' }, parameters: {}, randomSeed: 1, scenario });
    expect(new Set([key(), key({ site: 'a' }), key({ site: 'b' }), key({ wind: 'a' })]).size).to.equal(4);
  });

  it('hashes the order of levels, which numbers the cells', () => {
    const hash = (scenarios: Scenarios): string => configHash(configOf(scenarios));
    expect(hash({ x: { a: {}, b: {} } })).not.to.equal(hash({ x: { b: {}, a: {} } }));
    expect(hash({ x: { a: {} }, y: { b: {} } })).to.equal(hash({ y: { b: {} }, x: { a: {} } }));
  });
});
