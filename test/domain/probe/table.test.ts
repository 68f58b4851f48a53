/** The table of a probe: what was read, and what has an effect. */
import { expect } from 'chai';
import type { ProbePlan } from '../../../src/domain/probe/plan.ts';
import { idleInputs, probeTable, type ProbeRun, type ProbeTable } from '../../../src/domain/probe/table.ts';

const INPUT = { name: 'wind', units: 'm/s', low: -1, nominal: 0, high: 1 };
const plan = (it: Partial<typeof INPUT> = {}): Pick<ProbePlan, 'inputs' | 'roles'> => ({
  inputs: [{ ...INPUT, ...it }],
  roles: [
    { kind: 'nominal' },
    { kind: 'input', name: 'wind', end: 'low' },
    { kind: 'input', name: 'wind', end: 'high' },
  ],
});
const run = (run_id: number, outputs: object, more: Partial<ProbeRun> = {}): ProbeRun => ({
  run_id,
  class: 'ok',
  outputs: outputs as Record<string, unknown>,
  ...more,
});
const table = (runs: (object | Partial<ProbeRun>)[], it: Partial<typeof INPUT> = {}): ProbeTable =>
  probeTable(
    plan(it),
    runs.map((one, at) => ('outputs' in one ? run(at, one.outputs as object, one) : run(at, one))),
  );
const effect = (...[runs, it]: Parameters<typeof table>): string => table(runs, it).inputs[0]!.effect;

describe('domain/probe: table', () => {
  it('has an effect for one bit of one output, and none where every output is the same', () => {
    expect(effect([{ y: 0.1 }, { y: 0.1 }, { y: 0.1 }])).to.equal('none');
    expect(effect([{ y: 0.3 }, { y: 0.3 }, { y: 0.1 + 0.2 }])).to.equal('some');
    expect(effect([{ y: 0 }, { y: 0 }, { y: -0 }])).to.equal('some');
    expect(
      effect([
        { text: 'a', list: [1] },
        { text: 'a', list: [1] },
        { text: 'a', list: [2] },
      ]),
    ).to.equal('some');
    expect(effect([{ y: 1 }, { y: 1 }, { y: 1, z: 2 }])).to.equal('some');
    const deep = (value: number): object => ({ list: [1, { a: [value], __proto__: null }] });
    expect(effect([deep(0), deep(0), deep(0)])).to.equal('none');
    expect(effect([deep(0), deep(0), deep(-0)])).to.equal('some');
  });

  it('takes another end for an effect, and what the runner adds for none', () => {
    expect(effect([{ y: 1 }, { y: 1 }, { class: 'crashed', outputs: {} }])).to.equal('some');
    expect(effect([{ y: 1 }, { y: 1, simbatch_notes: ['slow'] }, { y: 1, 'simbatch_container.image': 'a' }])).to.equal(
      'none',
    );
  });

  it('knows nothing without outputs, of a lost run, and of an input that does not vary', () => {
    expect(effect([{}, {}, {}])).to.equal('unknown');
    expect(effect([{ y: 1 }, { y: 1 }, { class: 'lost', outputs: {} }])).to.equal('unknown');
    expect(effect([{ y: 1 }, { y: 1 }, { y: 1 }], { low: 0, high: 0 })).to.equal('unknown');
  });

  it('gives changes relative to the nominal run, where they can be', () => {
    const { at_high: high } = table([
      { y: -2, z: 0, t: 'a' },
      { y: -2, z: 0, t: 'a' },
      { y: -1, z: 5, n: 1 },
    ]).inputs[0]!;
    expect(high.changes).to.deep.equal([
      { output: 'y', nominal: -2, value: -1, relative: 0.5 },
      { output: 'z', nominal: 0, value: 5, relative: null },
      { output: 't', nominal: 'a', relative: null },
      { output: 'n', value: 1, relative: null },
    ]);
  });

  it('says that an input was never read when at least three completed runs with known look-ups have not', () => {
    const read = (...reads: ProbeRun['parameters_read'][]): string =>
      table(reads.map((it) => ({ outputs: { y: 1 }, ...(it === undefined ? {} : { parameters_read: it }) }))).inputs[0]!
        .read;
    expect(read([], ['mass'], [])).to.equal('never');
    expect(read([], undefined, [])).to.equal('unknown');
    expect(read([], undefined, ['wind'])).to.equal('read');
    expect(read('all', [], [])).to.equal('read');
  });

  it('lists the inputs that are never read or without effect', () => {
    const names = (it: ProbeTable): string[] => idleInputs(it).map(({ name }) => name);
    expect(names(table([{ y: 1 }, { y: 1 }, { y: 1 }]))).to.deep.equal(['wind']);
    expect(names(table([{ y: 1 }, { y: 1 }, { y: 2 }]))).to.deep.equal([]);
    const unread = { outputs: {}, parameters_read: [] };
    expect(names(table([unread, unread, unread]))).to.deep.equal(['wind']);
    expect(names(table([{}, {}, {}]))).to.deep.equal([]);
  });

  it('has the corners, and refuses another number of runs', () => {
    const { inputs, roles } = plan();
    const corners = {
      inputs,
      roles: [
        ...roles,
        { kind: 'corner' as const, end: 'low' as const },
        { kind: 'corner' as const, end: 'high' as const },
      ],
    };
    const runs = [1, 1, 1, 0.5, 2].map((y, at) => run(at, { y }));
    const found = probeTable(corners, runs).corners!;
    expect([found.low.changes[0]?.relative, found.high.changes[0]?.relative]).to.deep.equal([-0.5, 1]);
    expect(() => probeTable(corners, runs.slice(1))).to.throw(RangeError);
  });
});
