/** The design of a probe by its rows. */
import { expect } from 'chai';
import { designOfRows } from '../../../src/domain/probe/design.ts';
import { type ProbePlan, probePlan } from '../../../src/domain/probe/plan.ts';
import { study } from '../../support/studies.ts';

const { config, ...rest } = study({ runs: 9 });
const dispersions = {
  mass: { distribution: { type: 'uniform' as const, min: 1, max: 3 }, units: 'kg' },
  drag: { distribution: { type: 'normal' as const, mean: 0, std_dev: 1 }, units: '' },
  g: { distribution: { type: 'fixed' as const, value: 9.81 }, units: 'm/s^2' },
};
const submission = { ...rest, config: { ...config, correlations: [], dispersions } };

const designOf = ({ submission: probe }: ProbePlan, rows: ProbePlan['rows']) =>
  designOfRows(probe.config, rows.length, (name) => (name in rows[0]! ? rows.map((row) => row[name]!) : undefined));

describe('domain/probe: design of rows', () => {
  for (const corners of [false, true])
    it(`is that of the plan, ${corners ? 'with' : 'without'} corners`, () => {
      const plan = probePlan(submission, corners);
      expect(designOf(plan, plan.rows)).to.deep.equal({ inputs: plan.inputs, roles: plan.roles });
    });

  it('is undefined where one value is not that of its role, and for another number of rows', () => {
    const plan = probePlan(submission, true);
    const { rows } = plan;
    // Each value but those that an input has at its own ends follows from the others.
    const free = new Set(['drag 1', 'drag 2', 'mass 3', 'mass 4']);
    for (const [run, row] of rows.entries())
      for (const name of ['drag', 'mass']) {
        if (free.has(`${name} ${run}`)) continue;
        const other = rows.map((it, at) => (at === run ? { ...row, [name]: row[name]! + 0.5 } : it));
        expect(designOf(plan, other), `${name} of run ${run}`).to.equal(undefined);
      }
    expect(designOf(plan, rows.slice(0, 4))).to.equal(undefined);
    expect(designOf(plan, rows.slice(0, 5))).not.to.equal(undefined);
    expect(designOf(plan, [...rows, rows[0]!])).to.equal(undefined);
    const { drag: _, ...withoutDrag } = rows[0]!;
    expect(designOf(plan, [withoutDrag, ...rows.slice(1)])).to.equal(undefined);
  });
});
