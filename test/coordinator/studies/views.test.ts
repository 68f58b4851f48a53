/** Named views of a study: kept, replaced, removed, bounded, and gone with the study. */
import { expect } from 'chai';
import { LIMITS } from '../../../src/contract/limits.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { all, codeOf, Scene } from '../../support/scene.ts';

describe('coordinator/studies/views', () => {
  it('keeps views in order of their names, across a restart, and replaces one of the same name', async () => {
    const scene = await Scene.open();
    const batch = await scene.submit({ runs: 1 });
    expect(await scene.api.views(batch)).to.deep.equal({ views: [] });
    await scene.api.keepView(batch, { name: 'tails', query: 'y=o.miss' });
    await scene.api.keepView(batch, { name: ' gusts ', query: 'select=p.gust:10..20' });
    const last = await scene.api.keepView(batch, { name: 'tails', query: 'y=o.drift' });
    expect(last.views.map((it) => `${it.name} ${it.query}`)).to.deep.equal([
      'gusts select=p.gust:10..20',
      'tails y=o.drift',
    ]);
    await scene.restart();
    expect(await scene.api.views(batch)).to.deep.equal(last);
    await scene.api.close();
  });

  it('changes nothing when a view is kept or removed again', async () => {
    const scene = await Scene.open();
    const batch = await scene.submit({ runs: 1 });
    const first = await scene.api.keepView(batch, { name: 'a', query: 'x' });
    await scene.world.advance(5_000);
    expect(await scene.api.keepView(batch, { name: 'a', query: 'x' })).to.deep.equal(first);
    expect(await scene.api.removeView(batch, 'b')).to.deep.equal(first);
    expect(await scene.api.removeView(batch, 'a')).to.deep.equal({ views: [] });
    expect(await scene.api.removeView(batch, 'a')).to.deep.equal({ views: [] });
    expect(scene.store.get(keys.views(batch))).to.equal(undefined);
    await scene.api.close();
  });

  it('refuses an empty name, an unknown study, and more views than are kept', async () => {
    const scene = await Scene.open();
    const batch = await scene.submit({ runs: 1 });
    expect(await codeOf(scene.api.keepView(batch, { name: '  ', query: '' }))).to.equal('invalid-request');
    expect(await codeOf(scene.api.removeView(batch, ' '))).to.equal('malformed-query');
    const unknown = '019b76da-a800-8a1b-8c2d-3e4f00000000';
    expect(await codeOf(scene.api.views(unknown))).to.equal('unknown-batch');
    expect(await codeOf(scene.api.keepView(unknown, { name: 'a', query: '' }))).to.equal('unknown-batch');
    expect(await codeOf(scene.api.removeView(unknown, 'a'))).to.equal('unknown-batch');
    for (let n = 0; n < LIMITS.views; n += 1) await scene.api.keepView(batch, { name: `view ${n}`, query: '' });
    expect(await codeOf(scene.api.keepView(batch, { name: 'one more', query: '' }))).to.equal('invalid-request');
    await scene.api.keepView(batch, { name: 'view 7', query: 'changed' });
    expect((await scene.api.views(batch)).views).to.have.length(LIMITS.views);
    await scene.api.close();
  });

  it('deletes them with the study, and leaves them out of its snapshot', async () => {
    const scene = await Scene.open();
    const batch = await scene.submit({ runs: 0 });
    await scene.api.keepView(batch, { name: 'a', query: 'x' });
    const { records } = await scene.api.exportSnapshot(batch);
    expect((await all(records)).map((it) => it.key.split('/')[0])).to.deep.equal(['batch', 'submission']);
    await scene.api.deleteBatch(batch);
    expect(scene.store.get(keys.views(batch))).to.equal(undefined);
    await scene.api.close();
  });
});
