/** Histories and derived outputs that are refused, each with its place and a remedy; and the times that a declaration means. */
import { expect } from 'chai';
import { schemaFaults } from '../../../src/contract/validation/validate.ts';
import { BatchSubmission } from '../../../src/contract/study.ts';
import { pointCount, pointsOf } from '../../../src/domain/histories/points.ts';
import { submissionFaults } from '../../../src/domain/study/submission.ts';
import { study } from '../../support/studies.ts';

const GRID = { from: 0, to: 10, step: 0.5 };
const GOOD = { variable: 'nz_g', at: GRID };

/** `POINTER detail` of each fault of a study with these members, those of its schema first; the pointers without `/config`. */
function faultsOf(members: { histories?: unknown; derived?: unknown }): string[] {
  const submission = study({ config: members as never });
  return [...schemaFaults(BatchSubmission, submission), ...submissionFaults(submission)].map(
    ({ pointer, detail }) => `${pointer.replace('/config', '')} ${detail}`,
  );
}

describe('domain/histories: faults of histories', () => {
  it('accepts both forms of times, a name, an origin, and null or none for no history', () => {
    const points = [-1, 0, 0.5, 1e6];
    for (const histories of [
      [GOOD],
      [GOOD, { ...GOOD, name: 'other' }],
      [{ ...GOOD, at: { points }, interpolation: 'previous', origin: 'first(alt_m < 0)', units: 'g' }],
      [{ ...GOOD, at: { from: 3, to: 3, step: 1 } }],
      [],
      null,
    ])
      expect(faultsOf({ histories })).to.deep.equal([]);
  });

  const long = Array.from({ length: 2_049 }, (_, at) => at);
  const rows: [title: string, histories: unknown, fault: RegExp][] = [
    ['no list', GOOD, /^\/histories is an object; it must be an array/],
    ['too many', Array.from({ length: 33 }, (_, at) => ({ ...GOOD, name: `h${at}` })), /^\/histories .*32/],
    ['no variable', [{ at: GRID }], /^\/histories\/0\/variable is required$/],
    ['a misspelt member', [{ ...GOOD, unit: 'g' }], /^\/histories\/0\/unit is not known here, did you mean "units"\?/],
    ['an unknown interpolation', [{ ...GOOD, interpolation: 'cubic' }], /interpolation is "cubic".*linear, previous/],
    [
      'the same name twice',
      [GOOD, { ...GOOD, at: { points: [1] } }],
      /^\/histories\/1\/variable gives the history the name "nz_g", as \/config\/histories\/0 has; give one/,
    ],
    [
      'the name of another variable',
      [GOOD, { variable: 'alt', name: 'nz_g', at: GRID }],
      /^\/histories\/1\/name gives the history the name "nz_g"/,
    ],
    ['no times', [{ ...GOOD, at: {} }], /^\/histories\/0\/at has no `from`, `to`, `step`; give/],
    [
      'no step',
      [{ ...GOOD, at: { from: 0, to: 1 } }],
      /^\/histories\/0\/at has no `step`; give `from`, `to` and `step`/,
    ],
    ['both forms', [{ ...GOOD, at: { points: [1], to: 2 } }], /^\/histories\/0\/at\/to is given beside `points`; give/],
    ['no point', [{ ...GOOD, at: { points: [] } }], /^\/histories\/0\/at\/points is empty/],
    ['equal points', [{ ...GOOD, at: { points: [0, 1, 1] } }], /at\/points\/2 is 1, not above 1, the time before it/],
    ['descending points', [{ ...GOOD, at: { points: [2, 1] } }], /at\/points\/1 is 1, not above 2/],
    ['too many points', [{ ...GOOD, at: { points: long } }], /^\/histories\/0\/at\/points .*2,?048/],
    ['a step of 0', [{ ...GOOD, at: { ...GRID, step: 0 } }], /at\/step is 0, and must be above 0$/],
    ['a reversed range', [{ ...GOOD, at: { ...GRID, to: -1 } }], /at\/to is -1, before `from`, 0; exchange them$/],
    [
      'too small a step',
      [{ ...GOOD, at: { from: 0, to: 2047, step: 0.5 } }],
      /at\/step is 0.5, which gives 4095 times, and the limit is 2048; give a step of 1 or more$/,
    ],
    [
      'a step below the digits',
      [{ ...GOOD, at: { from: 1e17, to: 1e17 + 64, step: 1 } }],
      /at\/step is 1, too small for/,
    ],
    ['a control character', [{ ...GOOD, name: 'a\nb' }], /^\/histories\/0\/name /],
    [
      'an origin that is not an event',
      [{ ...GOOD, origin: 'alt < 0' }],
      /^\/histories\/0\/origin is "alt < 0": .* character 1; write/,
    ],
    [
      'an origin of many moments',
      [{ ...GOOD, origin: 'each(alt < 0)' }],
      /origin is "each\(alt < 0\)", any number of moments; write first/,
    ],
    ['a long origin', [{ ...GOOD, origin: 'x'.repeat(1_001) }], /^\/histories\/0\/origin .*1000/],
  ];
  for (const [title, histories, fault] of rows)
    it(`refuses ${title}`, () => {
      const faults = faultsOf({ histories });
      expect(faults).to.have.lengthOf(1);
      expect(faults[0]).to.match(fault);
    });
});

describe('domain/histories: times', () => {
  it('has the time `to` also where steps add up to a little more, and never exceeds it', () => {
    expect([...pointsOf({ from: 0, to: 0.3, step: 0.1 })]).to.deep.equal([0, 0.1, 0.2, 0.3]);
    expect([...pointsOf({ from: -1, to: 1.2, step: 0.5 })]).to.deep.equal([-1, -0.5, 0, 0.5, 1]);
    expect([...pointsOf({ points: [3, 7.5] })]).to.deep.equal([3, 7.5]);
    expect(pointCount({ from: 0, to: 60, step: 0.1 })).to.equal(601);
    expect(pointsOf({ from: 0, to: 60, step: 0.1 }).at(-1)).to.equal(60);
  });
});

describe('domain/histories: faults of derived outputs', () => {
  const forms = [
    ...['max', 'min', 'mean', 'first', 'last', 'integral', 'range'].map((take) => ({ take, telemetry: 'v' })),
    { take: 'max', telemetry: 'v', while: 'v > 3' },
    { take: 'value', telemetry: 'v', at: 'end' },
    { take: 'time', at: 'first(v > 3)' },
    { take: 'duration', while: 'v > 3' },
    { take: 'count', at: 'each(v > 3)' },
    { take: 'last_time_outside', telemetry: 'v', band: [-1, -1] },
    { expression: '1', units: 'm' },
  ];

  it('accepts each form', () => {
    expect(faultsOf({ derived: forms.map((it, at) => ({ name: `d${at}`, ...it })) })).to.deep.equal([]);
    expect(faultsOf({ derived: null })).to.deep.equal([]);
  });

  it('refuses each form without a member that it needs, and with another one', () => {
    const operands = { telemetry: 'v', while: 'v > 3', at: 'end', band: [0, 1] };
    for (const form of forms.filter((it) => 'take' in it)) {
      const given = Object.keys(form).filter((it) => it !== 'take' && !(it === 'while' && form.take === 'max'));
      for (const name of given) {
        const { [name as 'take']: _, ...rest } = form;
        const faults = faultsOf({ derived: [{ name: 'd', ...rest }] });
        expect(faults).to.have.lengthOf(1);
        expect(faults[0], `${form.take} without ${name}`).to.match(
          new RegExp(`^/derived/0/${name} is missing; .take: `),
        );
      }
      for (const [name, value] of Object.entries(operands)) {
        const mayHave = name in form || (name === 'while' && forms.slice(0, 7).some(({ take }) => take === form.take));
        const faults = faultsOf({ derived: [{ name: 'd', ...form, ...(name in form ? {} : { [name]: value }) }] });
        expect(faults.length, `${form.take} with ${name}`).to.equal(mayHave ? 0 : 1);
        if (!mayHave) expect(faults[0]).to.match(new RegExp(`^/derived/0/${name} does not belong here; .take: `));
      }
    }
  });

  const rows: [title: string, derived: unknown, fault: RegExp][] = [
    [
      'an unknown kind',
      [{ name: 'd', take: 'median', telemetry: 'v' }],
      /^\/derived\/0\/take is "median".*one of max, min/,
    ],
    [
      'neither kind nor expression',
      [{ name: 'd', telemetry: 'v' }],
      /^\/derived\/0 has neither `take` nor `expression`/,
    ],
    ['a kind and an expression', [{ name: 'd', take: 'max', expression: '1' }], /^\/derived\/0\/take is given beside/],
    [
      'an expression with telemetry',
      [{ name: 'd', telemetry: 'v', expression: '1' }],
      /^\/derived\/0\/telemetry is given/,
    ],
    [
      'a reversed band',
      [{ name: 'd', take: 'last_time_outside', telemetry: 'v', band: [1, 0] }],
      /band is \[1, 0\], reversed/,
    ],
    [
      'a band of three',
      [{ name: 'd', take: 'last_time_outside', telemetry: 'v', band: [1, 2, 3] }],
      /^\/derived\/0\/band /,
    ],
    ['no name', [{ expression: '1' }], /^\/derived\/0\/name is required$/],
    ['the time of the run', [{ name: 'execution_secs', expression: '1' }], /is "execution_secs", which every run has/],
    [
      'a name twice',
      [
        { name: 'd', expression: '1' },
        { name: 'd', expression: '2' },
      ],
      /^\/derived\/1\/name is "d", as is \/config\/derived\/0\/name/,
    ],
    [
      'a member of another one',
      [
        { name: 'd', expression: '1' },
        { name: 'd.x', expression: '2' },
      ],
      /^\/derived\/1\/name is "d.x", and \/config\/derived\/0\/name is "d": one reads as a member/,
    ],
    [
      'an unclosed event',
      [{ name: 'd', take: 'time', at: 'first(v > 3' }],
      /^\/derived\/0\/at is "first\(v > 3": .*character/,
    ],
    [
      'a single moment to count',
      [{ name: 'd', take: 'count', at: 'end' }],
      /^\/derived\/0\/at is "end", a single moment/,
    ],
    [
      'moments in place of one',
      [{ name: 'd', take: 'time', at: 'each(v > 3)' }],
      /at is "each\(v > 3\)", any number of moments/,
    ],
    ['half a condition', [{ name: 'd', take: 'duration', while: 'v >' }], /^\/derived\/0\/while is "v >": .*character/],
    ['half an expression', [{ name: 'd', expression: '1 +' }], /^\/derived\/0\/expression is "1 \+": .*character/],
    [
      'an unknown parameter',
      [{ name: 'd', expression: 'parameters.mas' }],
      /uses the parameter "mas".*did you mean "mass"\?$/,
    ],
    ['itself', [{ name: 'd', expression: 'outputs.d' }], /uses "d", itself; leave it out$/],
    [
      'a later one',
      [
        { name: 'd', expression: 'outputs.e' },
        { name: 'e', expression: '1' },
      ],
      /^\/derived\/0\/expression uses "e", \/config\/derived\/1, which is computed after it; exchange them$/,
    ],
    ['too many', Array.from({ length: 65 }, (_, at) => ({ name: `d${at}`, expression: '1' })), /^\/derived .*64/],
  ];
  for (const [title, derived, fault] of rows)
    it(`refuses ${title}`, () => {
      const faults = faultsOf({ derived });
      expect(faults).to.have.lengthOf(1);
      expect(faults[0]).to.match(fault);
    });

  it('lets a precision name a derived output without declaring it', () => {
    const policy = { stop_when: 'precise', precision: [{ output: 'peak', quantity: 'mean', half_width: 1 }] };
    const submission = {
      ...study({ config: { derived: [{ name: 'peak', expression: '1' }] } }),
      policy,
      outputs: { miss: { units: 'm' } },
    };
    expect(submissionFaults(submission)).to.deep.equal([]);
    submission.policy.precision[0]!.output = 'paek';
    expect(submissionFaults(submission)[0]?.detail).to.contain('did you mean "peak"?');
  });

  it('reports all faults of all of them at once, and none for members of another shape', () => {
    const derived = [{ name: 'a', take: 'max' }, { name: 'b', take: 'time' }, 7, { name: 4, take: [] }];
    const faults = submissionFaults(
      study({ config: { histories: [{ at: 3 }, null, { at: { points: ['a', 'b'] } }], derived } as never }),
    );
    expect(faults.map(({ pointer }) => pointer)).to.deep.equal(['/config/derived/0/telemetry', '/config/derived/1/at']);
  });
});
