/** The start on a store whose studies are not listed: it serves before they are, and a submission that continues one of them finds it all the same. */
import { expect } from 'chai';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { INDEXED_KEY } from '../../../src/coordinator/kernel/records/study-index.ts';
import { allOf, keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import type { Store, StoreView } from '../../../src/coordinator/kernel/storage/store.ts';
import type { SubmissionResponse, Uuid } from '../../../src/contract/types.ts';
import { checkListed } from '../../sim/listed.ts';
import { DamagedStore } from '../../support/damaged-store.ts';
import { codeOf, Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

/** More than two steps. */
const STUDIES = 260;
/** Writes of a start that lists these studies: three steps, and the start itself. */
const MOST_WRITES = 6;

describe('coordinator/studies/index-studies', () => {
  let scene: Scene;
  let ids: Uuid[];
  /** The disk as a version without an index wrote it. */
  const bare = new Map<string, string>();
  before(async () => {
    scene = await Scene.open();
    ids = [];
    for (let at = 0; at < STUDIES; at += 1) ids.push(await scene.api.submit(version(at)).then((it) => it.batch_id));
    for (const id of ids) await scene.api.cancelBatch(id);
    const listed = new Set([...entries(), INDEXED_KEY]);
    for (const [key, value] of scene.store.disk) if (!listed.has(key)) bare.set(key, value);
    await scene.api.close();
  });
  beforeEach(async () => {
    scene = await Scene.open();
    unlist();
  });
  /** Ends the wait that a test has begun, also after a failure. */
  let release = (): void => {};
  afterEach(() => {
    release();
    return scene.api.close();
  });

  const version = (at: number) => study({ runs: 2, config: { simulation: { version: `v${at}` } } });
  const go = (at: number): Promise<SubmissionResponse> => scene.api.continueStudy(version(at));
  const entries = (): string[] => [...scene.store.disk.keys()].filter((key) => key.startsWith(allOf('study').gte));
  const unlist = (): void => {
    scene.store.crash();
    scene.store.disk.clear();
    for (const [key, value] of bare) scene.store.disk.set(key, value);
  };

  /** Starts on the unlisted store, whose writes after the first wait until `release`. */
  const startHeld = async (): Promise<void> => {
    const held = new Promise<void>((resolve) => (release = resolve));
    let isFirst = true;
    await scene.restart({
      beforeWrite: async (changes) => {
        if (![...changes].some(([key]) => key === INDEXED_KEY)) return;
        if (!isFirst) await held;
        isFirst = false;
      },
    });
  };

  it('serves before the studies are listed, and a submission that continues the newest of them waits until they are', async () => {
    await startHeld();
    expect(entries().length).to.be.within(1, 3 * STUDIES - 1);
    expect((await scene.api.batch(ids[STUDIES - 1]!)).batch.status).to.equal('Cancelled');
    let isAnswered = false;
    const newest = go(STUDIES - 1).finally(() => (isAnswered = true));
    const oldest = go(0).finally(() => (isAnswered = true));
    for (let turns = 0; turns < 100; turns += 1) await Promise.resolve();
    expect(isAnswered).to.equal(false);
    release();
    expect((await newest).batch_id).to.equal(ids[STUDIES - 1]);
    expect((await oldest).batch_id).to.equal(ids[0]);
    checkListed(scene.store.disk);
    expect(scene.faults).to.deep.equal([]);
  });

  it('refuses to continue after 20 s, and creates nothing', async () => {
    await startHeld();
    const asked = codeOf(go(STUDIES - 1));
    await scene.world.advance(20_000);
    expect(await asked).to.equal('unavailable');
    release();
    await scene.api.parts.studyIndexing.whole();
    expect([...scene.store.disk.keys()].filter((key) => key.startsWith(allOf('batch').gte))).to.have.length(STUDIES);
  });

  it('lists studies that are submitted and deleted meanwhile once, and none of them again', async () => {
    const gate = new Promise<void>((resolve) => (release = resolve));
    const starting = scene.restart();
    const { store } = scene;
    // The view of the last step is closed when the test says so: it is read, and its studies are not listed yet.
    onStep(store, 3, (view) => ({ ...view, close: () => gate }));
    await starting;
    for (let turns = 0; turns < 20_000; turns += 1) await Promise.resolve();
    const listed = entries().length;
    const [deleted, known] = [ids[225]!, ids[0]!];
    expect(entries().some((key) => key.endsWith(deleted))).to.equal(false);
    await scene.api.deleteBatch(deleted);
    const { batch_id: added } = await scene.api.submit(version(STUDIES));
    expect(entries().length).to.equal(listed + 3);
    release();
    await scene.api.parts.studyIndexing.whole();
    checkListed(store.disk);
    expect(store.disk.get(INDEXED_KEY)).to.equal(added);
    expect((await go(STUDIES)).batch_id).to.equal(added);
    expect((await go(0)).batch_id).to.equal(known);
    expect((await go(225)).continuation).to.include({ created: true });
    expect(store.disk.get(INDEXED_KEY)! > added).to.equal(true);
  });

  it('finds every study after a crash at any write, with submissions meanwhile', async () => {
    for (let last = 1; last <= MOST_WRITES; last += 1) {
      unlist();
      let writes = 0;
      let crashed = (): void => {};
      const crash = new Promise<void>((resolve) => (crashed = resolve));
      const submitted = scene
        .restart({
          beforeWrite: async () => {
            writes += 1;
            if (writes === last) {
              scene.store.crash();
              crashed();
            }
          },
        })
        .then(() => Promise.all([scene.api.submit(version(STUDIES)), scene.api.submit(version(STUDIES + 1))]))
        .then(() => scene.api.parts.studyIndexing.whole());
      await Promise.race([crash, submitted]);
      await scene.restart();
      await scene.api.parts.studyIndexing.whole();
      checkListed(scene.store.disk);
      for (const at of [0, 99, 100, 200, STUDIES - 1]) expect((await go(at)).batch_id).to.equal(ids[at]);
    }
  });

  it('lists the other studies when records of some are damaged, and every answer names these from then on', async () => {
    const [first, middle, last] = [ids[3]!, ids[150]!, ids[STUDIES - 1]!];
    const damaged = new Set([keys.batch(first), keys.submission(middle), keys.batch(last)]);
    const open = async (): Promise<Coordinator> => {
      const api = await openCoordinator(new DamagedStore(scene.store.disk, damaged), scene.world);
      await api.parts.studyIndexing.whole();
      return api;
    };
    for (const start of ['first', 'second']) {
      const api = await open();
      for (const at of [0, 2, 4, 149, 151, STUDIES - 2]) {
        const { batch_id: found, warnings } = await api.continueStudy(version(at));
        expect(found, `${start} start, ${at}`).to.equal(ids[at]);
        expect(warnings).to.have.length(1);
        expect(warnings![0]).to.include({ code: 'study-damaged', pointer: '' });
        expect(warnings![0]!.detail).to.match(new RegExp(`^study ${last}, ${middle}, ${first} cannot be read`));
      }
      const made = await api.continueStudy(study({ runs: 2, name: start, config: { simulation: { version: start } } }));
      expect(made.continuation).to.include({ created: true });
      expect(made.warnings!.map((it) => it.code)).to.include('study-damaged');
      expect(scene.store.disk.get(INDEXED_KEY)).to.equal(made.batch_id);
      await api.close();
    }
    // The study of this design is refused while its record is damaged after it was listed, and a study of its name is not.
    damaged.add(keys.batch(ids[0]!));
    damaged.add(keys.submission(ids[4]!));
    const api = await open();
    expect(await codeOf(api.continueStudy(version(0)))).to.equal('store-damaged');
    expect(await codeOf(api.continueStudy(version(4)))).to.equal('store-damaged');
    expect((await api.continueStudy(version(5))).batch_id).to.equal(ids[5]);
    await api.close();
    await scene.restart();
    await scene.api.deleteBatch(first);
    const { warnings = [] } = await scene.api.continueStudy(version(5));
    expect(warnings[0]!.detail).to.match(new RegExp(`^study ${last}, ${middle} cannot be read`));
  });

  it('continues no study when a record cannot be read, and names the record', async () => {
    const starting = scene.restart();
    const { store } = scene;
    onStep(store, 2, () => {
      throw new Error('record 150 cannot be read');
    });
    await starting;
    await expectRejected(go(200), 'record 150 cannot be read');
    await expectRejected(go(0), 'record 150 cannot be read');
    expect(scene.faults.map(String)).to.deep.equal(['Error: record 150 cannot be read']);
    expect(scene.store.disk.has(keys.batch(ids[200]!))).to.equal(true);
  });
});

/** Replaces the view that a step of the listing opens. The steps are numbered from 1; each but the first continues after a batch. */
function onStep(store: Store, step: number, replaced: (view: StoreView) => StoreView): void {
  const snapshot = store.snapshot.bind(store);
  let steps = 1;
  store.snapshot = () => {
    const view = snapshot();
    let used = view;
    return {
      ...view,
      entries: (range, options) => {
        if (range.gte.startsWith(keys.batch('')) && range.gte !== allOf('batch').gte) {
          steps += 1;
          if (steps === step) used = replaced(view);
        }
        return used.entries(range, options);
      },
      close: () => used.close(),
    };
  };
}

async function expectRejected(asked: Promise<unknown>, message: string): Promise<void> {
  const error = await asked.then(
    () => undefined,
    (it: Error) => it,
  );
  expect(error?.message).to.equal(message);
}
