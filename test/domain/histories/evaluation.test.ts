/** Histories and derived outputs of streams, against a naive computation of whole arrays and against closed forms. */
import { expect } from 'chai';
import fc from 'fast-check';
import { SAMPLE_TAKES } from '../../../src/contract/enums.ts';
import type { DerivedConfig, HistoryConfig } from '../../../src/contract/types.ts';
import { type Evaluated, RunEvaluation } from '../../../src/domain/histories/stream/evaluation.ts';
import { planOf } from '../../../src/domain/histories/stream/plan.ts';
import { type OrderedValues, SampleBuffer } from '../../../src/domain/histories/stream/sample-buffer.ts';
import { times } from '../../support/properties.ts';
import { type Arrival, derivedOf, historyOf } from './naive.ts';

interface Study {
  histories?: HistoryConfig[];
  derived?: DerivedConfig[];
}

const copied = ({ times: at, variables, values }: OrderedValues): OrderedValues => ({
  times: at.slice(),
  variables: variables.slice(),
  values: values.slice(),
});

function evaluated(
  study: Study,
  arrivals: readonly Arrival[],
  held?: number,
): Evaluated & { late: Map<string, number> } {
  const kept: OrderedValues[] = [];
  const evaluation = new RunEvaluation(planOf(study), (ordered) => kept.push(copied(ordered)), held);
  for (const { variable, time, value } of arrivals) {
    evaluation.begin(time);
    const number = evaluation.plan.variables.indexOf(variable);
    if (number >= 0) evaluation.add(number, time, value);
  }
  evaluation.finish();
  for (const it of kept) evaluation.again(it);
  const values = { parameters: { r: 2, text: 'a' }, outputs: new Map<string, unknown>([['x', 3]]) };
  return { ...evaluation.evaluate(values), late: evaluation.late };
}

/** Equal, or equal to 1e-12 of the greater; NaN equals NaN. */
function expectClose(actual: number, wanted: number, what: string): void {
  if (Number.isNaN(wanted)) expect(actual, what).to.be.NaN;
  else
    expect(Math.abs(actual - wanted), `${what}: ${actual} for ${wanted}`).to.be.at.most(
      1e-12 * Math.max(1, Math.abs(wanted)),
    );
}

const variable = fc.constantFrom('a', 'b', 'c');
const arrival: fc.Arbitrary<Arrival> = fc.record({
  variable,
  time: fc.integer({ min: 0, max: 12 }).map((it) => it / 2),
  value: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: -3, max: 3 }) },
    { weight: 1, arbitrary: fc.constant(NaN) },
  ),
});
const comparison = fc
  .tuple(variable, fc.constantFrom('<', '<=', '>', '>=', '==', '!='), fc.integer({ min: -5, max: 5 }))
  .map(([name, operator, threshold]) => `${name} ${operator} ${threshold / 2}`);
const condition = fc.letrec<{ it: string }>((tie) => ({
  it: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    comparison,
    fc.tuple(tie('it'), fc.constantFrom('and', 'or'), tie('it')).map(([a, join, b]) => `(${a}) ${join} (${b})`),
    tie('it').map((it) => `not (${it})`),
  ),
})).it;
const event = fc.oneof(
  condition.map((it) => `first(${it})`),
  condition.map((it) => `last(${it})`),
  variable.map((it) => `first_max(${it})`),
  variable.map((it) => `first_min(${it})`),
  fc.constantFrom('start', 'end'),
);
const history: fc.Arbitrary<HistoryConfig> = fc.record(
  {
    variable,
    at: fc.constantFrom({ from: 0, to: 6, step: 0.25 }, { points: [-2, -0.3, 0, 0.1, 3] }),
    interpolation: fc.constantFrom('linear' as const, 'previous' as const),
    origin: event,
  },
  { requiredKeys: ['variable', 'at'] },
);
const anyOutput: fc.Arbitrary<DerivedConfig> = fc.oneof(
  fc.record(
    { name: fc.constant('d'), take: fc.constantFrom(...SAMPLE_TAKES), telemetry: variable, while: condition },
    { requiredKeys: ['name', 'take', 'telemetry'] },
  ),
  fc.record({ name: fc.constant('d'), take: fc.constant('value' as const), telemetry: variable, at: event }),
  fc.record({ name: fc.constant('d'), take: fc.constant('time' as const), at: event }),
  fc.record({ name: fc.constant('d'), take: fc.constant('duration' as const), while: condition }),
  fc.record({ name: fc.constant('d'), take: fc.constant('count' as const), at: condition.map((it) => `each(${it})`) }),
  fc.record({
    name: fc.constant('d'),
    take: fc.constant('last_time_outside' as const),
    telemetry: variable,
    band: fc.constantFrom<[number, number][]>([-1, 1], [0, 0], [-9, 9]),
  }),
);

describe('domain/histories/stream', () => {
  it('computes histories and derived outputs as their definitions say, of samples in any order', () => {
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 40 }), history, anyOutput, (arrivals, of, output) => {
        const found = evaluated({ histories: [of], derived: [output] }, arrivals);
        const wanted = historyOf(arrivals, of);
        for (const [index, it] of [...found.histories.get(of.variable)!].entries())
          expectClose(it, wanted[index]!, `point ${index}`);
        expect(found.empty.has(of.variable)).to.equal(wanted.every(Number.isNaN));
        const value = derivedOf(arrivals, output);
        expectClose(found.derived.get('d') ?? NaN, value, 'derived');
        expect(found.missing.has('d')).to.equal(Number.isNaN(value));
        expect(found.late.size).to.equal(0);
      }),
      { numRuns: times(1000) },
    );
  });

  it('computes the same where samples pass through a small buffer', () => {
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), history, anyOutput, (unordered, of, output) => {
        const arrivals = unordered.toSorted((a, b) => a.time - b.time);
        const [small, large] = [
          evaluated({ histories: [of], derived: [output] }, arrivals, 3),
          evaluated({ histories: [of], derived: [output] }, arrivals),
        ];
        expect(small).to.deep.equal(large);
      }),
      { numRuns: times(1000) },
    );
  });

  it('orders what arrives within the buffer, once for each time and variable, and counts the rest', () => {
    const numbered = fc.record({ variable: fc.nat(2), time: fc.nat(20), value: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(numbered, { maxLength: 400 }), fc.integer({ min: 3, max: 300 }), (arrivals, held) => {
        const passed: { time: number; variable: number; value: number }[] = [];
        let lasts = 0;
        const buffer = new SampleBuffer(
          3,
          ({ times: at, variables, values }, isLast) => {
            lasts += Number(isLast);
            for (const [index, time] of at.entries())
              passed.push({ time, variable: variables[index]!, value: values[index]! });
          },
          held,
        );
        const latest = new Map<string, number>();
        for (const { variable: of, time, value } of arrivals) {
          const before = buffer.late[of];
          buffer.add(of, time, value);
          if (buffer.late[of] === before) latest.set(`${time} ${of}`, value);
        }
        buffer.finish();
        expect(lasts).to.equal(1);
        for (const [index, it] of passed.entries()) expect(it.time).to.be.at.least(passed[index - 1]?.time ?? 0);
        expect(new Map(passed.map((it) => [`${it.time} ${it.variable}`, it.value]))).to.deep.equal(latest);
        expect(passed).to.have.length(latest.size);
        if (arrivals.length <= held) expect([...buffer.late]).to.deep.equal([0, 0, 0]);
      }),
    );
  });

  it('leaves out a value that arrives too late, and counts it', () => {
    const sorted = Array.from({ length: 30 }, (_, time) => ({ variable: 'a', time, value: time }));
    const found = evaluated(
      { derived: [{ name: 'd', take: 'min', telemetry: 'a' }] },
      [...sorted, { variable: 'a', time: 2.5, value: -1 }],
      5,
    );
    expect([...found.late]).to.deep.equal([['a', 1]]);
    expect(found.derived.get('d')).to.equal(0);
  });

  it('says of a variable of which every sample came too late that it did, and not that none arrived', () => {
    const sorted = Array.from({ length: 30 }, (_, time) => ({ variable: 'a', time, value: time }));
    const late = [1, 2, 3].map((time) => ({ variable: 'b', time, value: time }));
    const found = evaluated(
      {
        histories: ['a', 'b'].map((it) => ({ variable: it, at: { points: [2] } })),
        derived: [{ name: 'd', take: 'max', telemetry: 'b' }],
      },
      [...sorted, ...late],
      5,
    );
    const reason = 'no sample of "b" arrived in time: 3 came too late';
    expect([...found.late]).to.deep.equal([['b', 3]]);
    expect([...found.missing]).to.deep.equal([['d', reason]]);
    expect([...found.empty]).to.deep.equal([['b', reason]]);
    expect([...found.histories.get('a')!]).to.deep.equal([2]);
  });

  describe('of a throw without drag', () => {
    const [speed, gravity, rate] = [40, 9.80665, 1000];
    const flight = (2 * speed) / gravity;
    const throwOf = (order: (arrivals: Arrival[]) => Arrival[]): Evaluated => {
      const steps = Array.from({ length: Math.ceil(flight * rate) + 1 }, (_, step) => step / rate);
      const arrivals = steps.flatMap((time) => [
        { variable: 'z', time, value: speed * time - (gravity / 2) * time * time },
        { variable: 'vz', time, value: speed - gravity * time },
      ]);
      const derived: DerivedConfig[] = [
        { name: 'apogee', take: 'max', telemetry: 'z' },
        { name: 'apogee_at', take: 'time', at: 'first(vz < 0)' },
        { name: 'flight', take: 'time', at: 'first(z < 0)' },
        { name: 'first_50', take: 'time', at: 'first(z > 50)' },
        { name: 'last_50', take: 'time', at: 'last(z > 50)' },
        { name: 'above_50', take: 'duration', while: 'z > 50' },
        { name: 'rising_above_50', take: 'duration', while: 'z > 50 and vz > 0' },
        { name: 'mean_vz', take: 'mean', telemetry: 'vz', while: 'z >= 0' },
        { name: 'speed_at_50', take: 'value', telemetry: 'vz', at: 'first(z > 50)' },
        {
          name: 'check',
          expression: 'outputs.last_50 - outputs.first_50 - outputs.above_50 + parameters.r - outputs.x',
        },
      ];
      const histories: HistoryConfig[] = [
        { variable: 'z', at: { from: 0, to: 9, step: 0.5 } },
        { name: 'before', variable: 'z', at: { points: [-2, 0, 1] }, origin: 'first(vz < 0)' },
      ];
      return evaluated({ histories, derived }, order(arrivals));
    };
    const root = Math.sqrt(speed ** 2 - 2 * gravity * 50);

    for (const [title, order] of Object.entries<(arrivals: Arrival[]) => Arrival[]>({
      'in order': (it) => it,
      'backwards, within the buffer': (it) => it.toReversed(),
    }))
      it(`has the closed forms, ${title}`, () => {
        const { histories, derived, missing } = throwOf(order);
        expect([...missing]).to.deep.equal([]);
        const close = (name: string, wanted: number, tolerance: number): void => {
          expect(derived.get(name), name).to.be.closeTo(wanted, tolerance);
        };
        // The error of a linear crossing is at most g dt^2 / 8 over the speed there.
        close('apogee', speed ** 2 / (2 * gravity), 1e-5);
        close('apogee_at', speed / gravity, 1e-9);
        close('flight', flight, 1e-7);
        close('first_50', (speed - root) / gravity, 1e-6);
        close('last_50', (speed + root) / gravity, 1e-6);
        close('above_50', (2 * root) / gravity, 1e-6);
        close('rising_above_50', root / gravity, 1e-6);
        close('mean_vz', 0, 0.01);
        close('speed_at_50', root, 1e-5);
        close('check', -1, 1e-12);
        const z = [...histories.get('z')!];
        for (const [index, value] of z.entries()) {
          const time = index / 2;
          if (time > flight + 1 / rate) expect(value, `at ${time}`).to.be.NaN;
          else expect(value, `at ${time}`).to.be.closeTo(speed * time - (gravity / 2) * time * time, 1e-9);
        }
        const apogee = speed ** 2 / (2 * gravity);
        for (const [index, offset] of [-2, 0, 1].entries())
          expect(histories.get('before')![index]).to.be.closeTo(apogee - (gravity / 2) * offset * offset, 2e-6);
      });
  });

  const NONE: readonly Arrival[] = [];
  const reasons: [title: string, arrivals: readonly Arrival[], output: Omit<DerivedConfig, 'name'>, reason: string][] =
    [
      [
        'an unknown variable',
        [{ variable: 'z', time: 0, value: 1 }],
        { take: 'max', telemetry: 'zz' },
        'no sample of "zz" arrived',
      ],
      [
        'an unknown variable in a condition',
        [{ variable: 'z', time: 0, value: 1 }],
        { take: 'max', telemetry: 'z', while: 'v > 0' },
        'no sample of "v" arrived',
      ],
      [
        'NaN only',
        [{ variable: 'z', time: 0, value: NaN }],
        { take: 'mean', telemetry: 'z' },
        'every sample of "z" is NaN',
      ],
      ['no samples', NONE, { take: 'time', at: 'end' }, 'no telemetry arrived'],
      ['no samples for an event', NONE, { take: 'time', at: 'first(z > 0)' }, 'no sample of "z" arrived'],
      [
        'no event',
        [{ variable: 'z', time: 0, value: 1 }],
        { take: 'time', at: ' first(z > 3) ' },
        'there was no first(z > 3)',
      ],
      [
        'one sample',
        [{ variable: 'z', time: 0, value: 1 }],
        { take: 'mean', telemetry: 'z' },
        'no two neighbouring samples count',
      ],
      [
        'a condition that never holds',
        [{ variable: 'z', time: 0, value: 1 }],
        { take: 'max', telemetry: 'z', while: 'z > 5' },
        'the condition holds at no sample',
      ],
      [
        'an event outside of the samples',
        [
          { variable: 'z', time: 1, value: 1 },
          { variable: 'v', time: 2, value: 1 },
        ],
        { take: 'value', telemetry: 'z', at: 'end' },
        'end is at 2 s, before the first or after the last sample of "z"',
      ],
      [
        'a value that does not settle',
        [{ variable: 'z', time: 0, value: 9 }],
        { take: 'last_time_outside', telemetry: 'z', band: [0, 1] },
        'the last sample of "z" is outside',
      ],
      [
        'an infinite value',
        [{ variable: 'z', time: 0, value: Infinity }],
        { take: 'max', telemetry: 'z' },
        'the value is Infinity',
      ],
      ['an output that is missing', NONE, { expression: 'outputs.gone + 1' }, 'outputs.gone is missing'],
      ['a parameter that is a text', NONE, { expression: 'parameters.text' }, 'parameters.text is not a number'],
    ];
  for (const [title, arrivals, output, reason] of reasons)
    it(`has a reason for ${title}`, () => {
      const { missing, derived: values } = evaluated({ derived: [{ name: 'd', ...output }] }, arrivals);
      expect(missing.get('d')).to.equal(reason);
      expect(values.size).to.equal(0);
    });

  it('has a reason for a derived output that needs a missing one, and for a history without a value', () => {
    const study: Study = {
      histories: [
        { variable: 'z', at: { points: [5] } },
        { name: 'o', variable: 'z', at: { points: [0] }, origin: 'first(z > 5)' },
        { variable: 'v', at: { points: [0] } },
      ],
      derived: [
        { name: 'a', take: 'time', at: 'first(z > 5)' },
        { name: 'b', expression: 'outputs.a * 2' },
      ],
    };
    const { missing, empty } = evaluated(study, [{ variable: 'z', time: 0, value: 1 }]);
    expect(missing.get('b')).to.equal('outputs.a is missing: there was no first(z > 5)');
    expect([...empty]).to.deep.equal([
      ['z', 'no point of time is between its first and last sample'],
      ['o', 'there was no first(z > 5)'],
      ['v', 'no sample of "v" arrived'],
    ]);
  });
});
