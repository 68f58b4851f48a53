/** A coordinator that is killed at every one of its writes while runs end, take results and lose them again with their studies. */
import { expect } from 'chai';
import type { CodeIdentity, Report, Uuid } from '../../../src/contract/types.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import { Scene } from '../../support/scene.ts';
import { checkReuse } from '../../sim/reuse.ts';

const code: CodeIdentity = { kind: 'entrypoint', digest: 'a'.repeat(64) };
const engines = [{ name: '*', code }];
const RUNS = 3;

/** A coordinator that dies before its write of this number. */
async function playUntil(fatal: number): Promise<{ scene: Scene; isKilled: boolean; deleted: Set<string> }> {
  let writes = 0;
  let die = (): void => {};
  const death = new Promise<'killed'>((resolve) => (die = () => resolve('killed')));
  const deleted = new Set<string>();
  let isOpen = false;
  let isDead = false;
  const scene = await Scene.open({
    beforeWrite: () => {
      if (isOpen) writes += 1;
      if (writes !== fatal) return isDead ? new Promise<void>(() => {}) : Promise.resolve();
      isDead = true;
      die();
      return new Promise<void>(() => {});
    },
  });
  isOpen = true;
  const played = play(scene, deleted).then(() => 'played' as const);
  const isKilled = (await Promise.race([played, death])) === 'killed';
  if (isKilled) await scene.restart();
  return { scene, isKilled, deleted };
}

/** A study is executed, another one takes its results, it is deleted, and a third one executes its runs again. */
async function play(scene: Scene, deleted: Set<string>): Promise<void> {
  await scene.register('r1', { slots: 2, engines });
  const first = await scene.submit({ runs: RUNS });
  await finish(scene);
  await scene.submit({ runs: RUNS, name: 'second', policy: { reuse: 'all' } });
  await finish(scene);
  // The deletion may be on the disk without an answer.
  deleted.add(first);
  await scene.api.deleteBatch(first);
  await scene.api.parts.purges.idle();
  await scene.submit({ runs: RUNS, name: 'third', policy: { reuse: 'all' } });
  await finish(scene);
}

/** Executes what the runner gets. Returns the number of executed runs. */
async function finish(scene: Scene): Promise<number> {
  let executed = 0;
  for (let empty = 0; empty < 3;) {
    const request = { instance: scene.instance('r1'), max_jobs: 2, wait_seconds: 0, engines };
    const { assignments } = await scene.api.claim('r1', request);
    const reports = assignments.flatMap(({ job, attempt }): Report[] => {
      const own = { job_id: job.id, attempt };
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss: runIdOf(job.id) + 0.1 } };
      return [
        { type: 'start', ...own, code },
        { type: 'complete', ...own, result },
      ];
    });
    if (reports.length > 0) await scene.api.reports('r1', { instance: scene.instance('r1'), reports });
    executed += assignments.length;
    empty = assignments.length === 0 ? empty + 1 : 0;
  }
  return executed;
}

describe('coordinator/reuse: kills', () => {
  it('takes only what is on the disk, and finds all of that, after a kill at each write', async () => {
    let kills = 0;
    for (let fatal = 1; ; fatal += 1) {
      const { scene, isKilled, deleted } = await playUntil(fatal);
      if (!isKilled) break;
      kills += 1;
      const { disk } = scene.store;
      checkReuse(disk, deleted);
      await scene.register('r1', { slots: 2, engines, replaces: 'r1-1', instance: 'r1-2' });
      await scene.world.advance(200_000);
      await scene.register('r1', { slots: 2, engines, replaces: 'r1-2', instance: 'r1-3' });
      await finish(scene);
      const isExecuted = (key: string): boolean => !disk.get(key)!.includes('"reusedFrom":');
      const sources = new Set(
        [...disk.keys()]
          .filter((key) => key.startsWith('!job!') && isExecuted(key))
          .map((key) => runIdOf(key.slice(5))),
      );
      const kept = [...sources].filter((run) => hasSource(scene, run));
      const last = await scene.submit({ runs: RUNS, name: 'last', policy: { reuse: 'all' } });
      expect(await finish(scene), `kill at write ${fatal}`).to.equal(RUNS - kept.length);
      const { batch } = await scene.api.batch(last);
      expect(batch.reused_jobs ?? 0, `kill at write ${fatal}`).to.equal(kept.length);
      checkReuse(disk, deleted);
      expect(scene.faults).to.deep.equal([]);
    }
    expect(kills).to.be.at.least(20);
  });
});

/** True where the disk has an executed and completed run of this number, of a study that exists. */
function hasSource(scene: Scene, run: number): boolean {
  const { disk } = scene.store;
  for (const [key, record] of disk) {
    if (!key.startsWith('!job!') || runIdOf(key.slice(5)) !== run) continue;
    const batch: Uuid = `${key.slice(5, 33)}00000000`;
    if (disk.has(keys.batch(batch)) && record.includes('"value":"Completed"') && !record.includes('"reusedFrom":'))
      return true;
  }
  return false;
}
