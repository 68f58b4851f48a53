/** The rows of a probe, and the study that executes them. */
import { expect } from 'chai';
import { probeFault, probePlan } from '../../../src/domain/probe/plan.ts';
import { studyFaults } from '../../../src/http/request/study-faults.ts';
import type { BatchSubmission, DistributionType } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';

function probed(distributions: Record<string, DistributionType>, change: (it: BatchSubmission) => void = () => {}) {
  const submission = study({ name: 'flight', runs: 500, seed: 3 });
  submission.config.dispersions = Object.fromEntries(
    Object.entries(distributions).map(([name, distribution]) => [name, { distribution, units: 'u' }]),
  );
  change(submission);
  return submission;
}
const WIND: DistributionType = { type: 'uniform', min: -5, max: 5 };
const FIXED: DistributionType = { type: 'fixed', value: 9.81 };

describe('domain/probe: plan', () => {
  it('has every input at its median, then each alone at its quantiles, and the corners on request', () => {
    const submission = probed({ wind: WIND, g: FIXED, lag: { type: 'table', values: [4, 1, 3, 2] } });
    const { inputs, rows, roles } = probePlan(submission, true);
    expect(inputs.map(({ low, nominal, high }) => [low, nominal, high])).to.deep.equal([
      [1, 2, 4],
      [-4.9, 0, 4.9],
    ]);
    expect(rows).to.deep.equal([
      { lag: 2, wind: 0 },
      { lag: 1, wind: 0 },
      { lag: 4, wind: 0 },
      { lag: 2, wind: -4.9 },
      { lag: 2, wind: 4.9 },
      { lag: 1, wind: -4.9 },
      { lag: 4, wind: 4.9 },
    ]);
    expect(roles.map((it) => `${it.kind} ${'name' in it ? it.name : ''} ${'end' in it ? it.end : ''}`)).to.deep.equal([
      'nominal  ',
      'input lag low',
      'input lag high',
      'input wind low',
      'input wind high',
      'corner  low',
      'corner  high',
    ]);
    expect(probePlan(submission).rows).to.have.length(5);
  });

  it('takes the quantiles of each distribution by itself, whatever its correlations are', () => {
    const submission = probed({ a: { type: 'normal', mean: 10, std_dev: 2 }, b: WIND }, (it) => {
      it.config.correlations = [{ parameters: ['a', 'b'], rank: 0.9 }];
    });
    const [a] = probePlan(submission).inputs;
    expect(a!.nominal).to.equal(10);
    expect(a!.low).to.be.closeTo(10 - 2 * 2.326_347_874, 1e-8);
    expect(a!.high).to.be.closeTo(10 + 2 * 2.326_347_874, 1e-8);
  });

  it('is a valid study with the label and without a judgement, whatever the study asks for', () => {
    const submission = probed({ wind: WIND, g: FIXED }, (it) => {
      it.labels = { campaign: 'x', 'simbatch.key': 'abc' };
      it.runs_override = 9;
      it.config.monte_carlo = { runs: 500, sampling_method: 'latin_hypercube', seed: 3, replicate: 1 };
      it.policy = { max_failures: '5%', canary_runs: 3, priority: 2 };
      it.requirements = [{ name: 'r', pass: 'y > 0', probability: 0.9, confidence: 0.9 }] as never;
    });
    const probe = probePlan(submission).submission;
    expect(studyFaults(JSON.parse(JSON.stringify(probe)))).to.deep.equal([]);
    expect(probe.labels).to.deep.equal({ campaign: 'x', probe: 'flight' });
    expect(probe.policy).to.deep.equal({ priority: 2 });
    expect(probe).not.to.have.any.keys('requirements', 'runs_override');
    expect(probe.config.monte_carlo).to.deep.equal({ runs: 3, sampling_method: 'adaptive', seed: 3 });
    expect(probe.config.dispersions['g']?.distribution).to.deep.equal(FIXED);
    expect(probe.config.dispersions['wind']).to.deep.equal({
      distribution: { type: 'chosen', lower: null, upper: null },
      units: 'u',
    });
    expect(submission.config.dispersions['wind']?.distribution).to.equal(WIND);
  });

  it('keeps names such as "__proto__"', () => {
    const submission = probed({ a: WIND });
    submission.config.dispersions = JSON.parse(
      '{"__proto__":{"distribution":{"type":"uniform","min":0,"max":1},"units":""}}',
    ) as typeof submission.config.dispersions;
    const { rows, submission: probe } = probePlan(submission);
    expect(Object.entries(rows[1]!)).to.deep.equal([['__proto__', 0.01]]);
    expect(Object.keys(probe.config.dispersions)).to.deep.equal(['__proto__']);
  });

  it('refuses a study without a dispersed input, with a chosen one, or with too many', () => {
    expect(probeFault(probed({ g: FIXED }))?.detail).to.include('no dispersed input');
    const chosen = probed({ 'a/b': { type: 'chosen', lower: null, upper: null } });
    expect(probeFault(chosen)?.pointer).to.equal('/config/dispersions/a~1b/distribution/type');
    const many = (count: number) =>
      probed(Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, WIND])));
    expect(probeFault(many(700))).to.equal(undefined);
    expect(probeFault(many(800))?.detail).to.include('800 dispersed inputs');
  });
});
