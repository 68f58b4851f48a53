/** The columns of open studies in the analysis worker: an answer after further ends reads the runs that have ended since. */
import { expect } from 'chai';
import type { StudySummary, StudyTransitions, Uuid } from '../../../src/contract/types.ts';
import { EndedRuns } from '../../../src/coordinator/answers/ended-runs.ts';
import { RowReadings } from '../../../src/coordinator/answers/row-readings.ts';
import type { Asked } from '../../../src/analysis/questions.ts';
import type { Fact } from '../../../machines/protocol.ts';
import { idOf } from '../../../src/coordinator/kernel/storage/keys.ts';
import { jobId, runIdOf } from '../../../src/domain/ids.ts';
import { RESULT, Scene } from '../../support/scene.ts';

const RUNS = 3000;

describe('coordinator/answers: columns of open studies', function () {
  let scene: Scene;
  let batch: Uuid;
  /** The runs whose job records were read since the last look. */
  let read: number[] = [];
  type Read = (this: RowReadings, request: object) => Promise<Uint8Array | null>;
  const methods = Reflect.get(RowReadings, 'prototype') as unknown as { next: Read; rows: Read };
  const originals = { ...Object.getOwnPropertyDescriptors(methods) };

  function spy(name: 'next' | 'rows'): void {
    const original = originals[name].value as Read;
    methods[name] = async function (request) {
      const bytes = await original.call(this, request);
      if (bytes !== null && 'kind' in request && request.kind === 'job') {
        const lines = new TextDecoder().decode(bytes).split('\n');
        for (const line of lines) if (line !== '') read.push(runIdOf(idOf(line.slice(0, line.indexOf('\t')))));
      }
      return bytes;
    };
  }

  before(async () => {
    spy('next');
    spy('rows');
    scene = await Scene.open();
    await scene.register('a', { slots: RUNS });
    batch = await scene.submit({ runs: RUNS });
    await scene.claim('a', RUNS - 10);
  });
  after(async () => {
    Object.defineProperties(methods, { next: originals.next, rows: originals.rows });
    await scene.api.close();
  });

  const end = async (runs: readonly number[]): Promise<void> => {
    const reports = runs.flatMap((run) => {
      const about = { job_id: jobId(batch, run), attempt: 1 };
      const result = { ...RESULT, metadata: run % 100 === 7 ? { miss: run, rare: 1 } : { miss: run } };
      return [
        { type: 'start' as const, ...about },
        { type: 'complete' as const, ...about, result },
      ];
    });
    await scene.api.reports('a', { instance: scene.instance('a'), reports });
  };
  const ask = async <T = StudySummary>(question: Asked): Promise<T> => {
    const answer = await scene.api.answer(question, { waitMs: 1e6 });
    if (answer.state !== 'ready') throw new Error(answer.state);
    return JSON.parse(new TextDecoder().decode(answer.body)) as T;
  };
  const summary = (): Promise<StudySummary> => ask({ name: 'summary', batchId: batch, query: {} });
  /** The answer of a worker that has never seen the study. */
  const anew = async (): Promise<StudySummary> => {
    await scene.api.parts.answers.thread.worker?.terminate();
    const answer = await ask<StudySummary>({ name: 'summary', batchId: batch, query: { confidence: 0.95 } });
    read = [];
    return answer;
  };
  const upTo = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

  it('reads all records once, and then the ended runs alone', async () => {
    await end(upTo(0, 500));
    expect((await summary()).n_used).to.equal(500);
    expect(read).to.have.length(RUNS - 10);
    read = [];
    await end([2000, 700, 701]);
    const three = await summary();
    expect(read).to.deep.equal([700, 701, 2000]);
    expect([three.n_used, three.outputs.find((it) => it.name === 'miss')!.max]).to.deep.equal([503, 2000]);
    read = [];
    await ask({ name: 'convergence', batchId: batch, query: { quantity: 'failure' } });
    expect(read, 'another question about the same runs').to.deep.equal([]);
    expect(await anew()).to.deep.equal(three);
  });

  it('takes runs of which an output comes for the first time, and more than fit in one reading', async () => {
    await end(upTo(800, 1900));
    const many = await summary();
    expect(many.outputs.map((it) => it.name)).to.include('rare');
    expect(read).to.deep.equal(upTo(800, 1900));
    read = [];
    await end([1900]);
    await summary();
    expect(read).to.deep.equal([1900]);
  });

  it('answers together about the same instant while runs end', async () => {
    read = [];
    const asked = [];
    for (let run = 1901; run < 1931; run++) {
      await end([run]);
      asked.push(ask<StudySummary>({ name: 'summary', batchId: batch, query: { confidence: 0.5 + run / 1e4 } }));
    }
    const counts = (await Promise.all(asked)).map((it) => it.n_used);
    for (const [at, count] of counts.entries()) expect(count, 'not older than the question').to.be.at.least(1605 + at);
    expect(read.length).to.equal(30);
    expect((await summary()).n_used).to.equal(1634);
  });

  it('counts the transitions of a run once, as a worker that has never seen the study does', async () => {
    const transitions = (): Promise<StudyTransitions> => ask({ name: 'transitions', batchId: batch, query: {} });
    const before = await transitions();
    await end([1935, 1936]);
    const after = await transitions();
    const completed = (it: StudyTransitions): number => it.transitions.find((move) => move.event === 'COMPLETE')!.count;
    expect(completed(after) - completed(before)).to.equal(2);
    expect([after.n_used, completed(after)]).to.deep.equal([1636, 1636]);
    await end([1937]);
    const kept = await transitions();
    await scene.api.parts.answers.thread.worker?.terminate();
    // One end more, since a kept answer is not computed again.
    await end([1938]);
    const afresh = await transitions();
    expect([completed(kept), completed(afresh)]).to.deep.equal([1637, 1638]);
    read = [];
  });

  it('reads all again when the ends are too many to keep, and when runs ended that no fact names', async () => {
    read = [];
    scene.api.parts.answers.committed([{ type: 'batch.deleted', batchId: batch, now: 0 }]);
    await end([1940]);
    expect((await summary()).n_used).to.equal(1639);
    expect(read).to.have.length(RUNS - 10);
  });

  it('counts the runs of a cancelled study that no runner took', async () => {
    await summary();
    read = [];
    await scene.api.cancelBatch(batch);
    const over = await summary();
    expect(over.excluded).to.deep.equal({ cancelled: RUNS - 1639 });
    expect(read).to.have.length(RUNS - 10 - 1639);
    const cancelled = async (): Promise<number> =>
      (await ask<StudyTransitions>({ name: 'transitions', batchId: batch, query: {} })).transitions
        .filter((it) => it.to === 'Cancelled')
        .reduce((sum, it) => sum + it.count, 0);
    expect(await cancelled()).to.equal(RUNS - 1639);
    expect(await anew()).to.deep.equal(over);
  });

  it('keeps a bounded number of ends, and forgets those that were read longest ago', () => {
    const ended = new EndedRuns(3);
    const ends = (batchId: string, ...runIds: number[]): Fact[] =>
      runIds.map((runId) => ({ type: 'job.ended', batchId, runId }) as Fact);
    const a = ended.read('a', undefined);
    expect(a.runIds).to.equal(undefined);
    const b = ended.read('b', undefined);
    ended.committed([...ends('a', 5, 2), ...ends('c', 1), ...ends('b', 9)]);
    const next = ended.read('a', a.mark);
    expect([...next.runIds!]).to.deep.equal([2, 5]);
    expect(ended.read('a', a.mark).runIds, 'a mark that is older').to.equal(undefined);
    ended.committed(ends('a', 7, 8, 10));
    expect(ended.read('b', b.mark).runIds, 'dropped first').to.equal(undefined);
    ended.forget('a');
    expect(ended.read('a', next.mark).runIds, 'a new log').to.equal(undefined);
  });
});
