/** The runs that requirements take, against SciPy, and the warning of a study that has too few. */
import { expect } from 'chai';
import { planningWarnings, runsNeeded } from '../../../src/analysis/requirements/planning.ts';
import type { BatchSubmission } from '../../../src/contract/types.ts';

type Requirements = NonNullable<BatchSubmission['requirements']>;
const requirement = (probability: number, more: Partial<Requirements[0]> = {}): Requirements[0] => ({
  name: 'lands',
  output: 'range_m',
  condition: '<= 1',
  probability,
  ...more,
});

describe('analysis/requirements/planning', () => {
  // By SciPy: the least n with scipy.stats.beta.ppf(1 - c, n - f, f + 1) >= p.
  const CASES: [probability: number, confidence: number | undefined, needed: number[]][] = [
    [0.9, undefined, [29, 46, 61, 76]],
    [0.95, 0.95, [59, 93, 124, 153]],
    [0.99, 0.95, [299, 473, 628, 773]],
    [0.9973, 0.9, [852, 1440, 1970, 2473]],
    [0.5, 0.9, [4, 7, 9, 12]],
  ];
  for (const [probability, confidence, needed] of CASES) {
    it(`takes ${needed.join(', ')} runs for ${probability} at ${confidence ?? 0.95} with 0, 1, 2, 3 failures`, () => {
      const one = requirement(probability, confidence === undefined ? {} : { confidence });
      const at = (runs: number): unknown => runsNeeded({ requirements: [one] }, runs);
      expect(at(needed[0]!)).to.deep.equal([{ name: 'lands', runs_needed: needed, can_be_met: true }]);
      expect(at(needed[0]! - 1)).to.deep.equal([{ name: 'lands', runs_needed: needed, can_be_met: false }]);
    });
  }

  it('takes more runs where a requirement is judged run by run', () => {
    const once = { requirements: [requirement(0.9, { confidence: 0.9 })] };
    expect(runsNeeded(once, 100)[0]!.runs_needed[0]).to.equal(22);
    const settled = { ...once, policy: { stop_when: 'settled' as const } };
    expect(runsNeeded(settled, 100)[0]!.runs_needed[0]).to.equal(25);
  });

  it('warns of the requirements alone that cannot be met, at their place', () => {
    const requirements = [requirement(0.9), requirement(0.99, { name: 'holds' })];
    expect(planningWarnings({ requirements }, 60)).to.deep.equal([
      {
        code: 'requirement-cannot-be-met',
        pointer: '/requirements/1/probability',
        detail:
          '60 runs cannot meet "holds": 99 % at 95 % confidence takes 299 runs without a failure, 473 with 1, 628 with 2, 773 with 3; raise the number of runs',
      },
    ]);
    expect(planningWarnings({ requirements }, 299)).to.deep.equal([]);
    expect(planningWarnings({}, 1)).to.deep.equal([]);
  });
});
