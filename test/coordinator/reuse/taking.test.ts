/** Results of many runs are taken in many turns, each of a few milliseconds and each on the disk before the next; a crash between two of them loses none. */
import { expect } from 'chai';
import type { CodeIdentity, Report, Uuid } from '../../../src/contract/types.ts';
import { Taking } from '../../../src/coordinator/reuse/taking.ts';
import { TAKEN_AT_ONCE } from '../../../src/domain/rules.ts';
import { Scene } from '../../support/scene.ts';
import { checkReuse } from '../../sim/reuse.ts';

const RUNS = 600;
const code: CodeIdentity = { kind: 'entrypoint', digest: 'a'.repeat(64) };
const engines = [{ name: '*', code }];

describe('coordinator/reuse: taking', () => {
  let nowMs = 0;
  let served = 0;
  let taking: Taking;
  beforeEach(() => {
    served = 0;
    taking = new Taking({ monotonicMs: () => nowMs }, () => (served += 1));
    taking.begin();
  });

  it('is full after some milliseconds, some results, or long ones', () => {
    expect(taking.isFull).to.equal(false);
    nowMs += 2;
    expect(taking.isFull).to.equal(true);
    taking.begin();
    for (let at = 1; at < TAKEN_AT_ONCE; at += 1) taking.count(1);
    expect(taking.isFull).to.equal(false);
    taking.count(1);
    expect(taking.isFull).to.equal(true);
    taking.begin();
    taking.count(262_145);
    expect(taking.isFull).to.equal(true);
  });

  it('leaves all runs while the results of a turn are being written, and then serves them once', async () => {
    let onDisk = (): void => {};
    taking.count(1);
    taking.end(new Promise((resolve) => (onDisk = resolve)));
    taking.begin();
    expect(taking.isFull).to.equal(true);
    taking.leave();
    taking.end(Promise.resolve());
    await new Promise((resolve) => setImmediate(resolve));
    expect([taking.isFull, served]).to.deep.equal([true, 0]);
    onDisk();
    await new Promise((resolve) => setImmediate(resolve));
    expect([taking.isFull, served]).to.deep.equal([false, 1]);
    taking.end(Promise.resolve());
    expect(taking.isFull, 'a turn that took and left nothing').to.equal(false);
  });

  it('spreads a large study over turns, one for each write, and continues after a crash in the middle', async () => {
    /** Results taken in each turn since the latest write, and in all turns. */
    let sinceWrite: number[] = [];
    const turns: number[] = [];
    let isStopped = false;
    const scene = await Scene.open({
      beforeWrite: () => {
        expect(sinceWrite.length).to.be.at.most(1);
        sinceWrite = [];
        // The disk stops in the middle, as the process is about to.
        isStopped = turns.length === 4;
        return isStopped ? new Promise<void>(() => {}) : Promise.resolve();
      },
      onTurn: ({ facts }) => {
        const taken = facts.filter((it) => it.type === 'job.ended' && it.reused === true).length;
        if (taken === 0) return;
        turns.push(taken);
        sinceWrite.push(taken);
      },
    });
    const register = (id: string, instance = `${id}-1`) => scene.register(id, { slots: 200, engines, instance });
    const claim = (id: string, secs = 0) => {
      const request = { instance: scene.instance(id), max_jobs: 200, wait_seconds: secs, engines };
      return scene.api.claim(id, request);
    };
    await register('r1');
    const source = await scene.submit({ runs: RUNS });
    for (let ended = 0; ended < RUNS;) {
      const { assignments } = await claim('r1');
      const reports = assignments.flatMap(({ job, attempt }): Report[] => [
        { type: 'start', job_id: job.id, attempt, code },
        { type: 'complete', job_id: job.id, attempt, result: resultOf(job.id) },
      ]);
      await scene.api.reports('r1', { instance: scene.instance('r1'), reports });
      ended += assignments.length;
    }
    const second = await scene.submit({ runs: RUNS, name: 'again', policy: { reuse: 'all' } });
    await claim('r1');
    // Never answered: the process ends first.
    void claim('r1', 30).catch(() => {});
    while (!isStopped) await new Promise((resolve) => setImmediate(resolve));
    await scene.restart();
    checkReuse(scene.store.disk, new Set());
    const { batch } = await scene.api.batch(second);
    const before = batch.reused_jobs ?? 0;
    expect(before).to.be.within(1, RUNS - 1);
    expect(turns).to.satisfy((all: number[]) => all.every((taken) => taken <= TAKEN_AT_ONCE));
    expect(before, 'what the disk has').to.equal(turns.slice(0, 3).reduce((sum, taken) => sum + taken, 0));
    await scene.register('r1', { slots: 200, engines, replaces: 'r1-1', instance: 'r1-2' });
    expect((await claim('r1')).assignments).to.deep.equal([]);
    const last = claim('r1', 30);
    await until(scene, second, `Completed: ${RUNS} Completed`);
    await scene.world.advance(30_000);
    expect((await last).assignments).to.deep.equal([]);
    expect((await scene.api.batch(second)).batch.reused_jobs).to.equal(RUNS);
    checkReuse(scene.store.disk, new Set());
    expect((await scene.api.batch(source)).batch).not.to.have.property('reused_jobs');
    expect(scene.faults).to.deep.equal([]);
  });
});

const resultOf = (id: Uuid) => ({
  execution_time_secs: 1,
  output_files: [],
  metadata: { miss: Number.parseInt(id.slice(-4), 16) },
});

async function until(scene: Scene, id: Uuid, status: string): Promise<void> {
  while ((await scene.status(id)) !== status) await new Promise((resolve) => setImmediate(resolve));
}
