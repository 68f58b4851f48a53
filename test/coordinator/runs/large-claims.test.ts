/** Claims of more runs than one turn assigns. */
import { expect } from 'chai';
import { CLAIMED_AT_ONCE } from '../../../src/domain/rules.ts';
import { codeOf, Scene } from '../../support/scene.ts';

const RUNS = 3 * CLAIMED_AT_ONCE;

describe('coordinator/runs: claims in several turns', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: RUNS });
    await scene.submit({ runs: RUNS + 5 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const heldByA = () => scene.api.parts.directory.state('runner', 'a')!.context.held;
  const all = Array.from({ length: RUNS }, (_, run) => run);

  it('give each run once, and count none of them as missing', async () => {
    expect(await scene.claim('a', RUNS, [])).to.deep.equal(all);
    expect(heldByA().map(({ missingSinceMs }) => missingSinceMs)).to.deep.equal(all.map(() => undefined));
  });

  it('give all of them again where the answer was lost', async () => {
    await scene.claim('a', RUNS, []);
    expect(await scene.claim('a', RUNS, [])).to.deep.equal(all);
    expect(await scene.claim('a', CLAIMED_AT_ONCE + 1, [])).to.deep.equal(all.slice(0, CLAIMED_AT_ONCE + 1));
  });

  it('take a run that is named twice for one, and give as many as were asked for', async () => {
    const given = await scene.claimRaw('a', 10);
    const [first] = given.assignments.map(({ job }) => ({ job_id: job.id, attempt: 1 }));
    expect(await scene.claim('a', CLAIMED_AT_ONCE + 6, [first!, first!])).to.have.length(CLAIMED_AT_ONCE + 6);
  });

  it('end when another process takes the place of the runner between two of them', async () => {
    const claiming = codeOf(scene.claim('a', RUNS, []));
    await scene.register('a', { slots: RUNS, instance: 'a-2', replaces: 'a-1', holding: [] });
    expect(await claiming).to.equal('wrong-instance');
    expect(heldByA().length).to.be.at.most(CLAIMED_AT_ONCE);
  });
});
