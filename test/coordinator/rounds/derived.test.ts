/** Batches that come of adaptive studies, and snapshots of these: every run keeps the parameters of its row. */
import { expect } from 'chai';
import type { Uuid } from '../../../src/contract/types.ts';
import { importSnapshot } from '../../../src/coordinator/snapshots/import.ts';
import { readSnapshot } from '../../../src/coordinator/snapshots/read.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { all, codeOf, runOf, Scene } from '../../support/scene.ts';

describe('coordinator/rounds: batches that come of others', () => {
  let scene: Scene;
  let batch: Uuid;
  beforeEach(async () => {
    scene = await Scene.open();
    batch = (await scene.api.submit(adaptiveStudy())).batch_id;
    const rows = (first: number) => [0, 1, 2].map((at) => ({ r: (first + at) / 10, x: first + at }));
    await scene.api.appendRound(batch, { key: 'a', rows: rows(0) });
    await scene.api.appendRound(batch, { key: 'b', rows: rows(3), draws: [0, null, 1] });
    await scene.register('one', { slots: 10 });
    for (const run of await scene.claim('one', 10)) {
      await scene.start(batch, run, 'one');
      await scene.complete(batch, run, 'one');
    }
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const parametersOf = async (of: Uuid) =>
    (await all(await scene.api.jobs({ batch_id: [of] }))).map((job) => [runOf(job), job.run_config.parameters]);

  it('repeat runs with the same parameters, also when the original is deleted', async () => {
    const original = await parametersOf(batch);
    const { batch_id: whole } = await scene.api.rerunBatch(batch, { relation: 'comparison' });
    const { batch_id: part } = await scene.api.rerunBatch(batch, { select: { run_ids: '1,4-5' } });
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1, seed: 1 });
    await scene.api.closeBatch(batch);
    await scene.api.deleteBatch(batch);
    await scene.api.parts.purges.idle();
    await scene.restart();
    expect(await parametersOf(whole)).to.deep.equal(original);
    expect(await parametersOf(audit)).to.deep.equal(original);
    expect(await parametersOf(part)).to.deep.equal([1, 4, 5].map((run) => original[run]));
    expect(await scene.api.checkRounds(part)).to.deep.include({ rounds: 2, verdict: 'identical' });
    expect((await scene.api.roundByKey(part, 'b')).round).to.equal(1);
    expect(await codeOf(scene.api.appendRound(part, { key: 'c', rows: [{ r: 1, x: 1 }] }))).to.equal('study-closed');
  });

  it('leave no records of copies when they are refused or a crash comes between', async () => {
    expect(await codeOf(scene.api.rerunBatch(batch, { select: { run_ids: '0' } }, { maxRuns: 0 }))).to.equal(
      'invalid-request',
    );
    await scene.api.parts.purges.idle();
    const crashing = scene.api.rerunBatch(batch, {});
    crashing.catch(() => {});
    while (![...scene.store.disk.keys()].some((key) => key.startsWith('!deletion!'))) await Promise.resolve();
    await scene.restart();
    await scene.api.parts.purges.idle();
    const left = [...scene.store.disk.keys()].filter((key) => /^!(round|rows|round-key|deletion)!/.test(key));
    expect(left.filter((key) => !key.includes(batch))).to.deep.equal([]);
  });

  it('are in a snapshot with their rounds, which an import checks', async () => {
    const { head, records } = await scene.api.exportSnapshot(batch);
    const lines: { key: string; json: string }[] = [];
    for await (const chunk of records.chunks) lines.push(...chunk);
    const textOf = (of: typeof lines) =>
      JSON.stringify({ ...head, records: of.map(({ key, json }) => ({ key, value: JSON.parse(json) as object })) });
    const pieces = async function* (text: string) {
      yield text;
    };
    const store = new MemoryStore();
    await importSnapshot(await readSnapshot(pieces(textOf(lines))), store);
    const kept = (disk: Map<string, string>) =>
      [...disk].filter(([key]) => /^!(round|rows|round-key)!/.test(key)).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(kept(store.disk)).to.deep.equal(kept(scene.store.disk)).and.have.length(6);
    const changed = lines.map((it) =>
      it.key.startsWith('rows/') ? { ...it, json: it.json.replace(/"values":"../, '"values":"AB') } : it,
    );
    const isRefused = async (text: string): Promise<string> =>
      codeOf(importSnapshot(await readSnapshot(pieces(text)), new MemoryStore()));
    expect(await isRefused(textOf(changed)), 'other rows').to.equal('snapshot-unusable');
    const without = lines.filter(({ key }) => !key.startsWith('round/') || !key.endsWith('/00000000'));
    expect(await isRefused(textOf(without)), 'a round is missing').to.equal('snapshot-unusable');
  });
});
