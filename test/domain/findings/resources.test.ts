/** Findings about counted resources: one row per situation. */
import { expect } from 'chai';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import { BATCH_ID, situation, type RunnerSketch } from './support.ts';

const asks = (
  resources: Record<string, number>,
  runners: RunnerSketch[],
  rest: Partial<Situation> = {},
  jobs = { Pending: 5, Running: 0 },
): Situation => situation(jobs, runners, { demand: { cpuMilli: 0, memoryBytes: 0, resources }, ...rest });

const pool = (used: number): Pick<Situation, 'sitePools'> => ({
  sitePools: [{ name: 'comsol', total: 2, used, batches: used === 0 ? [] : [BATCH_ID] }],
});
const STARTING = 'waiting starting: 1 runner is free: waiting runs are claimed within seconds';

const TABLE: [string, Situation, string][] = [
  [
    'too few devices',
    asks({ gpu: 4 }, [{ resources: { gpu: 2 } }, { resources: { gpu: 1 } }]),
    'blocked too-large: one run asks for 4 gpu; no runner has as many (at most 2)',
  ],
  [
    'a name that no runner states',
    asks({ gpu: 1 }, [{}]),
    'blocked too-large: one run asks for 1 gpu; no runner has as many (none states any gpu)',
  ],
  [
    'more than the pool of the coordinator',
    asks({ comsol: 3 }, [{}], pool(0)),
    'blocked too-large: one run asks for 3 comsol; the coordinator holds 2 for all runners',
  ],
  [
    'each on another runner',
    asks({ gpu: 1, matlab: 1 }, [{ resources: { gpu: 1 } }, { resources: { matlab: 1 } }]),
    'blocked too-large: one run asks for 1 gpu, 1 matlab; no runner has all of them',
  ],
  [
    'runners that are kept for others',
    situation({ Pending: 5 }, [{ onlyWith: ['gpu'], resources: { gpu: 2 } }]),
    'blocked too-large: all runners are kept for runs that ask for gpu, and these ask for none',
  ],
  [
    'a pool in use',
    asks({ comsol: 1 }, [{}], pool(2)),
    'waiting resource-used: waits for comsol: 2 of 2 in use by study 0199a000',
  ],
  [
    'a pool in use by the study itself',
    asks({ comsol: 1 }, [{}], pool(2), { Pending: 5, Running: 2 }),
    'fine resource-used: waits for comsol: 2 of 2 in use by study 0199a000',
  ],
  ['a pool with room', asks({ comsol: 1 }, [{}], pool(1)), STARTING],
  ['a runner that has them', asks({ gpu: 1 }, [{ resources: { gpu: 1 } }]), STARTING],
];

describe('domain/findings/pool/resources', () => {
  for (const [name, given, expected] of TABLE) {
    it(name, () => {
      const [first] = findingsOf(given);
      expect(
        `${first?.severity ?? ''} ${first?.code ?? ''}: ${first?.message ?? ''}`.replace(/0199a000\S*/, '0199a000'),
      ).to.equal(expected);
    });
  }
});
