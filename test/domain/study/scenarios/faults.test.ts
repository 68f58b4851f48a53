import { expect } from 'chai';
import { LIMITS } from '../../../../src/contract/limits.ts';
import { studyFaults } from '../../../../src/http/request/study-faults.ts';
import type { BatchSubmission, Scenarios } from '../../../../src/contract/types.ts';
import { study } from '../../../support/studies.ts';

const levels = (count: number, of: object = {}): Scenarios[string] =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, of])) as Scenarios[string];

const normal = { type: 'normal', mean: 0, std_dev: 1 } as const;
const TWO = { site: { a: {}, b: {} } };

/** Faulty studies with the pointer of the fault and a part of its detail. */
const FAULTS: [what: string, options: Parameters<typeof study>[0], pointer: string, detail: string][] = [
  ['no axis', { config: { scenarios: {} } }, '', 'has no axis'],
  ['an axis without a level', { config: { scenarios: { site: {} } } }, '/site', 'has no level'],
  [
    'two axes for one parameter',
    { config: { scenarios: { site: { a: { mass: 1 } }, wind: { b: { mass: 2 } } } } },
    '/wind/b/mass',
    'as the axis site does',
  ],
  [
    'an unknown axis in skip',
    { config: { scenarios: { ...TWO, skip: [{ sote: 'a' }] } } },
    '/skip/0/sote',
    'did you mean "site"?',
  ],
  [
    'an unknown level in skip',
    { config: { scenarios: { ...TWO, skip: [{ site: 'north' }] } } },
    '/skip/0/site',
    'is "north", which is not a level of site; name one of a, b',
  ],
  [
    'an axis in skip that no axis is like',
    { config: { scenarios: { ...TWO, skip: [{ pressure: 'a' }] } } },
    '/skip/0/pressure',
    'is not an axis of this study; name one of site',
  ],
  [
    'an unknown level of an axis of many',
    { config: { scenarios: { x: levels(30), skip: [{ x: 'none of them' }] } } },
    '/skip/0/x',
    ', and 10 more',
  ],
  ['an empty entry of skip', { config: { scenarios: { ...TWO, skip: [{}] } } }, '/skip/0', 'names no level'],
  [
    'a skip of every cell',
    { config: { scenarios: { ...TWO, skip: [{ site: 'a' }, { site: 'b' }] } } },
    '/skip',
    'skips every cell',
  ],
  ['10,100 cells', { config: { scenarios: { x: levels(101), y: levels(100) } } }, '', 'has 10100 cells'],
  ['10,001 cells', { config: { scenarios: { x: levels(73), y: levels(137) } } }, '', 'has 10001 cells'],
  ['a million combinations', { config: { scenarios: { x: levels(1000), y: levels(1000) } } }, '', 'has 1000000 cells'],
  [
    'seven axes',
    { config: { scenarios: Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`x${at}`, levels(1)])) } },
    '',
    `at most ${LIMITS.axes} are allowed: take some out`,
  ],
  ['the name of a column', { config: { scenarios: { status: levels(1) } } }, '/status', 'column of the table'],
  ['a separator', { config: { scenarios: { 'a,b': levels(1) } } }, '/a,b', 'has none of'],
  [
    'a number for a correlated parameter',
    {
      config: {
        correlations: [{ parameters: ['mass', 'wind'], rank: 0.5 }],
        scenarios: { site: { a: { mass: 3 } } },
      },
    },
    '/site/a/mass',
    'is of a correlated parameter',
  ],
  [
    'a degenerate distribution',
    { config: { scenarios: { site: { a: { mass: { ...normal, std_dev: -1 } } } } } },
    '/site/a/mass/std_dev',
    'must be >= 0',
  ],
  [
    'a chosen parameter',
    { config: { scenarios: { site: { a: { mass: { type: 'chosen' } } } } } },
    '/site/a/mass/type',
    'only an adaptive study',
  ],
];

/** Members that do not go with scenarios. */
const EXCLUDED: [what: string, change: (submission: BatchSubmission) => void, pointer: string][] = [
  [
    'saltelli',
    ({ config }) => Object.assign(config.monte_carlo, { sampling_method: 'saltelli', design: { indices: 'total' } }),
    '/config/monte_carlo/sampling_method',
  ],
  [
    'adaptive',
    ({ config }) => {
      config.monte_carlo.sampling_method = 'adaptive';
      config.adaptive = { algorithm: 'external' };
    },
    '/config/monte_carlo/sampling_method',
  ],
  ['canary', (it) => (it.policy = { canary: 'nominal' }), '/policy/canary'],
  [
    'a stop at a precision',
    (it) => {
      it.policy = { stop_when: 'precise', precision: [{ output: 'y', quantity: 'mean', half_width: 1 }] };
    },
    '/policy/stop_when',
  ],
  [
    'a stop of more than 1,000 cells',
    (it) => {
      it.config.scenarios = { x: levels(1001) };
      it.policy = { stop_when: 'settled' };
      it.requirements = [{ name: 'near', output: 'y', condition: '< 1', probability: 0.5 }];
    },
    '/policy/stop_when',
  ],
  [
    'run_ids beside cell_run_ids',
    ({ config }) => Object.assign(config.monte_carlo, { run_ids: '0', cell_run_ids: '0' }),
    '/config/monte_carlo/cell_run_ids',
  ],
  [
    'cell_run_ids beyond the runs of all cells',
    ({ config }) => Object.assign(config.monte_carlo, { cell_run_ids: '20' }),
    '/config/monte_carlo/cell_run_ids',
  ],
  ['too many runs', ({ config }) => (config.monte_carlo.runs = 2 ** 31 - 1), '/config/monte_carlo/runs'],
  [
    'eleven requirements in 10,000 cells',
    (it) => {
      it.config.scenarios = { x: levels(100), y: levels(100) };
      it.requirements = Array.from({ length: 11 }, (_, at) => ({
        name: `r${at}`,
        output: 'y',
        condition: '< 1',
        probability: 0.5,
      }));
    },
    '/requirements',
  ],
  [
    'single samples without end',
    ({ config }) => Object.assign(config.monte_carlo, { runs: 1_000_000, run_ids: '0-999998:2' }),
    '/config/monte_carlo/run_ids',
  ],
];

/** Members of a pooled requirement on a study of site and wind, the pointer below the requirement, a part of the detail. */
const REQUIREMENTS: [what: string, members: object, pointer: string, detail: string][] = [
  ['a missing weight', { weights: { site: { a: 1 } } }, '/weights/site', 'lacks the weight of "b"'],
  ['a weight of an unknown level', { weights: { site: { a: 1, b: 1, c: 1 } } }, '/weights/site/c', 'is not a level'],
  ['weights of an unknown axis', { weights: { sote: { a: 1 } } }, '/weights/sote', 'is not an axis'],
  ['weights that are all 0', { weights: { site: { a: 0, b: 0 } } }, '/weights/site', 'no weight above 0'],
  [
    'weights of skipped cells alone',
    { weights: { site: { a: 1, b: 0 }, wind: { c: 1, d: 0 } } },
    '/weights',
    'in the cells that are not skipped',
  ],
  ['weights without pooled', { in: 'worst', weights: { site: { a: 1, b: 1 } } }, '/weights', '`in: pooled`'],
  ['excluded runs', { terminated: 'exclude' }, '/terminated', 'every cell of every sample'],
  ['a negative weight', { weights: { site: { a: -1, b: 2 } } }, '/weights/site/a', ''],
];

describe('domain/study/scenarios/faults', () => {
  for (const [what, members, pointer, detail] of REQUIREMENTS)
    it(`refuses ${what} of a requirement`, () => {
      const pooled = { name: 'near', output: 'y', condition: '< 1', probability: 0.5, in: 'pooled', ...members };
      const scenarios = { site: { a: {}, b: {} }, wind: { c: {}, d: {} }, skip: [{ site: 'a', wind: 'c' }] };
      const [fault] = studyFaults(study({ config: { scenarios }, requirements: [pooled as never] }));
      expect(fault?.pointer).to.equal(`/requirements/0${pointer}`);
      expect(fault?.detail).to.contain(detail);
    });

  it('refuses cells of a requirement on a study without scenarios', () => {
    const near = { name: 'near', output: 'y', condition: '< 1', probability: 0.5 };
    const faults = studyFaults(study({ requirements: [{ ...near, in: 'each', weights: {} }] }));
    expect(faults.map((it) => it.pointer)).to.deep.equal(['/requirements/0/in', '/requirements/0/weights']);
  });

  for (const [what, options, pointer, detail] of FAULTS)
    it(`refuses ${what}`, () => {
      const [fault] = studyFaults(study(options));
      expect(fault?.pointer).to.equal(`/config/scenarios${pointer}`);
      expect(fault?.detail).to.contain(detail);
    });

  for (const [what, change, pointer] of EXCLUDED)
    it(`refuses ${what}`, () => {
      const submission = study({ config: { scenarios: TWO } });
      change(submission);
      expect(studyFaults(submission).map((it) => it.pointer)).to.include(pointer);
    });

  it('refuses cell_run_ids without scenarios, and an override that is neither a number nor a distribution', () => {
    const plain = studyFaults(study({ config: { monte_carlo: { cell_run_ids: '0' } } }));
    expect(plain.map((it) => it.pointer)).to.deep.equal(['/config/monte_carlo/cell_run_ids']);
    const text = studyFaults(study({ config: { scenarios: { site: { a: { mass: 'x' } } } } } as never));
    expect(text[0]?.pointer).to.equal('/config/scenarios/site/a/mass');
  });

  it('accepts a stop when requirements are settled, pooled ones too', () => {
    const requirement = { name: 'near', output: 'y', condition: '< 1', probability: 0.5, in: 'pooled' as const };
    const policy = { stop_when: 'settled' as const };
    expect(studyFaults(study({ config: { scenarios: TWO }, policy, requirements: [requirement] }))).to.deep.equal([]);
  });

  it('accepts 10,000 cells, and a study with names that only levels have', () => {
    expect(studyFaults(study({ config: { scenarios: { x: levels(100), y: levels(100) } } }))).to.deep.equal([]);
    expect(studyFaults(study({ config: { scenarios: { site: { a: { gust: normal } } } } }))).to.deep.equal([]);
  });
});
