/** Internal faults: turns that throw, writes that fail, and the order of write and reply. */
import { expect } from 'chai';
import { jobId } from '../../../../src/domain/ids.ts';
import { decodeRunner, decodeBatch } from '../../../../src/coordinator/kernel/actors/actor-kinds.ts';
import { stateOf } from '../../../../src/coordinator/kernel/actors/directory.ts';
import { brokenActor } from '../../../support/broken-actor.ts';
import { codeOf, ref, runs, Scene } from '../../../support/scene.ts';
import { settled } from '../../../support/simulated-clock.ts';

/** Makes a member of an object throw until the returned function is called. */
function broken(target: object, name: string, error = new Error('an injected fault')): () => void {
  Object.defineProperty(target, name, {
    configurable: true,
    value: () => {
      throw error;
    },
  });
  return () => Reflect.deleteProperty(target, name);
}

describe('coordinator/kernel/turn', () => {
  let scene: Scene;
  let batch: string;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 2 });
    batch = await scene.submit({ runs: 3 });
  });

  /** Memory and disk as one comparable value. */
  function everything(): unknown {
    const { batches, runners, jobs } = scene.api.parts.directory;
    const live = [batches, runners, jobs].map((map) =>
      [...map.values()].map((it) => [it.id, stateOf(it).value, { ...stateOf(it).context }]),
    );
    return structuredClone([live, [...scene.store.disk]]);
  }

  const places: [string, () => () => void, () => Promise<unknown>][] = [
    ['presenting an answer', () => broken(scene.api.parts.studyCache, 'of'), () => scene.claim('a', 2)],
    ['planning', () => broken(scene.api.parts.scheduler, 'plan'), () => scene.claim('a', 2)],
    ['drawing random bytes', () => broken(scene.world, 'random'), () => scene.submit()],
    ['reading a record', () => broken(scene.api.parts.groupCommit, 'read'), () => scene.api.cancelJob(jobId(batch, 1))],
    [
      'another actor',
      () => {
        const { directory } = scene.api.parts;
        return brokenActor(directory.find('runner/a')!);
      },
      () => scene.claim('a', 2),
    ],
    [
      'the records that go with the facts',
      () => {
        const { stringify } = JSON;
        JSON.stringify = () => {
          throw new Error('an injected fault');
        };
        return () => {
          JSON.stringify = stringify;
        };
      },
      () => scene.start(batch, 0, 'a').then(() => scene.fail(batch, 0, 'a')),
    ],
  ];
  for (const [place, breaking, ask] of places) {
    it(`rolls the whole turn back on an error while ${place}, and the next turn works`, async () => {
      if (place.startsWith('the records')) {
        await scene.claim('a');
        await scene.start(batch, 0, 'a');
      }
      await scene.world.advance(1);
      const before = everything();
      const mend = breaking();
      let code: string;
      try {
        const asked = codeOf(ask());
        // Turns run synchronously; only the write is delayed.
        if (place.startsWith('the records')) {
          await Promise.resolve();
          await Promise.resolve();
        }
        code = await asked;
      } finally {
        mend();
      }
      expect(code).to.equal('internal');
      expect(everything()).to.deep.equal(before);
      expect(scene.faults).to.have.length(1);
      expect(scene.api.supervisor().context).to.include({ faults: 1 });
      expect(scene.api.supervisor().value).to.equal('Serving');
      expect(await codeOf(ask())).to.equal('ok');
    });
  }

  it('keeps a long poll waiting when its serving turn throws, and serves it later', async () => {
    expect(await scene.claim('a', 2)).to.deep.equal([0, 1]);
    await scene.register('b');
    await scene.api.drain('b');
    const waiting = scene.claimRaw('b', 1, 30).then(runs);
    await settled();
    const mend = broken(scene.api.parts.studyCache, 'of');
    await scene.api.resume('b');
    await settled();
    mend();
    expect(scene.faults).to.have.length(1);
    expect(await scene.status(batch)).to.equal('Running: 1 Pending, 2 Claimed');
    await scene.world.advance(1000);
    expect(await waiting).to.deep.equal([2]);
  });

  it('retries a deadline whose turn throws, and handles the other deadlines', async () => {
    await scene.register('b');
    const { directory } = scene.api.parts;
    const mend = brokenActor(directory.find('runner/a')!);
    scene.world.setClock(scene.world.now() + 15_000);
    await scene.api.tick();
    mend();
    expect(scene.faults).to.have.length(1);
    expect([await scene.runnerStatus('a'), await scene.runnerStatus('b')]).to.deep.equal(['Idle', 'Offline']);
    await scene.api.tick();
    expect(await scene.runnerStatus('a')).to.equal('Offline');
  });

  it('sends the reply when a watcher throws', async () => {
    const mend = broken(scene.api.parts.statistics.trigger, 'committed');
    expect(await scene.claim('a')).to.deep.equal([0]);
    mend();
    expect(scene.faults).to.have.length(1);
    expect(await scene.status(batch)).to.equal('Running: 2 Pending, 1 Claimed');
  });

  it('stops on a failed write: every pending request is refused, and none is answered', async () => {
    let isFull = false;
    scene = await Scene.open({
      beforeWrite: async () => {
        await Promise.resolve();
        if (isFull) throw new Error('ENOSPC: no space left on device');
      },
    });
    await scene.register('a');
    await scene.register('b');
    const waiting = scene.claimRaw('b', 1, 30).then(runs);
    await settled();
    const disk = new Map(scene.store.disk);
    isFull = true;
    const asked = [scene.submit(), scene.beat('a'), scene.api.drain('a')].map((it) => codeOf(it));
    expect(await Promise.all(asked)).to.deep.equal(['unavailable', 'unavailable', 'unavailable']);
    expect(await waiting).to.deep.equal([]);
    expect(scene.failures.map((it) => it.message)).to.deep.equal([
      'the coordinator cannot write its data directory and stops: ENOSPC: no space left on device',
    ]);
    expect(scene.api.supervisor()).to.deep.include({ value: 'Failed', status: 'done' });
    isFull = false;
    expect(await codeOf(scene.submit()), 'for good').to.equal('unavailable');
    expect(scene.store.disk).to.deep.equal(disk);
    await scene.restart();
    expect(await scene.runnerStatus('a')).to.equal('Idle');
    expect(await codeOf(scene.submit())).to.equal('ok');
  });

  it('shares one write between concurrent turns, and answers none before it', async () => {
    let finish = (): void => {};
    let isHeld = false;
    scene = await Scene.open({
      beforeWrite: () => (isHeld ? new Promise((resolve) => (finish = resolve)) : Promise.resolve()),
    });
    await scene.register('a', { slots: 64 });
    batch = await scene.submit({ runs: 64 });
    await scene.claim('a', 64);
    const writes = scene.store.writes;
    isHeld = true;
    let answered = 0;
    const all = Array.from({ length: 64 }, (_, run) => scene.start(batch, run, 'a').then(() => (answered += 1)));
    await settled();
    expect(answered).to.equal(0);
    expect(await scene.jobStatus(batch, 0), 'a reading shows what is on disk').to.equal('Claimed');
    isHeld = false;
    finish();
    await Promise.all(all);
    expect(scene.store.writes - writes).to.be.at.most(2);
    expect(await scene.status(batch)).to.equal('Running: 64 Running');
  });

  it('delays the reply of a turn without changes until the state it shows is on disk', async () => {
    let finish = (): void => {};
    let isHeld = false;
    scene = await Scene.open({
      beforeWrite: () => (isHeld ? new Promise((resolve) => (finish = resolve)) : Promise.resolve()),
    });
    await scene.register('a');
    batch = await scene.submit({ runs: 1 });
    await scene.claim('a');
    isHeld = true;
    let answers = 0;
    const first = scene.start(batch, 0, 'a').then(() => (answers += 1));
    const repeat = scene.start(batch, 0, 'a').then(() => (answers += 1));
    await settled();
    expect(answers).to.equal(0);
    isHeld = false;
    finish();
    await Promise.all([first, repeat]);
  });

  it('writes the same records for a million runs as for one run', async () => {
    const bytes: number[] = [];
    for (const count of [1, 1_000_000]) {
      const before = scene.store.bytesWritten;
      const id = await scene.submit({ runs: 1_000_000, runsOverride: count, seed: count });
      bytes.push(scene.store.bytesWritten - before);
      expect((await scene.api.batch(id)).jobs_by_status.Pending).to.equal(count);
    }
    expect(Math.abs((bytes[1] ?? 0) - (bytes[0] ?? 0))).to.be.at.most(20);
  });

  it('answers long polls and refuses new requests on a graceful stop, with everything on disk', async () => {
    await scene.register('b');
    await scene.api.drain('b');
    const waiting = scene.claimRaw('b', 1, 30).then(runs);
    const late = scene.submit({ runs: 2 });
    await settled();
    await scene.api.close();
    expect(await waiting).to.deep.equal([]);
    expect(await codeOf(scene.submit())).to.equal('unavailable');
    expect(scene.api.supervisor().value).to.equal('Stopped');
    await scene.restart();
    expect(await scene.status(await late)).to.equal('Pending: 2 Pending');
  });

  it('closes the store even when the last write fails', async () => {
    let isFull = false;
    scene = await Scene.open({
      beforeWrite: async () => {
        if (isFull) throw new Error('EIO');
      },
    });
    let isClosed = false;
    scene.store.close = async () => {
      isClosed = true;
    };
    isFull = true;
    await scene.api.close();
    expect(isClosed).to.equal(true);
    expect(scene.failures).to.have.length(1);
  });

  it('restores batches, runners, attempts and the requeue order after a restart', async () => {
    await scene.register('b', { slots: 9 });
    const other = await scene.submit({ runs: 6, name: 'other' });
    await scene.api.cancelBatch(batch);
    await scene.claim('b', 4);
    for (const run of [2, 0, 3]) {
      await scene.start(other, run, 'b');
      await scene.world.advance(1);
      await scene.fail(other, run, 'b');
    }
    await scene.start(other, 1, 'b');
    const state = () => ({
      batch: decodeBatch(scene.store.get(`!batch!${other}`) as string),
      runner: decodeRunner(scene.store.get('!runner!b') as string),
    });
    const before = structuredClone(state());
    await scene.restart();
    expect(state()).to.deep.equal(before);
    expect([...scene.api.parts.directory.jobs.keys()]).to.deep.equal([jobId(other, 1)]);
    expect(scene.api.parts.directory.batches.size, 'only the open one').to.equal(1);
    await scene.api.signOff('a', { instance: scene.instance('a') });
    expect(await scene.claim('b', 9, [ref(other, 1)]), 'requeued as before, then untouched').to.deep.equal([
      2, 0, 3, 4, 5,
    ]);
    expect(await scene.complete(other, 1, 'b')).to.include({ status: 'Completed' });
  });
});
