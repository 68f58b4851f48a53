/** Studies that runners refuse by their own settings: a warning at the submission, a finding while they wait, and no run for such a runner. */
import { expect } from 'chai';
import type { BatchSubmission, SubmissionWarning, Uuid } from '../../../src/contract/types.ts';
import { Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

describe('coordinator/studies: settings of runners', () => {
  let scene: Scene;
  beforeEach(async () => (scene = await Scene.open()));
  afterEach(() => scene.api.close());

  const register = (id: string, allowed?: string[], images?: string[]) =>
    scene.api.register({
      id,
      instance: `${id}-1`,
      capabilities: {
        max_concurrent_jobs: 5,
        cpu_cores: 0,
        memory_gb: 0,
        gpu_available: false,
        supported_simulation_types: [],
        ...(allowed === undefined ? {} : { environment_allowed: allowed }),
        ...(images === undefined ? {} : { container_runtime: 'podman', container_images: images }),
      },
    });
  const claim = async (id: string): Promise<number> =>
    (await scene.api.claim(id, { instance: `${id}-1`, max_jobs: 5 })).assignments.length;
  async function submit(
    environment: Record<string, string>,
    image = 'none',
  ): Promise<{ batchId: Uuid; warnings: SubmissionWarning[] }> {
    const submission: BatchSubmission = study({ runs: 10 });
    Object.assign(submission.config.compute.container, { environment, image });
    const { batch_id: batchId, warnings = [] } = await scene.api.submit(submission);
    return { batchId, warnings: warnings.filter(({ code }) => code.endsWith('-refused')) };
  }
  const codes = async (batchId: Uuid): Promise<string[]> => (await scene.api.findings(batchId)).map(({ code }) => code);

  it('a variable that no connected runner allows is named at the submission, and its runs wait for a runner that does', async () => {
    await register('r1', ['SIM_*']);
    await register('r2', ['SIM_*', 'TZ']);
    const { batchId, warnings } = await submit({ SIM_MODE: 'a', 'MY/~VAR': 'b' });
    expect(warnings.map(({ code, pointer }) => `${code} ${pointer}`)).to.deep.equal([
      'environment-refused /config/compute/container/environment/MY~1~0VAR',
    ]);
    expect(warnings[0]?.detail).to.contain('no connected runner allows the variable "MY/~VAR"');
    expect([await claim('r1'), await claim('r2')]).to.deep.equal([0, 0]);
    const [found] = (await scene.api.findings(batchId)).filter(({ code }) => code === 'settings-refuse');
    expect(found).to.include({ severity: 'blocked' });
    expect(found?.message).to.contain('"MY/~VAR" of `container.environment`');
    await register('r3', ['SIM_*', 'MY/*']);
    expect(await codes(batchId)).not.to.include('settings-refuse');
    expect([await claim('r1'), await claim('r3'), await claim('r2')]).to.deep.equal([0, 5, 0]);
  });

  it('a study without such a variable is executed before a study that waits', async () => {
    await register('r1', ['SIM_*']);
    await submit({ OTHER: 'x' });
    await submit({ SIM_A: 'x' });
    expect(await claim('r1')).to.equal(5);
  });

  it('no warning comes where a runner allows it, states nothing, or none is connected', async () => {
    expect((await submit({ OTHER: 'x' })).warnings).to.deep.equal([]);
    await register('old');
    expect((await submit({ OTHER: 'x' })).warnings).to.deep.equal([]);
    await register('r1', ['*']);
    expect((await submit({ OTHER: 'x' })).warnings).to.deep.equal([]);
    expect(await claim('r1')).to.equal(5);
    expect(await claim('old')).to.equal(5);
  });

  it('names all where each runner refuses another variable, and those of the runner itself under any pattern', async () => {
    await register('r1', ['A']);
    await register('r2', ['B']);
    const both = await submit({ A: '1', B: '2' });
    expect(both.warnings.map(({ pointer }) => pointer.split('/').at(-1))).to.have.members(['A', 'B']);
    await register('r3', ['*']);
    const { batchId, warnings } = await submit({ SVC_TOKEN: 'x' });
    expect(warnings.map(({ detail }) => detail).join()).to.contain('"SVC_TOKEN"');
    expect(await codes(batchId)).to.include('settings-refuse');
  });

  it('an image that no runner with a runtime allows waits as well', async () => {
    await register('r1', [], ['registry.example/*']);
    const refused = await submit({}, 'other/image:1');
    expect(refused.warnings.map(({ code }) => code)).to.deep.equal(['image-refused']);
    expect(await claim('r1')).to.equal(0);
    expect(await codes(refused.batchId)).to.include('settings-refuse');
    expect((await submit({}, 'registry.example/rocket:1')).warnings).to.deep.equal([]);
    expect(await claim('r1')).to.equal(5);
  });
});
