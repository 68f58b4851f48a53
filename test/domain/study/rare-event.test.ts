/** The sizes, the requirement and the parameters that a study of rare events may have. */
import { expect } from 'chai';
import type { AdaptiveConfig, BatchSubmission } from '../../../src/contract/types.ts';
import { submissionFaults } from '../../../src/domain/study/submission.ts';
import { rareStudy } from '../../support/rounds.ts';

const AT = '/config/adaptive';

/** The pointers and details of the faults of a study with these sizes. */
function faultsOf(
  sizes: Partial<AdaptiveConfig>,
  change: (it: BatchSubmission) => void = () => {},
): [string, string][] {
  const submission = rareStudy();
  Object.assign(submission.config.adaptive!, sizes);
  change(submission);
  return submissionFaults(submission).map(({ pointer, detail }) => [pointer, detail]);
}

describe('domain/study/rare-event', () => {
  it('takes the sizes that it documents', () => {
    expect(faultsOf({})).to.deep.equal([]);
    expect(faultsOf({ confirm_runs: 1_000_000, confirm_part: 10_000 })).to.deep.equal([]);
    expect(faultsOf({ population: 20_000, width: 20_000, tune_runs: 20_000 })).to.deep.equal([]);
  });

  const refused: [sizes: Partial<AdaptiveConfig>, pointer: string, detail: RegExp][] = [
    [{ width: 30 }, `${AT}/width`, /does not divide the population of 100/],
    [{ width: 5 }, `${AT}/width`, /at least population x level_probability = 10 is needed/],
    [{ confirm_part: 201 }, `${AT}/confirm_part`, /^is 201, more than confirm_runs \(200\)/],
    [{ confirm_part: 1 }, `${AT}/confirm_part`, /^is 1; .* at most 100 rounds, .* need at least 2$/],
    [{ confirm_runs: 1_000_000, confirm_part: 9_999 }, `${AT}/confirm_part`, /need at least 10000$/],
  ];
  for (const [sizes, pointer, detail] of refused)
    it(`refuses ${JSON.stringify(sizes)}`, () => {
      const faults = faultsOf(sizes);
      expect(faults.map(([at]) => at)).to.deep.equal([pointer]);
      expect(faults[0]![1]).to.match(detail);
    });

  it('refuses a budget that is less than a search and a confirmation', () => {
    const [fault] = faultsOf({}, ({ config }) => (config.monte_carlo.runs = 399));
    expect(fault?.[0]).to.equal('/config/monte_carlo/runs');
    expect(fault?.[1]).to.match(/^is 399; .* = 400; give more, or 0 for 2000$/);
    expect(faultsOf({}, ({ config }) => (config.monte_carlo.runs = 400))).to.deep.equal([]);
  });

  it('refuses parameters without a random number, and more of them than the search takes', () => {
    const without = faultsOf({}, ({ config }) => {
      config.dispersions = { a: { distribution: { type: 'fixed', value: 1 }, units: '' } };
    });
    expect(without).to.have.deep.members([
      ['/config/dispersions', 'has no random parameter; a study of rare events needs at least one'],
    ]);
    const many = (count: number) => (it: BatchSubmission) => {
      const { a } = it.config.dispersions;
      it.config.dispersions = Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, a!]));
    };
    expect(faultsOf({}, many(1_000))).to.deep.equal([]);
    expect(faultsOf({}, many(1_001))[0]?.[1]).to.match(/^has 1001 random parameters; .* up to 1000$/);
  });
});
