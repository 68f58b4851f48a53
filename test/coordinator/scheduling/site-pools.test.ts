/** The pools of the coordinator: their use follows from the held attempts and the planned runs. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { RunnerContext } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { mayHave, SitePools } from '../../../src/coordinator/scheduling/site-pools.ts';

const A = '01900000-000a-8000-8000-000000000000';
const B = '01900000-000b-8000-8000-000000000000';
const held = (batchId: string, ...all: Record<string, number>[]): RunnerContext['held'] =>
  all.map((resources, at) => ({ jobId: jobId(batchId, at), attempt: 1, cpuMilli: 0, memoryBytes: 0, resources }));
const runner = (changes: object = {}) => ({
  capabilities: {
    max_concurrent_jobs: 4,
    cpu_cores: 0,
    memory_gb: 0,
    gpu_available: false,
    supported_simulation_types: [],
    ...changes,
  },
});

describe('coordinator/scheduling/site-pools', () => {
  it('never plans more than it has, whatever is held and asked for', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(amounts, amounts, fc.integer({ min: 1, max: 12 }), (holding, asked, total) => {
        const pools = new SitePools({ comsol: total }, () => [held(A, ...holding.map((comsol) => ({ comsol })))]);
        pools.begin();
        let used = holding.reduce((sum, it) => sum + it, 0);
        for (const comsol of asked) {
          if (!mayHave(runner(), { batchId: B, resources: { comsol } }, pools)) continue;
          pools.take({ comsol });
          used += comsol;
          expect(used).to.be.at.most(total);
        }
      }),
    );
  });

  it('keeps the rest of a pool for the study that asked for more than it first', () => {
    const pools = new SitePools({ comsol: 3 }, () => [held(A, { comsol: 2 })]);
    pools.begin();
    expect(pools.hasRoom({ comsol: 2 }, A)).to.equal(false);
    expect(pools.hasRoom({ comsol: 1 }, B)).to.equal(false);
    pools.begin();
    // More than there is at all is never had, and keeps nothing.
    expect(pools.hasRoom({ comsol: 4 }, A)).to.equal(false);
    expect(pools.hasRoom({ comsol: 1 }, B)).to.equal(true);
  });

  it('shows the use of each pool, by which studies, and the runs that wait for it', () => {
    const all = [held(A, { comsol: 1 }, { gpu: 1 }), [], held(B, { comsol: 2, gpu: 2 }, { comsol: 1 })];
    const pools = new SitePools({ comsol: 5, abaqus: 3 }, () => all);
    const waiting: { context: { resources?: Record<string, number> }; runs: number }[] = [
      { context: { resources: { comsol: 2 } }, runs: 3 },
      { context: { resources: { comsol: 1, gpu: 1 } }, runs: 4 },
      { context: { resources: { gpu: 1 } }, runs: 10 },
      { context: {}, runs: 100 },
    ];
    expect(pools.shown(waiting)).to.deep.equal([
      { name: 'comsol', total: 5, used: 4, waiting: 7, batches: [A, B] },
      { name: 'abaqus', total: 3, used: 0, batches: [] },
    ]);
    expect(pools.shown([], [held(B, { abaqus: 1 })])).to.deep.equal([
      { name: 'comsol', total: 5, used: 0, batches: [] },
      { name: 'abaqus', total: 3, used: 1, batches: [B] },
    ]);
  });

  it('a runner takes runs whose resources it states or a pool has, unless it is kept for others', () => {
    const pools = new SitePools({ comsol: 1 }, () => []);
    const may = (
      resources: Record<string, number> | undefined,
      capabilities: object,
      its: SitePools | undefined = pools,
    ): boolean => {
      its?.begin();
      return mayHave(runner(capabilities), { batchId: A, resources }, its);
    };
    expect(may({ gpu: 1 }, {})).to.equal(false);
    expect(may({ gpu: 1 }, { resources: { gpu: 1 } })).to.equal(true);
    expect(may({ comsol: 1 }, {})).to.equal(true);
    expect(may({ constructor: 1 }, {})).to.equal(false);
    expect(may(undefined, { only_with: ['gpu'] })).to.equal(false);
    expect(may({ comsol: 1 }, { only_with: ['gpu'] })).to.equal(false);
    expect(may(undefined, { resources: { gpu: 1 } })).to.equal(true);
    expect(mayHave({ ...runner(), waits: true }, { batchId: A, resources: { comsol: 1 } }, pools)).to.equal(false);
  });
});
