import { expect } from 'chai';
import { SimbatchError } from '../../../src/domain/errors.ts';
import type { EarlyTerminationConfig } from '../../../src/contract/types.ts';
import { describeHit, Watchdog, type ConditionHit } from '../../../src/runner/telemetry/early-termination.ts';

type Value = [variable: string, value: number];

/** A watchdog whose ticks the test makes. */
function watch(config: Partial<EarlyTerminationConfig>, conditions: [string, string, string][] = []) {
  const hits: ConditionHit[] = [];
  const list = conditions.map(([variable, condition, description]) => ({ variable, condition, description }));
  const watchdog = new Watchdog({ enabled: true, check_frequency_hz: 10, conditions: list, ...config }, (hit) =>
    hits.push(hit),
  );
  let tick: (() => void) | undefined;
  let periodMs: number | undefined;
  watchdog.start({
    every(ms, action) {
      periodMs = ms;
      tick = action;
      return () => {
        tick = undefined;
      };
    },
  });
  let time = 0n;
  const pass = (...values: Value[]): void => {
    for (const [variable, value] of values) watchdog.probe(variable)?.(value, { timestampNs: time });
    time += 1n;
  };
  return { watchdog, hits, pass, tick: () => tick?.(), ticking: () => tick !== undefined, periodMs };
}

describe('runner/watchdog', () => {
  const table: [what: string, conditions: [string, string, string][], samples: Value[][], hit: string][] = [
    ['a dip between two checks is not missed', [['h', '< 0', '']], [[['h', 1]], [['h', -1]], [['h', 1]]], 'h=-1 at 1'],
    [
      'the first in order of arrival wins',
      [
        ['a', '> 1', ''],
        ['b', '> 1', ''],
      ],
      [[['b', 2]], [['a', 2]]],
      'b=2 at 0',
    ],
    [
      'the first of two conditions on a variable',
      [
        ['a', '> 1', ''],
        ['a', '> 0', ''],
      ],
      [[['a', 2]]],
      'a=2 at 0',
    ],
    ['a later value does not replace the first', [['a', '> 1', '']], [[['a', 2]], [['a', 3]]], 'a=2 at 0'],
    ['NaN meets nothing', [['a', '!= 1', '']], [[['a', NaN]]], ''],
    ['infinities compare as usual', [['a', '> 1e300', '']], [[['a', -Infinity]], [['a', Infinity]]], 'a=Infinity at 1'],
    [
      'other variables do not count',
      [['a', '> 1', '']],
      [
        [
          ['b', 5],
          ['A', 5],
          ['__proto__', 5],
        ],
      ],
      '',
    ],
    ['a variable may have any name', [['__proto__', '> 1', '']], [[['__proto__', 5]]], '__proto__=5 at 0'],
    ['no condition, no hit', [], [[['a', 1]]], ''],
  ];
  for (const [what, conditions, samples, expected] of table) {
    it(what, () => {
      const { hits, pass, tick } = watch({}, conditions);
      for (const sample of samples) pass(...sample);
      expect(hits).to.deep.equal([]);
      tick();
      tick();
      expect(hits.map((hit) => `${hit.variable}=${hit.value} at ${hit.timestampNs}`).join()).to.equal(expected);
    });
  }

  it('evaluates nothing when it is not enabled, not even conditions that cannot be read', () => {
    const { watchdog, hits, pass, ticking } = watch({ enabled: false }, [
      ['a', '> 1', ''],
      ['b', 'nonsense', ''],
    ]);
    pass(['a', 5]);
    watchdog.check();
    expect([hits, ticking(), [...watchdog.variables]]).to.deep.equal([[], false, []]);
  });

  it('refuses a condition that cannot be read, naming it', () => {
    expect(() =>
      watch({}, [
        ['a', '> 1', ''],
        ['b', '=> 1', ''],
      ]),
    )
      .to.throw(SimbatchError, /"b".*written "<=" or ">="/)
      .with.nested.property('faults[0].pointer', '/early_termination/conditions/1/condition');
  });

  const frequencies: [frequencyHz: number, periodMs: number][] = [
    [10, 100],
    [1000, 1],
    [0.5, 2000],
    [0, 1],
    [-5, 1],
    [1e9, 1],
    [NaN, 1],
    [Infinity, 1],
  ];
  for (const [frequencyHz, periodMs] of frequencies) {
    it(`checks every ${periodMs} ms at ${frequencyHz} Hz`, () => {
      expect(watch({ check_frequency_hz: frequencyHz }, [['a', '> 1', '']]).periodMs).to.equal(periodMs);
    });
  }

  it('stops ticking after the hit, and reports it once', () => {
    const { watchdog, hits, pass, tick, ticking } = watch({}, [['a', '> 1', '']]);
    pass(['a', 2]);
    tick();
    watchdog.check();
    expect([hits.length, ticking()]).to.deep.equal([1, false]);
  });

  it('describes a hit with description, condition, variable, value and time', () => {
    const hit = { condition: '< 0', variable: 'altitude', value: -0.5, description: 'hit the ground' };
    const texts = [12_340_000_000n, -1n, 0n, 9_007_199_254_740_993_000n].map((timestampNs) =>
      describeHit({ ...hit, timestampNs }),
    );
    expect(texts).to.deep.equal([
      'terminated early: hit the ground: altitude < 0 was met by altitude = -0.5 at telemetry time 12.34 s (12340000000 ns)',
      'terminated early: hit the ground: altitude < 0 was met by altitude = -0.5 at telemetry time -0.000000001 s (-1 ns)',
      'terminated early: hit the ground: altitude < 0 was met by altitude = -0.5 at telemetry time 0 s (0 ns)',
      'terminated early: hit the ground: altitude < 0 was met by altitude = -0.5 at telemetry time 9007199254.740993 s (9007199254740993000 ns)',
    ]);
    expect(describeHit({ ...hit, description: ' ', timestampNs: 0n })).to.match(/^terminated early: altitude < 0/);
  });
});
