/** The index of studies: a submission finds the study that it continues by one entry, also in a store that an older version wrote. */
import { expect } from 'chai';
import { INDEXED_KEY } from '../../../src/coordinator/kernel/records/study-index.ts';
import { allOf, keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import type { Store } from '../../../src/coordinator/kernel/storage/store.ts';
import type { SubmissionResponse, Uuid } from '../../../src/contract/types.ts';
import { checkListed } from '../../sim/listed.ts';
import { Scene } from '../../support/scene.ts';
import { study, type StudyOptions } from '../../support/studies.ts';

const version = (text: string): StudyOptions => ({ runs: 2, config: { simulation: { version: text } } });
const LARGE = 9_007_199_254_740_993n;

describe('coordinator/studies/study-index', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 100 });
  });
  afterEach(async () => {
    checkListed(scene.store.disk);
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const go = (options: StudyOptions): Promise<SubmissionResponse> => scene.api.continueStudy(study(options));
  const entries = (): string[] => [...scene.store.disk.keys()].filter((key) => key.startsWith(allOf('study').gte));
  /** The id of the study that a submission continues; undefined where it creates one. */
  const continued = async (options: StudyOptions): Promise<Uuid | undefined> => {
    const { continuation, batch_id: id } = await go(options);
    return continuation!.created ? undefined : id;
  };

  /** Submits studies of other designs and ends them, as many as asked for. */
  const fill = async (count: number): Promise<Uuid[]> => {
    const ids: Uuid[] = [];
    for (let at = 0; at < count; at += 1) ids.push(await scene.submit(version(`filled ${at}`)));
    for (const id of ids) await scene.api.cancelBatch(id);
    return ids;
  };

  it('reads as many records among 200 studies as among 5, for a new design and for a known one', async () => {
    const counts: number[][] = [];
    for (const others of [5, 195]) {
      await fill(others);
      await go(version('known'));
      counts.push([await countReads(scene.store, () => go(version(`new ${others}`)))]);
      counts.at(-1)!.push(await countReads(scene.store, () => go(version('known'))));
    }
    expect(counts[1]).to.deep.equal(counts[0]);
  });

  it('is complete after the start of a store without it, in whatever place that was left', async () => {
    const ids = await fill(250);
    const original = await scene.submit({ runs: 2 });
    await scene.api.cancelBatch(original);
    await scene.api.rerunBatch(original, {}).catch(() => {});
    const whole = entries().sort();
    expect(whole).to.have.length(3 * 251);
    for (const left of [undefined, ids[120]!]) {
      scene.store.crash();
      const { disk } = scene.store;
      for (const key of whole) if (left === undefined || key.slice(-36) > left) disk.delete(key);
      if (left === undefined) disk.delete(INDEXED_KEY);
      else disk.set(INDEXED_KEY, left);
      await scene.restart();
      await scene.api.parts.studyIndexing.whole();
      expect(entries().sort()).to.deep.equal(whole);
      const { writes } = scene.store;
      expect(writes).to.be.greaterThan(1);
    }
    await scene.restart();
    const idle = scene.store.writes;
    expect(await continued(version('filled 249'))).to.equal(ids[249]);
    expect(await continued(version('filled 0'))).to.equal(ids[0]);
    await scene.restart();
    // A start that finds the index complete writes nothing for it.
    expect(scene.store.writes).to.equal(idle);
  });

  it('finds the newest study with the seed, with all digits of a large one, and any where none is given', async () => {
    const first = await scene.submit({ runs: 2, seed: LARGE });
    const second = await scene.submit({ runs: 2, seed: LARGE - 1n });
    const same = await scene.submit({ runs: 2, seed: LARGE - 1n });
    expect(second).to.not.equal(same);
    expect(await continued({ runs: 2, seed: LARGE })).to.equal(first);
    expect(await continued({ runs: 2, seed: LARGE - 1n })).to.equal(same);
    expect(await continued({ runs: 2, seed: null })).to.equal(same);
    expect(await continued({ runs: 2, seed: LARGE - 2n })).to.equal(undefined);
    for (const key of entries()) expect(scene.store.disk.get(key)).to.equal('');
  });

  it('finds the one before when the newest is deleted, and none when all are', async () => {
    const [first, second] = [await scene.submit({ runs: 2 }), await scene.submit({ runs: 2 })];
    for (const id of [first, second]) await scene.api.cancelBatch(id);
    for (const [deleted, found] of [
      [second, first],
      [first, undefined],
    ] as const) {
      await scene.api.deleteBatch(deleted);
      expect(entries().filter((key) => key.endsWith(deleted))).to.deep.equal([]);
      expect(await continued({ runs: 2 })).to.equal(found);
    }
  });

  it('survives a study whose submission is damaged', async () => {
    const id = await scene.submit({ runs: 2 });
    await scene.api.cancelBatch(id);
    const record = scene.store.disk.get(keys.submission(id))!;
    for (const key of entries()) scene.store.disk.delete(key);
    scene.store.disk.delete(INDEXED_KEY);
    scene.store.disk.delete(keys.submission(id));
    await scene.restart();
    const { continuation, warnings } = await go({ runs: 2 });
    expect(continuation).to.include({ created: true });
    expect(warnings![0]).to.include({ code: 'study-damaged' });
    expect(warnings![0]!.detail).to.contain(`study ${id} cannot be read`);
    scene.store.disk.set(keys.submission(id), record);
    await scene.api.deleteBatch(id);
  });
});

/** The records that an operation reads of the store, one by one and in ranges. */
async function countReads(store: Store, operation: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const [get, snapshot] = [store.get.bind(store), store.snapshot.bind(store)];
  store.get = (key) => {
    count += 1;
    return get(key);
  };
  store.snapshot = () => {
    const view = snapshot();
    return {
      ...view,
      get: (key) => {
        count += 1;
        return view.get(key);
      },
      async *entries(range, options) {
        for await (const chunk of view.entries(range, options)) {
          count += chunk.length;
          yield chunk;
        }
      },
    };
  };
  try {
    await operation();
    return count;
  } finally {
    Object.assign(store, { get, snapshot });
  }
}
