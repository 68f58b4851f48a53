/** The live feed from a viewer's side: admission, messages, resumption, invalid requests. */
import { expect } from 'chai';
import type { TSchema } from 'typebox';
import { WebSocket } from 'ws';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { startHttp, type HttpServer } from '../../../src/http/server.ts';
import * as topics from '../../../src/contract/live/topics.ts';
import type { Fault } from '../../../src/contract/types.ts';
import { schemaFaults } from '../../../src/contract/validation/validate.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { study } from '../../support/studies.ts';

interface Message {
  type: string;
  topic?: string;
  epoch: string;
  seq: number;
  code?: string;
  data: Record<string, any>;
}

/** The schema of the data of each topic, by the beginning of its name. */
const SCHEMAS: [prefix: string, schema: TSchema][] = [
  ['batches', topics.BatchesData],
  ['pool', topics.PoolData],
  ['batch/', topics.BatchData],
  ['job/', topics.JobData],
];

/** Returns the faults of a message's data against the schema of its topic. */
function dataFaults({ type, topic = '', data }: Message): Fault[] {
  if (type !== 'snapshot' && type !== 'delta') return [];
  const isActor = topic.split('/').length === 3;
  const [schema] = topic.startsWith('machine/')
    ? [isActor ? ('steps' in data ? topics.ActorSteps : topics.ActorData) : topics.MachineData]
    : SCHEMAS.flatMap(([prefix, it]) => (topic.startsWith(prefix) ? [it] : []));
  return schemaFaults(schema!, data);
}

describe('http/live', () => {
  const faults: Fault[] = [];
  let coordinator: Coordinator;
  let http: HttpServer;
  const open: WebSocket[] = [];

  beforeEach(async () => {
    coordinator = await openCoordinator(new MemoryStore(), systemClock);
    const log = { debug: () => {}, info: () => {}, error: () => {} };
    http = await startHttp({ coordinator, live: coordinator, host: '127.0.0.1', port: 0, log, clock: systemClock });
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.terminate();
    await http.close(0);
    await coordinator.close();
    // Every message that any test receives has the shape of its topic's schema.
    expect(faults.splice(0)).to.deep.equal([]);
  });

  class Viewer {
    readonly socket: WebSocket;
    readonly received: Message[] = [];
    #wake = (): void => {};

    constructor(path: string, headers: Record<string, string> = {}) {
      this.socket = new WebSocket(http.url.replace('http', 'ws') + path, { headers });
      open.push(this.socket);
      this.socket.on('message', (data) => {
        const message = JSON.parse((data as Buffer).toString()) as Message;
        faults.push(...dataFaults(message));
        this.received.push(message);
        this.#wake();
      });
    }

    opened(): Promise<string> {
      return new Promise((resolve) => {
        this.socket.on('open', () => resolve('open'));
        this.socket.on('error', (error) => resolve(error.message));
      });
    }

    say(message: unknown): void {
      this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    }

    /** Returns the next message that matches and drops those before it. */
    async next(fits: (message: Message) => boolean): Promise<Message> {
      for (;;) {
        while (this.received.length > 0) {
          const message = this.received.shift()!;
          if (fits(message)) return message;
        }
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  async function viewer(topic: string, from?: object): Promise<Viewer> {
    const it = new Viewer('/live');
    expect(await it.opened()).to.equal('open');
    it.say({ type: 'subscribe', topic, from });
    return it;
  }

  const register = () =>
    coordinator.register({
      id: 'r1',
      instance: 'i',
      capabilities: {
        max_concurrent_jobs: 4,
        cpu_cores: 0,
        memory_gb: 0,
        gpu_available: false,
        supported_simulation_types: [],
      },
    });

  const HANDSHAKES: [what: string, path: string, headers: Record<string, string>, outcome: string][] = [
    ['no page', '/live', {}, 'open'],
    ['own page', '/live', { origin: 'OWN' }, 'open'],
    ['page elsewhere', '/live', { origin: 'http://evil.example' }, '403'],
    ['page elsewhere, inspection', '/inspect', { origin: 'http://evil.example' }, '403'],
    ['sandboxed page', '/live', { origin: 'null' }, '403'],
    ['rebound name', '/live', { host: 'evil.example', origin: 'http://evil.example' }, '403'],
    ['nothing there', '/jobs', {}, '404'],
    ['no member of a table', '/__proto__', {}, '404'],
  ];
  for (const [what, path, headers, outcome] of HANDSHAKES) {
    it(`answers ${outcome} to ${what}`, async () => {
      const sent = { ...headers, ...(headers['origin'] === 'OWN' ? { origin: http.url } : {}) };
      expect(await new Viewer(path, sent).opened()).to.include(outcome);
    });
  }

  const NONSENSE: [what: string, message: unknown, code: string][] = [
    ['no JSON', '{', 'malformed-body'],
    ['no object', '7', 'malformed-body'],
    ['unknown type', { type: 'shout' }, 'malformed-body'],
    ['no topic', { type: 'subscribe' }, 'malformed-body'],
    ['unknown topic', { type: 'subscribe', topic: 'weather' }, 'not-found'],
    ['a topic of Object', { type: 'subscribe', topic: 'machine/constructor' }, 'not-found'],
    ['a batch that is none', { type: 'subscribe', topic: 'batch/x' }, 'not-found'],
    ['an unknown batch', { type: 'subscribe', topic: 'batch/01890000-0000-8000-8000-000000000000' }, 'unknown-batch'],
    ['an unknown runner', { type: 'subscribe', topic: 'machine/runner/absent' }, 'unknown-runner'],
  ];
  for (const [what, message, code] of NONSENSE) {
    it(`answers ${code} to ${what} and stays connected`, async () => {
      const it = new Viewer('/live');
      await it.opened();
      it.say(message);
      expect((await it.next(() => true)).code).to.equal(code);
      it.say({ type: 'ping' });
      expect((await it.next(() => true)).type).to.equal('pong');
    });
  }

  it('disconnects a viewer that sends too much at once', async () => {
    const it = new Viewer('/live');
    await it.opened();
    const closed = new Promise<number>((resolve) => it.socket.on('close', resolve));
    it.say('x'.repeat(10_000));
    expect(await closed).to.equal(1009);
  });

  it('follows a batch from the full message to its end, run by run', async () => {
    await register();
    const { batch_id } = await coordinator.submit(study({ runs: 3 }));
    const it = await viewer(`batch/${batch_id}`);
    const snapshot = await it.next(() => true);
    expect(snapshot.type).to.equal('snapshot');
    expect(snapshot.data['progress'].jobs_by_status.Pending).to.equal(3);
    const { assignments } = await coordinator.claim('r1', { instance: 'i', max_jobs: 3 });
    const result = { execution_time_secs: 2, output_files: [], metadata: { miss: 1.5, note: 'no number' } };
    for (const { job, attempt } of assignments) {
      await coordinator.start(job.id, { runner_id: 'r1', attempt });
      await coordinator.complete(job.id, { runner_id: 'r1', attempt, result });
    }
    const rows = new Map<number, any>();
    for (;;) {
      const { data } = await it.next((message) => message.type === 'delta');
      for (const row of data['runs']) rows.set(row.run, row);
      if (data['progress'].batch.status === 'Completed') break;
    }
    expect([...rows.keys()].sort((a, b) => a - b)).to.deep.equal([0, 1, 2]);
    expect(rows.get(1)).to.include({ status: 'Completed', runner: 'r1' });
    expect(rows.get(1).outputs).to.deep.equal({ miss: 1.5, execution_secs: 2 });
  });

  it('resumes from the last position, and sends a full message when the position is unknown', async () => {
    await register();
    const first = await viewer('pool');
    const { epoch, seq } = await first.next(() => true);
    await coordinator.drain('r1', 'a');
    await first.next((message) => message.type === 'delta');
    first.socket.terminate();
    const back = await viewer('pool', { epoch, seq });
    expect((await back.next(() => true)).type).to.equal('resumed');
    expect((await back.next(() => true)).data['runners'][0].drain_reason).to.equal('a');
    for (const from of [{ epoch: 'other', seq }, { epoch, seq: 99 }, 'x']) {
      const stranger = await viewer('pool', from as object);
      expect((await stranger.next(() => true)).type).to.equal('snapshot');
    }
  });

  it('counts actors by state and reports transitions', async () => {
    await register();
    const it = await viewer('machine/job');
    expect((await it.next(() => true)).data['counts']).to.not.have.property('Running');
    await coordinator.submit(study({ runs: 5 }));
    const { assignments } = await coordinator.claim('r1', { instance: 'i', max_jobs: 1 });
    await coordinator.start(assignments[0]!.job.id, { runner_id: 'r1', attempt: 1 });
    const flow: Record<string, number> = {};
    for (;;) {
      const { data } = await it.next((message) => message.type === 'delta');
      for (const [transition, times] of Object.entries<number>(data['flow']))
        flow[transition] = (flow[transition] ?? 0) + times;
      if (data['counts'].Running === 1) {
        expect(data['counts'].Pending).to.equal(4);
        break;
      }
    }
    expect(flow).to.deep.equal({ 'Pending|CLAIM|Claimed': 1, 'Claimed|START|Running': 1 });
  });

  it('reports a deleted batch to subscribers of the batch, of its runs and of all batches', async () => {
    await register();
    const { batch_id } = await coordinator.submit(study({ runs: 1 }));
    const { assignments } = await coordinator.claim('r1', { instance: 'i', max_jobs: 1 });
    const { job, attempt } = assignments[0]!;
    await coordinator.start(job.id, { runner_id: 'r1', attempt });
    const result = { execution_time_secs: 2, output_files: [], metadata: {} };
    await coordinator.complete(job.id, { runner_id: 'r1', attempt, result });
    const all = await viewer('batches');
    const counts = await viewer('machine/job');
    const within = await Promise.all(
      [`batch/${batch_id}`, `job/${job.id}`, `machine/job/${job.id}`, `machine/batch/${batch_id}`].map((it) =>
        viewer(it),
      ),
    );
    for (const it of [all, counts, ...within]) expect((await it.next(() => true)).type).to.equal('snapshot');
    await coordinator.deleteBatch(batch_id);
    expect((await all.next(() => true)).data['deleted']).to.deep.equal([batch_id]);
    expect((await counts.next(() => true)).data['counts']).to.deep.equal({});
    const codes = await Promise.all(within.map(async (it) => (await it.next(() => true)).code));
    expect(codes).to.deep.equal(['unknown-batch', 'unknown-job', 'unknown-job', 'unknown-batch']);
    await coordinator.submit(study({ runs: 1 }));
    await all.next((message) => message.type === 'delta');
    expect(within.flatMap((it) => it.received)).to.deep.equal([]);
  });

  it('reports a forgotten runner to subscribers of the pool and of the runner', async () => {
    await register();
    await coordinator.signOff('r1', { instance: 'i' });
    const pool = await viewer('pool');
    const one = await viewer('machine/runner/r1');
    const counts = await viewer('machine/runner');
    for (const it of [pool, one, counts]) expect((await it.next(() => true)).type).to.equal('snapshot');
    await coordinator.forgetRunner('r1');
    expect((await pool.next(() => true)).data['forgotten']).to.deep.equal(['r1']);
    expect((await one.next(() => true)).code).to.equal('unknown-runner');
    expect((await counts.next(() => true)).data['counts']).to.deep.equal({});
    await register();
    expect((await pool.next(() => true)).data['runners'][0].id).to.equal('r1');
  });

  it('coalesces a thousand changes into a handful of messages', async () => {
    await register();
    await coordinator.submit(study({ runs: 5 }));
    const it = await viewer('pool');
    await it.next(() => true);
    for (let n = 0; n < 1_000; n += 1) void coordinator.heartbeat('r1', { instance: 'i', holding: [] });
    await coordinator.drain('r1', 'last');
    await it.next((message) => message.data['runners']?.[0].drain_reason === 'last');
    expect(it.received.length).to.be.lessThan(10);
  });

  it('holds nothing after the last viewer has disconnected', async () => {
    const it = await viewer('pool');
    await it.next(() => true);
    expect(coordinator.transitionLog.isWatched).to.equal(true);
    await http.close(0);
    expect(coordinator.transitionLog.isWatched).to.equal(false);
  });

  it('sends the inspection format: an actor, then its events with the state after each', async () => {
    const it = new Viewer('/inspect');
    await it.opened();
    expect(await it.next(() => true)).to.include({ type: '@xstate.actor', sessionId: 'supervisor' });
    await register();
    const types = ['@xstate.actor', '@xstate.event', '@xstate.snapshot'];
    for (const type of types) {
      const message = (await it.next(() => true)) as unknown as Record<string, any>;
      expect(message['type']).to.equal(type);
      expect(message['sessionId']).to.equal('runner/r1');
      if (type === '@xstate.actor') expect(JSON.parse(message['definition']).id).to.equal('runner');
      if (type === '@xstate.snapshot') expect(message['snapshot'].value).to.equal('Idle');
    }
  });
});
