/** The live feed: full messages come from the disk, deltas carry the rows of a change set, in bounded numbers. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import { changeSetOf } from '../../../src/coordinator/feed/change-set.ts';
import { Feed } from '../../../src/coordinator/feed/feed.ts';
import type { BatchSubmission, RoundEvent } from '../../../src/contract/types.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { codeOf, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';
import { strictFaults } from '../../support/strict-schema.ts';
import { BatchStatusResponse } from '../../../src/contract/resources/batches.ts';

/** A study of three runs that ask for counted resources. */
function asking(resources: Record<string, number>): BatchSubmission {
  const { config, ...rest } = study({ runs: 3 });
  return { ...rest, config: { ...config, compute: { ...config.compute, resources } } };
}

interface Message {
  type: string;
  data: Record<string, unknown>;
}

describe('coordinator/feed', () => {
  let scene: Scene;
  let feed: Feed;
  let isHeld: boolean;
  let release: () => void;

  beforeEach(async () => {
    isHeld = false;
    scene = await Scene.open({
      beforeWrite: () => (isHeld ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve()),
    });
    feed = new Feed(scene.api);
  });
  afterEach(() => feed.close());

  /** Subscribes, and returns the messages that arrive. */
  async function messagesOf(topic: string): Promise<Message[]> {
    const messages: Message[] = [];
    await feed.subscribe(topic, {
      send: (text) => messages.push(JSON.parse(text) as Message),
      isCongested: () => false,
    });
    return messages;
  }

  it('shows the state of an actor as it is on disk while a newer one is being written', async () => {
    const batch = await scene.submit({ runs: 2 });
    await scene.register('a');
    isHeld = true;
    const claimed = scene.claim('a');
    await settled();
    const job = jobId(batch, 0);
    expect(scene.api.parts.directory.state('job', job)?.value, 'in memory').to.equal('Claimed');
    const states = await Promise.all(
      [`machine/job/${job}`, `machine/runner/a`, `machine/batch/${batch}`].map(
        async (topic) => (await messagesOf(topic))[0]?.data.value,
      ),
    );
    expect(states).to.deep.equal(['Pending', 'Idle', 'Pending']);
    release();
    await claimed;
    const [message] = await messagesOf(`machine/job/${job}`);
    expect(message?.data).to.include({ value: 'Claimed' });
  });

  it('carries the verdicts on requirements as runs end, and the stop that they cause', async () => {
    const requirement = { name: 'near', output: 'miss', condition: '< 5', probability: 0.5, confidence: 0.6 };
    const batch = await scene.submit({ runs: 9, requirements: [requirement], policy: { stop_when: 'settled' } });
    await scene.register('a', { slots: 3 });
    const messages = await messagesOf(`batch/${batch}`);
    await scene.claim('a', 3);
    for (let run = 0; run < 3; run += 1) {
      await scene.start(batch, run, 'a');
      await scene.complete(batch, run, 'a');
      await scene.world.advance(1_000);
    }
    const shown = messages.map(({ data }) => data['progress'] as BatchStatusResponse);
    const verdicts = shown.map(({ requirements: [it] = [] }) => `${it?.verdict} ${it?.passed}`);
    expect([...new Set(verdicts)]).to.deep.equal(['open 0', 'open 1', 'open 2', 'met 3']);
    const last = shown.at(-1)!;
    expect(last.batch).to.include({ status: 'Completed', settled_at_run_id: 2 });
    expect(strictFaults(BatchStatusResponse, last)).to.deep.equal([]);
  });

  it('announces rounds when they are appended and when their last run has ended', async () => {
    const batch = (await scene.api.submit(adaptiveStudy())).batch_id;
    const messages = await messagesOf(`batch/${batch}`);
    const other = await messagesOf(`batch/${(await scene.api.submit(adaptiveStudy())).batch_id}`);
    const eventsOf = (all: Message[]) =>
      all.flatMap(({ data }) => (data['rounds'] ?? []) as RoundEvent[]).map((it) => Object.values(it));
    const row = { r: 1, x: 2 };
    await scene.api.appendRound(batch, { key: 'a', rows: [row, row] });
    await scene.world.advance(1_000);
    await scene.register('a', { slots: 3 });
    await scene.claim('a', 2);
    for (const run of [0, 1]) {
      await scene.start(batch, run, 'a');
      await scene.complete(batch, run, 'a');
      await scene.world.advance(1_000);
    }
    expect(eventsOf(messages)).to.deep.equal([
      ['round-appended', 0, 0, 2],
      ['round-complete', 0, 0, 2],
    ]);
    await scene.api.appendRound(batch, { key: 'b', rows: [row] });
    await scene.api.appendRound(batch, { key: 'c', rows: [row] });
    await scene.api.cancelBatch(batch);
    await scene.world.advance(1_000);
    expect(eventsOf(messages).slice(2), 'the latest event of each').to.deep.equal([
      ['round-complete', 1, 2, 1],
      ['round-complete', 2, 3, 1],
    ]);
    expect(eventsOf(other)).to.deep.equal([]);
  });

  it('lists no batch that is not on disk yet', async () => {
    const first = await scene.submit();
    isHeld = true;
    const second = scene.submit();
    await settled();
    const messages = await messagesOf('batches');
    const listed = messages.flatMap((it) => it.data.batches as { batch: { id: string } }[]).map((it) => it.batch.id);
    expect(listed).to.deep.equal([first]);
    release();
    await second;
  });

  it('refuses a topic of an actor that does not exist', async () => {
    const batch = await scene.submit({ runs: 1 });
    const unknown = batch.replace('0', 'f');
    expect(await codeOf(messagesOf(`machine/batch/${unknown}`))).to.equal('unknown-batch');
    expect(await codeOf(messagesOf(`machine/job/${jobId(batch, 1)}`))).to.equal('unknown-job');
    expect(await codeOf(messagesOf('machine/runner/ghost'))).to.equal('unknown-runner');
  });

  it('sends the rows of changed runs in deltas of at most 300', async () => {
    const batch = await scene.submit({ runs: 700 });
    await scene.register('a', { slots: 700 });
    const messages = await messagesOf(`batch/${batch}`);
    await scene.claim('a', 700);
    await scene.world.advance(1_000);
    const deltas = messages.filter((it) => it.type === 'delta').map((it) => it.data.runs as { run: number }[]);
    expect(deltas.map((it) => it.length)).to.deep.equal([300, 300, 100]);
    expect(deltas.flat().map((it) => it.run)).to.deep.equal(Array.from({ length: 700 }, (_, run) => run));
  });

  it('asks clients to reload the runs of a cancelled batch', async () => {
    const batch = await scene.submit({ runs: 700 });
    const messages = await messagesOf(`batch/${batch}`);
    await scene.api.cancelBatch(batch);
    await scene.world.advance(1_000);
    expect(messages.at(-1)?.data).to.deep.include({ reload: true, runs: [] });
  });

  it('sorts the changes of a group by subject', async () => {
    const batch = await scene.submit({ runs: 2 });
    await scene.register('a');
    const sets: ReturnType<typeof changeSetOf>[] = [];
    scene.api.watch((commit) => sets.push(changeSetOf(commit)));
    await scene.claim('a');
    await scene.api.cancelBatch(batch);
    await scene.api.deleteBatch(batch);
    const [claim, cancel, deletion] = sets;
    expect([...(claim?.batches ?? [])]).to.deep.equal([batch]);
    expect([...(claim?.runners ?? [])]).to.deep.equal(['a']);
    expect([...(claim?.jobs.get(batch)?.values() ?? [])].map((it) => it?.value)).to.deep.equal(['Claimed']);
    expect([...(cancel?.cancelledBatches ?? [])]).to.deep.equal([batch]);
    expect([...(deletion?.deletedBatches ?? [])]).to.deep.equal([batch]);
    expect([...(deletion?.batches ?? [])]).to.deep.equal([]);
  });

  it('shows the pools of resources with each change of their use, also where no runner has changed', async () => {
    feed.close();
    scene = await Scene.open({ resources: { comsol: 1 } });
    feed = new Feed(scene.api);
    await scene.register('a', { slots: 4 });
    const messages = await messagesOf('pool');
    expect(messages[0]?.data['site_resources']).to.deep.equal([{ name: 'comsol', total: 1, used: 0, batches: [] }]);
    const { batch_id: batch } = await scene.api.submit(asking({ comsol: 1 }));
    await scene.world.advance(1_000);
    expect(messages.at(-1)?.data).to.deep.include({
      runners: [],
      site_resources: [{ name: 'comsol', total: 1, used: 0, waiting: 3, batches: [] }],
    });
    expect(await scene.claim('a', 4)).to.deep.equal([0]);
    await scene.world.advance(1_000);
    expect(messages.at(-1)?.data['site_resources']).to.deep.equal([
      { name: 'comsol', total: 1, used: 1, waiting: 2, batches: [batch] },
    ]);
    expect((await scene.api.runners({})).site_resources).to.deep.equal(messages.at(-1)?.data['site_resources']);
  });
});
