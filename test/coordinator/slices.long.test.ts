/** Every stream, export, sweep and long reading runs in slices of the event loop. */
import { expect } from 'chai';
import { SLICE_MS } from '../../src/base/event-loop-share.ts';
import { Feed } from '../../src/coordinator/feed/feed.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { sweepStudies } from '../../src/coordinator/studies/deletions.ts';
import { sweepRunners } from '../../src/coordinator/pool/departures.ts';
import { forgetOldKeys } from '../../src/coordinator/kernel/turn/idempotency.ts';
import { Metrics } from '../../src/http/metrics.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import type { Report } from '../../src/contract/types.ts';
import { capabilities } from '../support/fake-api.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { study } from '../support/studies.ts';

/** Each look at its stopwatch takes a millisecond, and it counts the iterations that work waits for. */
class CostlyClock extends SimulatedClock {
  iterations = 0;
  #lookedMs = 0;
  #isDue = false;

  override monotonicMs(): number {
    return super.monotonicMs() + ++this.#lookedMs;
  }

  override soon(action: () => void): void {
    // Actions that become due together run in one iteration.
    if (!this.#isDue) this.iterations += 1;
    this.#isDue = true;
    super.soon(() => {
      this.#isDue = false;
      action();
    });
  }
}

/** Its actions run in the iterations of the event loop, after the work of the one before. */
class PhasedClock extends CostlyClock {
  override soon(action: () => void): void {
    setImmediate(action);
  }
}

const ITEMS = 200;
/** The repetitions of a schedule in one estimate. */
const ESTIMATES = 31;
/** Before the studies of no priority. */
const FIRST = { priority: 9 };
const DAY_MS = 86_400_000;

async function drain(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source);
}

describe('coordinator: slices of the event loop', () => {
  let clock: CostlyClock;
  let coordinator: Coordinator;
  let batchId: string;

  beforeEach(async () => {
    clock = new CostlyClock();
    coordinator = await openCoordinator(new MemoryStore(new Map()), clock, { retainMs: DAY_MS });
    for (let at = 0; at < ITEMS; at += 1) {
      await coordinator.submit(study({ runs: ITEMS }), { idempotencyKey: `key-${at}`, bodyDigest: '' });
      await coordinator.register({
        id: `r${at}`,
        instance: 'i',
        capabilities: { ...capabilities, max_concurrent_jobs: 1 },
      });
    }
    ({ batch_id: batchId } = await coordinator.submit(study({ runs: ITEMS })));
    const instance = 'i';
    for (let at = 0; at < ITEMS; at += 1) {
      const { assignments } = await coordinator.claim(`r${at}`, { instance, max_jobs: 1 });
      const { job, attempt } = assignments[0]!;
      batchId = job.batch_id;
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss: 1 } };
      await coordinator.start(job.id, { runner_id: `r${at}`, attempt });
      await coordinator.complete(job.id, { runner_id: `r${at}`, attempt, result });
    }
  });
  afterEach(() => coordinator.close());

  const work: [what: string, items: number, run: () => Promise<unknown>][] = [
    ['a list of derived runs', ITEMS, async () => drain((await coordinator.jobs({ status: ['Pending'] })).chunks)],
    ['a list of recorded runs', ITEMS, async () => drain((await coordinator.jobs({ status: ['Completed'] })).chunks)],
    [
      'a list of named runs',
      ITEMS,
      async () => drain((await coordinator.jobs({ run_id: Array.from({ length: ITEMS }, (_, at) => at) })).chunks),
    ],
    ['the count of a page of jobs', ITEMS, () => coordinator.jobs({ name: [] } as object, { limit: 1 })],
    ['a list of batches', ITEMS, async () => drain((await coordinator.batches({})).chunks)],
    ['the results of a batch', ITEMS, async () => drain((await coordinator.batchResults(batchId)).results.chunks)],
    [
      'the results of a family',
      ITEMS,
      async () => drain((await coordinator.batchResults(batchId, { family: true })).results.chunks),
    ],
    [
      'the runs of a sorted table, read by their keys',
      ITEMS,
      async () => {
        const request = { batchId, format: 'csv', columns: ['run_id', 'outputs.miss'], sort: ['-run_id'] } as const;
        const answer = await coordinator.table(request);
        if (answer.state !== 'ready' || answer.body instanceof Uint8Array) throw new Error('not a stream');
        await drain(answer.body);
      },
    ],
    [
      'a selection of runs by their state',
      ITEMS,
      () => coordinator.rerunBatch(batchId, { select: { states: ['Completed'] } }),
    ],
    ['the draw of an audit', ITEMS, () => coordinator.auditBatch(batchId, { fraction: 0.5, seed: 1 })],
    [
      'the answer of an audit',
      ITEMS,
      async () => {
        const { batch_id: audit } = await coordinator.auditBatch(batchId, { fraction: 1, seed: 1 });
        clock.iterations = 0;
        await coordinator.auditAnswer(audit);
      },
    ],
    ['the pool', ITEMS, () => coordinator.runners({})],
    ['an export of everything', ITEMS, async () => drain((await coordinator.exportSnapshot()).records.chunks)],
    ['an export of a batch', ITEMS, async () => drain((await coordinator.exportSnapshot(batchId)).records.chunks)],
    ['a backup', ITEMS, async () => drain(await coordinator.backup())],
    [
      'the sweep of old studies and runners',
      ITEMS,
      async () => {
        clock.setClock(clock.now() + 2 * DAY_MS);
        await coordinator.tick();
        await coordinator.parts.purges.idle();
        clock.iterations = 0;
        await sweepStudies(coordinator.parts);
        await sweepRunners(coordinator.parts);
      },
    ],
    ['the full message of the pool', ITEMS, () => subscribed('pool')],
    ['the full message of a machine', ITEMS, () => subscribed('machine/runner')],
    ['the metrics', ITEMS, () => metricsText()],
    ['an estimate of the time left', ESTIMATES, () => estimated()],
    ['the variables of live telemetry', LIMITS.liveVariables, () => liveTelemetry()],
    ['the judgement of runs that waited for the first one', ITEMS, () => judged(false)],
    ['the reading of ended runs after a restart', ITEMS, () => judged(true)],
  ];

  async function subscribed(topic: string): Promise<void> {
    const feed = new Feed(coordinator);
    const leave = await feed.subscribe(topic, { send: () => {}, isCongested: () => false });
    leave();
    feed.close();
  }

  /** A study with a requirement whose first run ends last; its runs are on the disk for the coordinator after a restart. */
  async function judged(isRestarted: boolean): Promise<void> {
    const requirements = [{ name: 'close', output: 'miss', condition: '< 2', probability: 0.9 }];
    const { batch_id: judgedId } = await coordinator.submit({ ...study({ runs: ITEMS }), requirements, policy: FIRST });
    const instance = 'j';
    await coordinator.register({ id: 'j', instance, capabilities: { ...capabilities, max_concurrent_jobs: ITEMS } });
    const { assignments } = await coordinator.claim('j', { instance, max_jobs: ITEMS });
    const result = { execution_time_secs: 1, output_files: [], metadata: { miss: 1 } };
    const reports = assignments.toReversed().flatMap(({ job: { id: job_id }, attempt }): Report[] => [
      { type: 'start', job_id, attempt },
      { type: 'complete', job_id, attempt, result },
    ]);
    clock.iterations = 0;
    await coordinator.reports('j', { instance, reports });
    await coordinator.parts.judgements.idle();
    const ofEnds = clock.iterations;
    if (!isRestarted) return;
    const { store } = coordinator.parts;
    await store.write([[keys.verdicts(judgedId), null]]);
    clock.iterations = 0;
    expect(await coordinator.batch(judgedId)).to.not.have.property('requirements');
    await coordinator.parts.judgements.idle();
    expect(clock.iterations, 'reading and judging').to.be.above(ofEnds);
    expect((await coordinator.batch(judgedId)).requirements![0]).to.include({ judged: ITEMS, verdict: 'met' });
  }

  /** The progress of a study of which half has ended and the rest is running. */
  async function estimated(): Promise<void> {
    const { batch_id: id } = await coordinator.submit({ ...study({ runs: 20 }), policy: FIRST });
    const instance = 'j';
    await coordinator.register({ id: 'j', instance, capabilities: { ...capabilities, max_concurrent_jobs: 20 } });
    const { assignments } = await coordinator.claim('j', { instance, max_jobs: 20 });
    const result = { execution_time_secs: 1, output_files: [], metadata: { miss: 1 } };
    const reports = assignments.flatMap(({ job: { id: job_id }, attempt }, at): Report[] => [
      { type: 'start', job_id, attempt },
      ...(at < 10 ? [{ type: 'complete' as const, job_id, attempt, result }] : []),
    ]);
    await coordinator.reports('j', { instance, reports });
    clock.iterations = 0;
    expect(await coordinator.batch(id)).to.have.property('eta');
  }

  /** The telemetry of a running run, with as many variables as a runner may send. */
  async function liveTelemetry(): Promise<void> {
    const submission = study({ runs: 1, config: { telemetry: { live: true } } });
    await coordinator.submit({ ...submission, policy: FIRST });
    const instance = 'j';
    await coordinator.register({ id: 'j', instance, capabilities: { ...capabilities, max_concurrent_jobs: 1 } });
    const { assignments } = await coordinator.claim('j', { instance, max_jobs: 1 });
    const { job, attempt } = assignments[0]!;
    await coordinator.start(job.id, { runner_id: 'j', attempt });
    const { signal } = new AbortController();
    const poll = coordinator.fileRequests('j', { instance, holding: [], wait_seconds: 25 }, signal);
    const reading = coordinator.liveTelemetry(job.id, signal);
    const [asked] = (await poll).requests;
    const variable = { samples: 1, not_finite: 0, reversals: 0, time_s: [0], values: [1] };
    const lines = Array.from({ length: LIMITS.liveVariables }, (_, at) => ({ name: `v${at}`, ...variable }));
    const head = { samples: 1, refused: 0, lost: 0, omitted: 0 };
    const bytes = Buffer.from([head, ...lines].map((it) => JSON.stringify(it)).join('\n'));
    clock.iterations = 0;
    await coordinator.filePart('j', { request: asked!.request_id, size: bytes.length, version: 'live' }, bytes);
    expect((await reading).variables).to.have.lengthOf(LIMITS.liveVariables);
  }

  async function metricsText(): Promise<void> {
    const metrics = new Metrics();
    metrics.watch(coordinator);
    await metrics.text();
  }

  for (const [what, items, run] of work) {
    it(`${what} yields to the event loop at least once in ${SLICE_MS} ms`, async () => {
      clock.iterations = 0;
      await run();
      expect(clock.iterations).to.be.at.least(items / SLICE_MS);
    });
  }

  it('the sweep of idempotency keys and the samples yield after each piece', async () => {
    for (const run of [
      () => forgetOldKeys(coordinator.parts),
      async () => drain(await coordinator.samples(batchId, 'csv')),
    ]) {
      await clock.advance(SLICE_MS);
      clock.iterations = 0;
      await run();
      expect(clock.iterations).to.be.at.least(1);
    }
  });

  it('a list leaves the loop to a write in progress for a time, and continues when the write ends or the time is over', async () => {
    clock = new PhasedClock();
    let endWrite = (): void => {};
    let beforeWrite = async (): Promise<void> => {};
    const store = new MemoryStore(new Map(), { beforeWrite: () => beforeWrite() });
    const writing = await openCoordinator(store, clock);
    await writing.register({ id: 'r', instance: 'i', capabilities });
    for (let at = 0; at < ITEMS; at += 1) await writing.submit(study({ runs: 2 }));
    beforeWrite = () => new Promise((resolve) => (endWrite = resolve));
    /** Returns true when the list ends in some hundred iterations, without the clock being advanced. */
    const endsBeside = async (list: Promise<unknown>): Promise<boolean> => {
      let isOver = false;
      void list.then(() => (isOver = true));
      for (let at = 0; at < 4 * ITEMS && !isOver; at += 1) await new Promise((resolve) => setImmediate(resolve));
      return isOver;
    };
    const list = async (): Promise<void> => drain((await writing.jobs({ status: ['Pending'] })).chunks);
    for (const endEarly of [true, false]) {
      const beat = writing.heartbeat('r', { instance: 'i', holding: [] });
      const listed = list();
      expect(await endsBeside(listed)).to.equal(false);
      if (endEarly) endWrite();
      else while (!(await endsBeside(listed))) await clock.advance(2 * SLICE_MS);
      expect(await endsBeside(listed)).to.equal(true);
      endWrite();
      await beat;
    }
    beforeWrite = async () => {};
    await writing.close();
  });
});
