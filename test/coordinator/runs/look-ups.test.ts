/** Look-ups of parameters at the coordinator: stored in few bytes, shown, counted, and the same after a crash. */
import { expect } from 'chai';
import type { Finding, ReportedResult } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { RESULT, Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

describe('coordinator/runs: look-ups', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('r1', { slots: 10 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  /** Executes a run for each of these members, which it reports. */
  async function report(batch: string, reads: readonly Partial<ReportedResult>[]): Promise<void> {
    await scene.claim('r1', reads.length);
    for (const [run, members] of reads.entries()) {
      await scene.start(batch, run, 'r1');
      const result = { ...RESULT, ...members };
      await scene.api.complete(jobId(batch, run), { runner_id: 'r1', attempt: 1, result });
      // The exact repeat of a report is answered as the first one.
      await scene.api.complete(jobId(batch, run), { runner_id: 'r1', attempt: 1, result });
    }
  }
  async function execute(reads: readonly Partial<ReportedResult>[]): Promise<string> {
    const batch = await scene.submit({ runs: reads.length });
    await report(batch, reads);
    return batch;
  }
  const shown = async (batch: string, runs: number): Promise<unknown[]> =>
    await Promise.all(
      Array.from({ length: runs }, async (_, run) => (await scene.api.jobResult(jobId(batch, run))).parameters_read),
    );
  const neverRead = async (batch: string): Promise<Finding | undefined> =>
    (await scene.api.findings(batch)).find(({ code }) => code === 'parameter-never-read');

  it('shows what each run has looked up, finds what none has, and keeps it through a crash', async () => {
    const batch = await execute([
      { parameters_read: ['mass'], parameters_asked: ['winds'] },
      {},
      { parameters_read: ['mass', 'strange'] },
      { parameters_read: [] },
    ]);
    for (const again of [false, true]) {
      if (again) await scene.restart();
      expect(await shown(batch, 4)).to.deep.equal([['mass'], undefined, ['mass'], []]);
      expect((await neverRead(batch))?.message).to.equal(
        '"wind" was looked up by none of 3 completed runs; the simulation asked for "winds"; did you mean "wind"?',
      );
    }
  });

  it('blames nothing before three runs have reported their look-ups, and nothing that one of them has looked up', async () => {
    const two = await execute([{ parameters_read: ['mass'] }, { parameters_read: ['mass'] }]);
    expect(await neverRead(two)).to.equal(undefined);
    const late = await execute([
      ...Array.from({ length: 4 }, () => ({ parameters_read: ['mass'] })),
      { parameters_read: ['wind'] },
    ]);
    expect(await neverRead(late)).to.equal(undefined);
  });

  it('counts completed runs alone', async () => {
    const batch = await scene.submit({ runs: 4, maxRetries: 0 });
    await scene.claim('r1', 4);
    for (const run of [0, 1, 2, 3]) {
      await scene.start(batch, run, 'r1');
      const result = { ...RESULT, parameters_read: ['mass'] };
      await scene.api.fail(jobId(batch, run), {
        runner_id: 'r1',
        attempt: 1,
        reason: 'exit',
        error_message: 'broke',
        result,
      });
    }
    expect(await shown(batch, 4)).to.deep.equal(Array.from({ length: 4 }, () => ['mass']));
    expect(await neverRead(batch)).to.equal(undefined);
  });

  it('takes names such as "__proto__" for what they are', async () => {
    const submission = study({ runs: 3 });
    const uniform = '{"distribution":{"type":"uniform","min":0,"max":1},"units":""}';
    submission.config.dispersions = JSON.parse(
      `{"__proto__":${uniform},"constructor":${uniform},"x":${uniform}}`,
    ) as typeof submission.config.dispersions;
    const { batch_id: batch } = await scene.api.submit(submission);
    await report(
      batch,
      Array.from({ length: 3 }, () => ({ parameters_read: ['__proto__', 'toString'] })),
    );
    expect((await shown(batch, 1))[0]).to.deep.equal(['__proto__']);
    expect((await neverRead(batch))?.message).to.match(/^"constructor", "x" were looked up by none of 3 /);
  });

  it('stores a run that has looked up all in 10 bytes, and any other in a quarter more for each parameter', async () => {
    const batch = await execute([
      {},
      { parameters_read: 'all' },
      { parameters_read: ['mass', 'wind'] },
      { parameters_read: ['mass'] },
    ]);
    const sizes = [0, 1, 2, 3].map((run) => scene.store.get(keys.result(jobId(batch, run)))!.length);
    expect(sizes.map((it) => it - sizes[0]!)).to.deep.equal([0, 10, 10, 11]);
  });
});
