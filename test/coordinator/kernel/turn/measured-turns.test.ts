/** The report of each turn: operation, outcome, facts and changed actors. */
import { expect } from 'chai';
import { jobId } from '../../../../src/domain/ids.ts';
import type { TurnReport } from '../../../../src/coordinator/kernel/turn/measured-turns.ts';
import { codeOf, Scene } from '../../../support/scene.ts';

describe('coordinator/kernel/turn/measured-turns', () => {
  it('reports the facts and the changed actors of a turn, the code of a refusal, and a fault', async () => {
    const reports: TurnReport[] = [];
    const scene = await Scene.open({ onTurn: (report) => void reports.push(report) });
    const batch = await scene.submit({ runs: 1 });
    await scene.register('a');
    await scene.claim('a');
    await codeOf(scene.complete(batch, 0, 'a'));
    const { studyCache } = scene.api.parts;
    studyCache.of = () => {
      throw new Error('broken');
    };
    await codeOf(scene.start(batch, 0, 'a'));
    const rows = reports
      .slice(-5)
      .map((it) => [
        it.operation,
        it.outcome,
        it.facts.map(({ type }) => type),
        it.actors.map((a) => a.address),
        it.code,
      ]);
    const job = `job/${jobId(batch, 0)}`;
    expect(rows).to.deep.equal([
      ['submit', 'done', ['batch.opened'], [`batch/${batch}`], undefined],
      ['register', 'done', ['runner.lost', 'runner.registered'], ['runner/a'], undefined],
      ['claim', 'done', ['job.claimed'], ['runner/a', job, `batch/${batch}`], undefined],
      ['complete', 'refused', [], [], 'illegal-transition'],
      ['start', 'fault', [], [], undefined],
    ]);
    for (const { secs } of reports) expect(secs).to.be.at.least(0);
  });
});
