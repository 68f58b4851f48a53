/** The canary study of a submission, and submissions that cannot have one. */
import { expect } from 'chai';
import { canarySubmission } from '../../../src/domain/probe/canary.ts';
import { studyFaults } from '../../../src/http/request/study-faults.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { study } from '../../support/studies.ts';

describe('domain/probe: canary', () => {
  it('is a valid study of its nominal run, or of the corners too, without the judgement and the limits', () => {
    for (const [canary, wind] of [
      ['nominal', [0]],
      ['corners', [0, -4.9, 4.9]],
    ] as const) {
      const submission = study({
        name: 'x'.repeat(200),
        policy: { canary, max_failures: 1, reuse: 'all', priority: 2, code: 'pin' },
        config: { correlations: [{ parameters: ['mass', 'wind'], rank: 0.5 }] },
        requirements: [{ name: 'r', output: 'miss', condition: '< 1', probability: 0.5, confidence: 0.5 }],
      });
      const made = canarySubmission(submission)!;
      expect(studyFaults(JSON.parse(JSON.stringify(made)))).to.deep.equal([]);
      expect(made.name).to.equal(`${'x'.repeat(191)} (canary)`);
      expect(made.policy).to.deep.equal({ priority: 2, code: 'pin' });
      expect(made).to.not.have.property('requirements');
      expect(made.config).to.not.have.property('correlations');
      expect(made.config.monte_carlo).to.include({ runs: wind.length, sampling_method: 'monte_carlo' });
      expect(made.config.dispersions['wind']!.distribution).to.deep.equal({ type: 'table', values: wind });
    }
    expect(canarySubmission(study({ policy: { canary_runs: 1 } }))).to.equal(undefined);
  });

  it('is refused beside canary runs and for an adaptive study, with the remedy', () => {
    const faults = (submission: object) => studyFaults(JSON.parse(JSON.stringify(submission)));
    const [both, ...none] = faults(study({ policy: { canary: 'nominal', canary_runs: 1 } }));
    expect(none).to.deep.equal([]);
    expect(both).to.include({ pointer: '/policy/canary' });
    expect(both!.detail).to.contain('leave one of them out');
    const [adaptive] = faults({ ...adaptiveStudy({ runs: 5 }), policy: { canary: 'corners' } });
    expect(adaptive).to.include({ pointer: '/policy/canary' });
    expect(adaptive!.detail).to.contain('append the nominal point');
    expect(faults(study({ policy: { canary: 'both' as 'corners' } }))[0]).to.include({ pointer: '/policy/canary' });
  });
});
