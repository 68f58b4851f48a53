import { expect } from 'chai';
import fc from 'fast-check';
import { studyFaults } from '../../../src/http/request/study-faults.ts';
import type { BatchConfig, Epistemic } from '../../../src/contract/types.ts';
import { probeFault } from '../../../src/domain/probe/plan.ts';
import { studySampler } from '../../../src/domain/sampling/sampler.ts';
import { cellsOf } from '../../../src/domain/scenarios/cells.ts';
import { numbersOf } from '../../../src/domain/scenarios/epistemic.ts';
import { configHash } from '../../../src/domain/study/config-hash.ts';
import { designHash } from '../../../src/domain/identity/design.ts';
import { study } from '../../support/studies.ts';

const BIAS: Epistemic = { mass: { interval: [-1, 1], levels: 3 } };
const configOf = (members: Partial<BatchConfig>): BatchConfig => study({ runs: 4, config: members }).config;

/** Faulty epistemic inputs with the pointer of the fault and a part of its detail. */
const FAULTS: [what: string, options: Parameters<typeof study>[0], pointer: string, detail: string][] = [
  ['no input', { config: { epistemic: {} } }, '', 'has no input; name at least one'],
  [
    'an interval the wrong way round',
    { config: { epistemic: { mass: { interval: [1, -1], levels: 2 } } } },
    '/mass/interval',
    'is [1, -1]; the first number must be less than the second',
  ],
  [
    'an empty interval',
    { config: { epistemic: { mass: { interval: [1, 1], levels: 2 } } } },
    '/mass/interval',
    'must be less than the second',
  ],
  [
    'an interval without a finite width',
    { config: { epistemic: { mass: { interval: [-1e308, 1e308], levels: 2 } } } },
    '/mass/interval',
    'give a narrower one',
  ],
  [
    'an interval with too few numbers',
    { config: { epistemic: { mass: { interval: [1, 1 + Number.EPSILON], levels: 5 } } } },
    '/mass/interval',
    'less than 5 different numbers',
  ],
  ['one level', { config: { epistemic: { mass: { interval: [0, 1], levels: 1 } } } }, '/mass/levels', '2'],
  [
    '272 combinations',
    { config: { epistemic: { mass: { interval: [0, 1], levels: 17 }, wind: { interval: [0, 1], levels: 16 } } } },
    '',
    'has 272 combinations of levels; at most 256 are allowed: give levels: 2',
  ],
  [
    'the name of an axis of scenarios',
    { config: { scenarios: { mass: { a: {} } }, epistemic: BIAS } },
    '/mass',
    'is an axis of scenarios too',
  ],
  [
    'a correlated input',
    { config: { correlations: [{ parameters: ['mass', 'wind'], rank: 0.5 }], epistemic: BIAS } },
    '/mass',
    'is of a correlated parameter',
  ],
  ['the name of a column', { config: { epistemic: { status: { interval: [0, 1], levels: 2 } } } }, '/status', 'column'],
];

describe('domain/scenarios/epistemic', () => {
  for (const [what, options, pointer, detail] of FAULTS)
    it(`refuses ${what}`, () => {
      const [fault] = studyFaults(study(options));
      expect(fault?.pointer).to.equal(`/config/epistemic${pointer}`);
      expect(fault?.detail).to.contain(detail);
    });

  it('refuses an input that a level of scenarios replaces', () => {
    const [fault] = studyFaults(study({ config: { scenarios: { site: { a: { mass: 1 } } }, epistemic: BIAS } }));
    expect(fault?.pointer).to.match(/^\/config\/(scenarios\/site\/a\/mass|epistemic\/mass)$/);
    expect(fault?.detail).to.contain('one axis replaces a parameter');
  });

  it('refuses a pooled requirement, since levels of an interval have no weights', () => {
    const pooled = { name: 'near', output: 'y', condition: '< 1', probability: 0.5, in: 'pooled' as const };
    const [fault] = studyFaults(study({ config: { epistemic: BIAS }, requirements: [pooled] }));
    expect([fault?.pointer, fault?.detail]).to.deep.equal([
      '/requirements/0/in',
      'is "pooled", and an epistemic input is not random, so that its levels have no weights; give each or worst',
    ]);
  });

  it('has the ends exactly, and numbers that ascend', () =>
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
        fc.integer({ min: 2, max: 256 }),
        (least, width, levels) => {
          const numbers = numbersOf({ interval: [least, least + width], levels });
          expect([numbers.length, numbers[0], numbers.at(-1)]).to.deep.equal([levels, least, least + width]);
          for (let at = 1; at < levels; at++) expect(numbers[at]).to.be.greaterThan(numbers[at - 1]!);
        },
      ),
    ));

  it('is an axis whose levels are numbers in ascending order, also where names of levels are whole numbers', () => {
    const cells = cellsOf(configOf({ epistemic: BIAS, scenarios: { site: { a: {}, b: {} } } }))!;
    expect(Array.from({ length: cells.count }, (_, cell) => cells.scenarioOf(cell))).to.deep.equal([
      { mass: '-1', site: 'a' },
      { mass: '-1', site: 'b' },
      { mass: '0', site: 'a' },
      { mass: '0', site: 'b' },
      { mass: '1', site: 'a' },
      { mass: '1', site: 'b' },
    ]);
  });

  it('has no cells of levels that are skipped, also where scenarios have no axis', () => {
    const config = configOf({ epistemic: BIAS, scenarios: { skip: [{ mass: '0' }] } });
    expect(studyFaults(study({ config: { epistemic: BIAS, scenarios: { skip: [{ mass: '0' }] } } }))).to.deep.equal([]);
    expect(cellsOf(config)!.count).to.equal(2);
  });

  it('gives every cell its number, and the same random numbers to all', () => {
    const config = configOf({ epistemic: BIAS });
    const [nested, plain] = [studySampler(config, 42), studySampler(configOf({}), 42)];
    for (let sample = 0; sample < 4; sample++)
      for (const [cell, value] of [-1, 0, 1].entries())
        expect(nested.parameters(3 * sample + cell)).to.deep.equal({ ...plain.parameters(sample), mass: value });
    expect(nested.runs).to.equal(12);
  });

  it('adds a parameter that no dispersion has', () => {
    const sampler = studySampler(configOf({ epistemic: { bias: { interval: [0, 0.5], levels: 2 } } }), 42);
    expect([0, 1].map((run) => sampler.parameters(run)['bias'])).to.deep.equal([0, 0.5]);
  });

  it('is of the design, and refused for a probe', () => {
    const [three, four] = [3, 4].map((levels) =>
      study({ config: { epistemic: { mass: { interval: [-1, 1], levels } } } }),
    );
    expect(configHash(three!.config)).not.to.equal(configHash(four!.config));
    expect(designHash(three!)).not.to.equal(designHash(four!));
    expect(probeFault(three!)?.pointer).to.equal('/config/epistemic');
  });
});
