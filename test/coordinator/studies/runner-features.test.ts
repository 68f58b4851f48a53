/** Studies with histories or derived outputs go to runners that compute them, and say when none does. */
import { expect } from 'chai';
import type { BatchConfig, Uuid } from '../../../src/contract/types.ts';
import { Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

const HISTORIES: Partial<BatchConfig> = { histories: [{ variable: 'nz_g', at: { from: 0, to: 1, step: 0.5 } }] };
const SCENARIOS: Partial<BatchConfig> = { scenarios: { site: { andoya: { mass: 90 }, esrange: {} } } };
const EPISTEMIC: Partial<BatchConfig> = { epistemic: { bias: { interval: [-1, 1], levels: 2 } } };
const DERIVED: Partial<BatchConfig> = { derived: [{ name: 'peak_g', take: 'max', telemetry: 'nz_g' }] };

describe('coordinator/studies: features of runners', () => {
  let scene: Scene;
  beforeEach(async () => (scene = await Scene.open()));
  afterEach(() => scene.api.close());

  const register = (id: string, features?: string[]) =>
    scene.api.register({
      id,
      instance: `${id}-1`,
      capabilities: {
        max_concurrent_jobs: 5,
        cpu_cores: 0,
        memory_gb: 0,
        gpu_available: false,
        supported_simulation_types: [],
        ...(features === undefined ? {} : { features }),
      },
    });
  const claim = async (id: string): Promise<number> =>
    (await scene.api.claim(id, { instance: `${id}-1`, max_jobs: 5 })).assignments.length;
  async function submit(members: Partial<BatchConfig>): Promise<{ batchId: Uuid; warnings: string[] }> {
    const { batch_id: batchId, warnings = [] } = await scene.api.submit(study({ runs: 10, config: members }));
    const mine = warnings.filter(({ code }) => code === 'runner-too-old');
    return { batchId, warnings: mine.map(({ pointer, detail }) => `${pointer} ${detail}`) };
  }
  const codes = async (batchId: Uuid): Promise<string[]> => (await scene.api.findings(batchId)).map(({ code }) => code);

  for (const [name, members, pointer, feature, words, all] of [
    ['histories', HISTORIES, '/config/histories', 'histories', 'histories or derived outputs', 10],
    ['derived outputs', DERIVED, '/config/derived', 'histories', 'histories or derived outputs', 10],
    ['scenarios', SCENARIOS, '/config/scenarios', 'scenarios', 'scenarios', 20],
    ['epistemic inputs', EPISTEMIC, '/config/epistemic', 'scenarios', 'epistemic inputs', 20],
  ] as const)
    it(`runs of a study with ${name} wait for a runner that is new enough, which a warning and a finding say`, async () => {
      await register('old');
      await register('other', ['another feature']);
      const { batchId, warnings } = await submit(members);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(new RegExp(`^${pointer} every connected runner is too old for ${words}: `));
      expect([await claim('old'), await claim('other')]).to.deep.equal([0, 0]);
      const tooOld = (await scene.api.findings(batchId)).find(({ code }) => code === 'runner-too-old');
      expect(tooOld?.message).to.equal(`the study has ${words}, and all 2 runners for "rocket" are too old for them`);
      expect((await scene.api.demand()).runs).to.equal(0);
      await register('new', [feature]);
      expect(await codes(batchId)).not.to.include('runner-too-old');
      const { runs, demand } = await scene.api.demand();
      expect([runs, demand.map((it) => it.features)]).to.deep.equal([all, [[feature]]]);
      expect([await claim('old'), await claim('new')]).to.deep.equal([0, 5]);
      expect((await submit(members)).warnings).to.deep.equal([]);
    });

  it('an old runner gets every other study, and an empty list needs nothing', async () => {
    await register('old');
    expect((await submit({ histories: [], derived: null })).warnings).to.deep.equal([]);
    expect(await claim('old')).to.equal(5);
  });

  it('no warning comes while no runner is connected', async () => {
    expect((await submit(HISTORIES)).warnings).to.deep.equal([]);
  });
});
