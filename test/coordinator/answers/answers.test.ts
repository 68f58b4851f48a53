/** Answers about studies: computed by the worker from the store, by their schemas, kept until a run ends. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { verifyManifest } from '../../../src/analysis/manifest/verify.ts';
import { HistoryBand, TelemetryBand } from '../../../src/contract/answers/band.ts';
import { StudyAttribution, StudySensitivity } from '../../../src/contract/answers/causes.ts';
import { StudyComparison } from '../../../src/contract/answers/comparison.ts';
import { Convergence, StudyDistributions, StudySummary, WorstRuns } from '../../../src/contract/answers/outputs.ts';
import { StudyVerdicts } from '../../../src/contract/answers/goals/requirements.ts';
import { StudyTransitions } from '../../../src/contract/answers/transitions.ts';
import type { NamedSchema } from '../../../src/contract/build.ts';
import type * as contract from '../../../src/contract/types.ts';
import type { Answer } from '../../../src/coordinator/answers/answers.ts';
import type { Asked } from '../../../src/analysis/questions.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { flown } from '../../support/flown.ts';
import { Scene } from '../../support/scene.ts';
import { strictFaults } from '../../support/strict-schema.ts';
import { study } from '../../support/studies.ts';

function parsed(answer: Answer): unknown {
  if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
  return JSON.parse(new TextDecoder().decode(answer.body));
}

describe('coordinator/answers', () => {
  let scene: Scene;
  let batchId: string;
  before(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 200 });
    batchId = await flown(scene);
  });
  after(() => scene.api.close());

  const ask = async <T>(question: Asked): Promise<T> => parsed(await scene.api.answer(question, { waitMs: 1e6 })) as T;
  const refusal = async (question: Asked): Promise<string> => {
    try {
      await ask(question);
      return 'answered';
    } catch (error) {
      return error instanceof SimbatchError ? `${error.code}: ${error.message}` : String(error);
    }
  };

  it('are of the shape that the API describes', async () => {
    const other = await flown(scene, { version: '2.0' });
    const different = await flown(scene, { runs: 30 });
    const table: [Asked, NamedSchema][] = [
      [{ name: 'summary', batchId, query: {} }, StudySummary],
      [{ name: 'distributions', batchId, query: { bins: 7 } }, StudyDistributions],
      [{ name: 'verdicts', batchId, query: {} }, StudyVerdicts],
      [{ name: 'sensitivity', batchId, query: { output: 'miss' } }, StudySensitivity],
      [{ name: 'attribution', batchId, query: {} }, StudyAttribution],
      [{ name: 'attribution', batchId, query: { failing: 'close' } }, StudyAttribution],
      [{ name: 'convergence', batchId, query: { output: 'miss', quantity: 'p90' } }, Convergence],
      [{ name: 'convergence', batchId, query: { quantity: 'failure' } }, Convergence],
      [{ name: 'worst', batchId, query: { output: 'miss', k: 3, direction: 'smallest' } }, WorstRuns],
      [{ name: 'compare', batchId, query: { with: other } }, StudyComparison],
      [{ name: 'compare', batchId, query: { with: different } }, StudyComparison],
      [{ name: 'transitions', batchId, query: {} }, StudyTransitions],
      [{ name: 'telemetry-band', batchId, query: {} }, TelemetryBand],
      [{ name: 'band', batchId, query: { history: 'nz' } }, HistoryBand],
    ];
    for (const [question, schema] of table)
      expect(strictFaults(schema, await ask(question)), JSON.stringify(question)).to.deep.equal([]);
  });

  it('count each run in its class and use the completed ones', async () => {
    const { of, n_used, excluded, outputs, requirements } = await ask<contract.StudySummary>({
      name: 'summary',
      batchId,
      query: {},
    });
    expect([of, n_used, excluded]).to.deep.equal([60, 47, { terminated: 5, crashed: 8 }]);
    expect(outputs.map((it) => [it.name, it.units, it.count])).to.deep.equal([
      ['miss', 'm', 47],
      ['nested.hit', null, 47],
      ['execution_secs', null, 47],
      ['mode', null, 0],
    ]);
    expect(requirements.map((it) => [it.name, it.passed, it.failed, it.unknown])).to.deep.equal([['close', 47, 5, 8]]);
  });

  it('bound an output by the threshold of the rule that its runner names', async () => {
    const failing = "terminated_by = 'nz > 3.8'";
    const { failing: count } = await ask<contract.StudyAttribution>({
      name: 'attribution',
      batchId,
      query: { failing },
    });
    expect(count).to.equal(5);
  });

  it('bound an output by a rule on the telemetry variable that the study declares for it', async () => {
    const p99 = ({ outputs }: contract.StudySummary) =>
      outputs[0]!.quantiles.find((it) => it.p === 0.01)!.bounds as [number | null, number | null];
    const summary = (id: string) => ask<contract.StudySummary>({ name: 'summary', batchId: id, query: {} });
    const free = await flown(scene, { crashes: false });
    const bounded = await flown(scene, { outputs: { miss: { censored: 'nz' } }, crashes: false });
    // Of 60 runs, 5 were ended by nz > 3.8: without the declaration their values may be the smallest.
    expect(p99(await summary(free))[0]).to.equal(null);
    expect(p99(await summary(bounded))[0]).to.be.a('number');
  });

  it('say what rules in shadow would have done, and let lost telemetry change no outcome of theirs', async () => {
    const shadow = await flown(scene, { shadow: true });
    const summary = (id: string) => ask<contract.StudySummary>({ name: 'summary', batchId: id, query: {} });
    const { shadow: found, sentence, requirements } = await summary(shadow);
    // Every fifth run would have been ended; the runs 20 and 55 crash.
    expect(found).to.deep.equal({ would_end: 12, completed: 10, passed: 10 });
    expect(sentence).to.match(/; rules in shadow would have ended 12 runs; 10 of these completed, of which 10 pass/);
    expect(requirements[0]!.unknown).to.equal(8);
    const enforced = await summary(await flown(scene, { lost: 1 }));
    // Ten completed runs more, less run 10, which the rule ended.
    expect(enforced.requirements[0]!.unknown).to.equal(8 + 9);
  });

  it('name the parameter that drives an output', async () => {
    const { parameters } = await ask<contract.StudySensitivity>({
      name: 'sensitivity',
      batchId,
      query: { output: 'miss' },
    });
    expect(parameters.map((it) => [it.name, it.told_apart])).to.deep.equal([
      ['wind', true],
      ['mass', false],
    ]);
  });

  it('refuse a name that the study does not have, with the nearest one', async () => {
    expect(await refusal({ name: 'sensitivity', batchId, query: { output: 'mis' } })).to.equal(
      'malformed-query: output not found: the study has no output "mis"; did you mean "miss"?',
    );
    expect(await refusal({ name: 'worst', batchId, query: { output: 'mode', k: 1, direction: 'largest' } })).to.match(
      /mode is text/,
    );
    expect(await refusal({ name: 'attribution', batchId, query: { failing: 'crahsed' } })).to.match(
      /did you mean "crashed"/,
    );
    expect(await refusal({ name: 'attribution', batchId, query: { failing: 'outputs.mis > 5' } })).to.match(
      /^malformed-query: .*outputs\.miss/,
    );
    expect(await refusal({ name: 'summary', batchId: jobId(batchId, 5), query: {} })).to.match(/^unknown-batch/);
  });

  it('take every name while no run has completed, and say why there is no figure', async () => {
    const empty = await scene.submit({ runs: 3 });
    const { parameters, reason } = await ask<contract.StudySensitivity>({
      name: 'sensitivity',
      batchId: empty,
      query: { output: 'x' },
    });
    expect([parameters.every((it) => it.prcc === null), typeof reason]).to.deep.equal([true, 'string']);
    const { excluded } = await ask<contract.StudySummary>({ name: 'summary', batchId: empty, query: {} });
    expect(excluded).to.deep.equal({ open: 3 });
    await scene.api.cancelBatch(empty);
    const after = await ask<contract.StudySummary>({ name: 'summary', batchId: empty, query: {} });
    expect(after.excluded).to.deep.equal({ cancelled: 3 });
  });

  it('are about the runs that a study selects', async () => {
    const submission = study({ runs: 20 });
    submission.config.monte_carlo.run_ids = '3-9:2,15';
    const { batch_id } = await scene.api.submit(submission);
    const [first] = await scene.claim('a');
    await scene.start(batch_id, first!, 'a');
    await scene.complete(batch_id, first!, 'a');
    const worst = { name: 'worst', batchId: batch_id, query: { output: 'miss', k: 5, direction: 'largest' } } as const;
    const { of, excluded, runs } = await ask<contract.WorstRuns>(worst);
    expect([of, excluded, runs.map((it) => it.run_id)]).to.deep.equal([5, { open: 4 }, [3]]);
    await scene.api.cancelBatch(batch_id);
    const lines = [];
    for await (const piece of await scene.api.manifest(batch_id)) lines.push(new TextDecoder().decode(piece));
    const runIds = [...lines.join('').matchAll(/"run_id":(\d+)/g)].map((it) => Number(it[1]));
    expect(runIds).to.deep.equal([3, 5, 7, 9, 15]);
  });

  it('keep their tag until a run ends', async () => {
    const running = await flown(scene, { runs: 5, done: 2 });
    const question: Asked = { name: 'summary', batchId: running, query: {} };
    const first = await scene.api.answer(question, { waitMs: 1e6 });
    const tag = 'tag' in first ? first.tag : '';
    const known = { waitMs: 1e6, isKnown: (it: string) => it === tag };
    const [claimed] = await scene.claim('a');
    await scene.start(running, claimed!, 'a');
    expect(await scene.api.answer(question, known)).to.deep.equal({ state: 'unchanged', tag });
    await scene.complete(running, claimed!, 'a');
    const next = await scene.api.answer(question, known);
    expect(next.state).to.equal('ready');
    expect((parsed(next) as contract.StudySummary).excluded).to.deep.equal({ open: 2 });
    await scene.api.cancelBatch(running);
  });

  it('are pending after the wait, and ready later', async () => {
    // The next worker takes longer to start than the simulated wait.
    await scene.api.parts.answers.thread.worker?.terminate();
    const question: Asked = { name: 'summary', batchId, query: { confidence: 0.8 } };
    const waiting = scene.api.answer(question, { waitMs: 1000 });
    await scene.world.advance(1001);
    expect(await waiting).to.deep.equal({ state: 'pending' });
    expect((parsed(await scene.api.answer(question, { waitMs: 1e9 })) as contract.StudySummary).n_used).to.equal(47);
  });

  it('are pending at once for a client that has disconnected', async () => {
    const abandoned = AbortSignal.abort();
    const question: Asked = { name: 'summary', batchId, query: { confidence: 0.81 } };
    expect(await scene.api.answer(question, { waitMs: 1e9, abandoned })).to.deep.equal({ state: 'pending' });
  });

  it('write a manifest that verifies, with the digest of each result as the API sends it', async () => {
    let text = '';
    for await (const piece of await scene.api.manifest(batchId)) text += new TextDecoder().decode(piece);
    const lines = text.trimEnd().split('\n');
    const verification = await verifyManifest(lines);
    expect(verification).to.include({ valid: true, batch_id: batchId, runs: 60 });
    const first = JSON.parse(lines[1]!) as { run_id: number; class: string; result_digest: string };
    const result = JSON.stringify(await scene.api.jobResult(jobId(batchId, 0)));
    expect(first).to.include({
      run_id: 0,
      class: 'ok',
      result_digest: createHash('sha256').update(result).digest('hex'),
    });
  });

  it('write a manifest of a study that is not over', async () => {
    const running = await flown(scene, { runs: 5, done: 2 });
    const pieces = [];
    for await (const piece of await scene.api.manifest(running)) pieces.push(new TextDecoder().decode(piece));
    const [header] = pieces.join('').split('\n');
    expect(JSON.parse(header!)).to.deep.include({ counts: { ok: 2, open: 3 } });
    expect(await verifyManifest(pieces.join('').trimEnd().split('\n'))).to.include({ valid: true });
    await scene.api.cancelBatch(running);
  });

  it('are refused when the worker crashes, and given by the next worker', async () => {
    const { answers } = scene.api.parts;
    // A study that the worker must read first.
    const unread = await flown(scene, { runs: 20 });
    const crashes = scene.faults.length;
    const asked = refusal({ name: 'summary', batchId: unread, query: {} });
    await answers.thread.worker?.terminate();
    expect(await asked).to.match(
      /^unavailable: the answer was not computed: the analysis worker ended \(exit code 1\)/,
    );
    expect(scene.faults).to.have.length(crashes + 1);
    expect(await ask<contract.StudySummary>({ name: 'summary', batchId: unread, query: {} })).to.include({ of: 20 });
  });
});
