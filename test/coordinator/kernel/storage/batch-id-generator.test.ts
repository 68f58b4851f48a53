/** Batches are listed in the order in which they were submitted, whatever the clock says. */
import { expect } from 'chai';
import { isBatchId } from '../../../../src/domain/ids.ts';
import type { Uuid } from '../../../../src/contract/types.ts';
import { all, Scene } from '../../../support/scene.ts';

describe('coordinator/kernel/storage/batch-id-generator', () => {
  let scene: Scene;
  const submitted: Uuid[] = [];
  const submit = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) submitted.push(await scene.submit());
  };
  const listed = async (): Promise<Uuid[]> => (await all(await scene.api.batches({}))).map((it) => it.id);

  beforeEach(async () => {
    scene = await Scene.open();
    submitted.length = 0;
  });

  it('in one millisecond', async () => {
    await submit(50);
    expect(submitted.every(isBatchId)).to.equal(true);
    expect(await listed()).to.deep.equal(submitted);
  });

  it('after the clock was set back, and after a restart', async () => {
    await submit(3);
    scene.world.setClock(scene.world.now() - 60_000);
    await submit(3);
    await scene.restart();
    await submit(3);
    scene.world.setClock(scene.world.now() + 120_000);
    await submit(3);
    expect(await listed()).to.deep.equal(submitted);
  });
});
