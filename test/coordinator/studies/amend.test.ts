/** Amendments of the judgement: verdicts follow them, they are durable and stated with the runs that had ended, and nothing is executed. */
import { expect } from 'chai';
import type { JudgementRequest, RequirementVerdict, StudyVerdicts, Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { all, codeOf, RESULT, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';
import type { StudyOptions } from '../../support/studies.ts';

const CLOSE = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 };
const FAR = { name: 'far', output: 'miss', condition: '> 2', probability: 0.9 };
const HARD = { ...CLOSE, name: 'hard', probability: 0.99, confidence: 0.99 };
const BOTH = { name: 'both', all: ['close', 'far'], probability: 0.5 };

describe('coordinator/studies/amend', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 100 });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const idle = (): Promise<void> => scene.api.parts.judgements.idle();
  const amend = async (batch: Uuid, request: JudgementRequest) => {
    const answer = await scene.api.amendJudgement(batch, request);
    await idle();
    return answer;
  };
  /** Ends these runs with their number as the output. */
  const end = async (batch: Uuid, ...runs: number[]): Promise<void> => {
    const reports = runs.flatMap((run) => {
      const about = { job_id: jobId(batch, run), attempt: 1 };
      return [
        { type: 'start' as const, ...about },
        { type: 'complete' as const, ...about, result: { ...RESULT, metadata: { miss: run } } },
      ];
    });
    await scene.api.reports('a', { instance: scene.instance('a'), reports });
    await idle();
  };
  const ended = async (runs: number, options: StudyOptions = {}): Promise<Uuid> => {
    const batch = await scene.submit({ runs, ...options });
    await scene.claim('a', runs);
    await end(batch, ...Array.from({ length: runs }, (_, run) => run));
    return batch;
  };
  const verdicts = async (batch: Uuid): Promise<RequirementVerdict[]> => {
    await scene.api.batch(batch);
    await idle();
    return (await scene.api.batch(batch)).requirements ?? [];
  };
  const askedVerdicts = async (batch: Uuid, family = false): Promise<RequirementVerdict[]> => {
    const answer = await scene.api.answer({ name: 'verdicts', batchId: batch, query: {} }, { waitMs: 1e6, family });
    if (answer.state !== 'ready') throw new Error(answer.state);
    const { requirements } = JSON.parse(new TextDecoder().decode(answer.body)) as StudyVerdicts;
    return requirements.map(({ course: _, ...verdict }) => verdict);
  };
  const counts = (found: readonly RequirementVerdict[]): string[] =>
    found.map((it) => `${it.name} ${it.verdict} ${it.passed}/${it.failed}, ${it.stated_at?.runs_ended ?? 'at once'}`);

  it('counts a last run that ends while an amendment is written', async () => {
    const releases: (() => void)[] = [];
    let isHeld = false;
    scene = await Scene.open({
      beforeWrite: () => (isHeld ? new Promise((resolve) => releases.push(resolve)) : Promise.resolve()),
    });
    await scene.register('a', { slots: 100 });
    const batch = await scene.submit({ runs: 2, requirements: [CLOSE] });
    await scene.claim('a', 2);
    await end(batch, 0);
    await scene.start(batch, 1, 'a');
    isHeld = true;
    const amended = scene.api.amendJudgement(batch, { labels: { reviewed: 'yes' } });
    await settled();
    const completed = scene.complete(batch, 1, 'a');
    await settled();
    // The amendment is on disk, the end of the run and of the study is not.
    releases.shift()!();
    await settled();
    isHeld = false;
    releases.splice(0).forEach((release) => release());
    await Promise.all([amended, completed]);
    await idle();
    expect((await verdicts(batch))[0]).to.include({ passed: 2, unknown: 0, judged: 2 });
  });

  it('judges the runs of an ended study, and says that the requirement was stated after them', async () => {
    const batch = await ended(20);
    expect(await verdicts(batch)).to.deep.equal([]);
    expect(await askedVerdicts(batch)).to.deep.equal([]);
    await scene.world.advance(5000);
    const answer = await amend(batch, { requirements: [CLOSE], labels: { campaign: 'a' } });
    const time = new Date(scene.world.now()).toISOString();
    expect(answer).to.deep.include({ revision: 1, amended_at: time, labels: { campaign: 'a' }, outputs: {} });
    expect(answer.requirements).to.deep.equal([{ ...CLOSE, stated_at: { runs_ended: 20, time } }]);
    expect(await scene.api.judgement(batch)).to.deep.equal(answer);
    expect(counts(await verdicts(batch))).to.deep.equal(['close met 20/0, 20']);
    const [verdict] = await verdicts(batch);
    expect(verdict!.warnings.map((it) => it.code)).to.deep.equal(['stated-after-runs']);
    expect(verdict!.warnings[0]!.message)
      .to.contain('20 runs had ended')
      .and.to.contain('without looking at these runs');
    expect(await askedVerdicts(batch)).to.deep.equal(await verdicts(batch));
    expect(await scene.status(batch)).to.equal('Completed: 20 Completed');
    expect(await scene.claim('a', 5), 'nothing is executed').to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch.labels).to.deep.equal({ campaign: 'a' });
    const found = await all(await scene.api.batches({ label: ['campaign=a'] }));
    expect(found.map((it) => it.id)).to.deep.equal([batch]);
    const stored = await scene.api.submission(batch);
    expect(stored.requirements, 'as it may be submitted again').to.deep.equal([CLOSE]);
  });

  it('has the members before and after in the history, after the end of the study', async () => {
    const batch = await ended(3, { requirements: [CLOSE] });
    await scene.world.advance(1000);
    await amend(batch, { requirements: [CLOSE, FAR], outputs: { miss: { units: 'm' } } });
    await scene.restart();
    const { events } = await scene.api.batchHistory(batch);
    expect(events.map((it) => it.type)).to.deep.equal(['submitted', 'started', 'ended', 'amended']);
    expect(events.at(-1)).to.deep.include({
      before: { requirements: [CLOSE], outputs: {} },
      after: { requirements: [CLOSE, FAR], outputs: { miss: { units: 'm' } } },
    });
  });

  it('keeps the time of a requirement that stays; one whose part changes is stated anew', async () => {
    const batch = await ended(6, { requirements: [CLOSE, FAR, BOTH] });
    await amend(batch, { requirements: [BOTH, FAR, CLOSE] });
    expect(counts(await verdicts(batch)).map((it) => it.split(', ')[1])).to.deep.equal(Array(3).fill('at once'));
    await amend(batch, { requirements: [CLOSE, { ...FAR, condition: '> 3' }, BOTH] });
    expect(counts(await verdicts(batch))).to.deep.equal([
      'close met 6/0, at once',
      'far violated 2/4, 6',
      'both not-shown 2/4, 6',
    ]);
    // Back again is chosen again.
    await amend(batch, { requirements: [CLOSE, FAR, BOTH] });
    expect(counts(await verdicts(batch))[1]).to.contain(', 6');
  });

  it('changes nothing when it is repeated, and refuses another revision than the current one', async () => {
    const batch = await ended(2);
    const first = await amend(batch, { requirements: [CLOSE], revision: 0 });
    expect(await amend(batch, { requirements: [CLOSE] })).to.deep.equal(first);
    expect(await codeOf(amend(batch, { requirements: [FAR], revision: 0 }))).to.equal('judgement-changed');
    const both = [amend(batch, { requirements: [FAR] }), amend(batch, { labels: { who: 'b' } })];
    expect((await Promise.all(both)).map((it) => it.revision)).to.deep.equal([2, 3]);
    expect(await scene.api.judgement(batch)).to.deep.include({ revision: 3, labels: { who: 'b' } });
    const repeat = { idempotencyKey: 'k', bodyDigest: 'd' };
    const keyed = await scene.api.amendJudgement(batch, { requirements: [] }, repeat);
    await amend(batch, { requirements: [CLOSE] });
    expect(await scene.api.amendJudgement(batch, { requirements: [] }, repeat)).to.deep.equal(keyed);
    expect((await scene.api.judgement(batch)).requirements).to.have.length(1);
  });

  it('names every fault with its pointer, and refuses a rule by which the study would stop', async () => {
    const batch = await scene.submit({ runs: 9, requirements: [CLOSE], policy: { stop_when: 'settled' } });
    const faults = async (request: JudgementRequest): Promise<string[]> =>
      amend(batch, request).then(
        () => [],
        (error: { faults: { pointer: string; detail: string }[] }) =>
          error.faults.map((it) => `${it.pointer} ${it.detail}`),
      );
    expect(await faults({ stop_when: 'settled' })).to.have.length(1);
    expect((await faults({ stop_when: 'precise' }))[0]).to.match(/^\/stop_when .*fixed before its first run/);
    expect((await faults({}))[0]).to.contain('amends nothing');
    expect((await faults({ requirements: [] }))[0]).to.match(/^\/requirements is empty/);
    expect((await faults({ requirements: [{ ...CLOSE, condition: 'near' }] }))[0]).to.match(
      /^\/requirements\/0\/condition/,
    );
    const long = { miss: { description: 'x'.repeat(70_000) } };
    expect((await faults({ outputs: long }))[0]).to.match(/^\/outputs leaves .* at most 65536/);
    expect(await scene.api.judgement(batch)).to.include({ revision: 0 });
  });

  it('judges a running study from its first run, as if the requirement had been there', async () => {
    const batch = await scene.submit({ runs: 10 });
    const twin = await scene.submit({ runs: 10, requirements: [FAR, BOTH, CLOSE] });
    await scene.claim('a', 20);
    await end(batch, 0, 1, 2, 3, 7);
    await amend(batch, { requirements: [FAR, BOTH, CLOSE] });
    expect(counts(await verdicts(batch))[0]).to.equal('far open 1/3, 5');
    await end(batch, 4, 5, 6, 8, 9);
    await end(twin, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    const bare = ({ stated_at: _, warnings: __, ...verdict }: RequirementVerdict): object => verdict;
    expect((await verdicts(batch)).map(bare)).to.deep.equal((await verdicts(twin)).map(bare));
    expect(await askedVerdicts(batch)).to.deep.equal(await verdicts(batch));
  });

  /** A scene whose writes can be held: `release` lets the one in progress end. */
  async function held(): Promise<{ hold: (isHeld: boolean) => void; release: () => Promise<void> }> {
    const writes: (() => void)[] = [];
    let isHeld = false;
    await scene.api.close();
    scene = await Scene.open({
      beforeWrite: () => (isHeld ? new Promise((resolve) => writes.push(resolve)) : Promise.resolve()),
    });
    await scene.register('a', { slots: 100 });
    return {
      hold: (value) => void (isHeld = value),
      release: async () => {
        writes.shift()?.();
        await settled();
      },
    };
  }
  const report = (batch: Uuid, run: number) =>
    scene.api.reports('a', {
      instance: scene.instance('a'),
      reports: [
        { type: 'start', attempt: 1, job_id: jobId(batch, run) },
        { type: 'complete', attempt: 1, job_id: jobId(batch, run), result: { ...RESULT, metadata: { miss: run } } },
      ],
    });

  it('judges a run under the new requirements that ends while the amendment is written', async () => {
    const { hold, release } = await held();
    const batch = await scene.submit({ runs: 4, requirements: [CLOSE] });
    await scene.claim('a', 4);
    await end(batch, 0);
    hold(true);
    const amended = scene.api.amendJudgement(batch, { requirements: [FAR, CLOSE] });
    await settled();
    const reported = report(batch, 1);
    await settled();
    hold(false);
    await release();
    await Promise.all([amended, reported]);
    await idle();
    expect(counts(await verdicts(batch))).to.deep.equal(['far open 0/2, 1', 'close open 2/0, at once']);
  });

  it('is not stopped by requirements that were amended before the stop', async () => {
    const { hold, release } = await held();
    const batch = await scene.submit({ runs: 9, requirements: [CLOSE], policy: { stop_when: 'settled' } });
    await scene.claim('a', 9);
    await end(batch, 0, 1);
    hold(true);
    const reported = report(batch, 2);
    await settled();
    const amended = scene.api.amendJudgement(batch, { requirements: [HARD] });
    // The run that settles the old requirement is on disk, the amendment is not.
    await release();
    hold(false);
    await release();
    await Promise.all([reported, amended]);
    await idle();
    expect(await scene.status(batch)).to.equal('Running: 6 Claimed, 3 Completed');
    expect(counts(await verdicts(batch))).to.deep.equal(['hard open 3/0, 3']);
  });

  it('stops a study that stops when it is settled by the requirements in force, at their run of the complete prefix', async () => {
    const batch = await scene.submit({ runs: 100, requirements: [CLOSE, HARD], policy: { stop_when: 'settled' } });
    await scene.claim('a', 20);
    await end(batch, 0, 1, 2, 3, 4);
    expect(await scene.status(batch)).to.equal('Running: 80 Pending, 15 Claimed, 5 Completed');
    await amend(batch, { requirements: [CLOSE] });
    expect(await scene.status(batch)).to.equal('Completed: 5 Completed, 95 Cancelled');
    expect((await scene.api.batch(batch)).batch).to.include({ settled_at_run_id: 2 });
  });

  it('is there after a restart at once', async () => {
    const batch = await scene.submit({ runs: 5, requirements: [CLOSE] });
    await scene.claim('a', 5);
    await end(batch, 0, 1, 2);
    const before = await amend(batch, { requirements: [FAR], outputs: { miss: { units: 'm' } } });
    await scene.restart();
    expect(await scene.api.judgement(batch)).to.deep.equal(before);
    await idle();
    expect(counts(await verdicts(batch))).to.deep.equal(['far violated 0/3, 3']);
  });

  it('is that of an extension too, stated before its runs; a rerun repeats runs that had ended', async () => {
    const batch = await ended(8, { config: { monte_carlo: { sampling_method: 'quasi_monte_carlo' } } });
    await amend(batch, { requirements: [CLOSE], labels: { campaign: 'a' } });
    const { batch_id: more } = await scene.api.extendBatch(batch, { runs: 12 });
    await scene.claim('a', 4);
    await end(more, 8, 9, 10, 11);
    expect(counts(await verdicts(more))).to.deep.equal(['close met 4/0, at once']);
    expect((await scene.api.batch(more)).batch.labels).to.deep.equal({ campaign: 'a' });
    // All runs of the family: the requirement was stated when some of them had ended.
    for (const asked of [batch, more])
      expect(counts(await askedVerdicts(asked, true))).to.deep.equal(['close met 12/0, 8']);
    const { batch_id: again } = await scene.api.rerunBatch(batch, {});
    await scene.claim('a', 8);
    await end(again, 0, 1, 2, 3, 4, 5, 6, 7);
    expect(counts(await verdicts(again))).to.deep.equal(['close met 8/0, 8']);
  });
});
