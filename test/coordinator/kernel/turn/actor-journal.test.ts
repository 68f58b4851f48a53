/** The journal of actors: refused events with their state, measures of the supervisor, changes of runners, in bounded memory. */
import { expect } from 'chai';
import { ActorJournal } from '../../../../src/coordinator/kernel/turn/actor-journal.ts';
import { ActorTopic } from '../../../../src/coordinator/feed/machines.ts';
import { actorState } from '../../../../src/coordinator/kernel/records/lookup.ts';
import type { ChangeSet } from '../../../../src/coordinator/feed/change-set.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { codeOf, Scene } from '../../../support/scene.ts';

const NO_CHANGES = {
  transitions: [],
  deletedBatches: new Set(),
  forgottenRunners: new Set(),
} as unknown as ChangeSet;

describe('coordinator/kernel/turn/actor-journal', () => {
  let scene: Scene;
  let batch: string;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 4 });
    batch = await scene.submit({ runs: 3 });
    await scene.claim('a', 1);
    await scene.start(batch, 0, 'a');
  });

  it('keeps an event that the machine refused, with the state and the context that it had', async () => {
    const { journal } = scene.api.parts;
    expect(journal.read('job', jobId(batch, 0)).refused).to.deep.equal([]);
    const report = { type: 'complete' as const, job_id: jobId(batch, 0), attempt: 7 };
    const judgements = await scene.api.reports('a', {
      instance: 'a-1',
      reports: [{ ...report, result: { execution_time_secs: 1, output_files: [], metadata: {} } }],
    });
    expect(judgements[0]).to.have.property('refusal');
    const { refused } = journal.read('job', jobId(batch, 0));
    expect(refused.map((it) => [it.event.type, it.state, it.times])).to.deep.equal([['COMPLETE', 'Running', 1]]);
    expect(refused[0]!.context).to.include({ attempt: 1, runnerId: 'a' });
  });

  it('keeps a refused registration of a stranger, equal ones in a row as one', async () => {
    for (let times = 0; times < 3; times += 1)
      expect(await codeOf(scene.api.register({ ...registration, instance: 'stranger' }))).to.equal('runner-id-in-use');
    const [refused, ...others] = scene.api.parts.journal.read('runner', 'a').refused;
    expect(others).to.deep.equal([]);
    expect([refused!.event.type, refused!.times]).to.deep.equal(['REGISTER', 3]);
  });

  const registration = {
    id: 'a',
    name: 'a',
    tags: [],
    instance: 'a-1',
    capabilities: {
      max_concurrent_jobs: 1,
      cpu_cores: 1,
      memory_gb: 1,
      gpu_available: false,
      supported_simulation_types: [],
    },
  };

  it('sends a refusal to the viewers of its actor once, though nothing was committed', async () => {
    const { parts } = scene.api;
    const topic = new ActorTopic(parts, 'runner', 'a', () => actorState(parts, 'runner', 'a'));
    const full = await topic.snapshot();
    expect(full.journal).to.deep.include({ since: parts.journal.sinceMs, refused: [] });
    expect(topic.onCommit(NO_CHANGES)).to.equal(false);
    await codeOf(scene.api.register({ ...registration, instance: 'stranger' }));
    expect(topic.onCommit(NO_CHANGES)).to.equal(true);
    expect(topic.delta()?.journal?.refused.map((it) => it.event.type)).to.deep.equal(['REGISTER']);
    expect(topic.onCommit(NO_CHANGES)).to.equal(false);
    expect(topic.delta()).to.equal(undefined);
  });

  it('notes changes of a runner with their cause', async () => {
    await scene.api.drain('a', 'cleaning');
    const notes = scene.api.parts.journal.read('runner', 'a').notes.map((it) => it.type);
    expect(notes).to.deep.equal(['runner.registered', 'runner.drained']);
  });

  it('notes a restart by the supervisor, of the actor and in sum', () => {
    const journal = new ActorJournal(5);
    journal.failed({ type: 'actor.failed', address: 'job/j', measure: 'restart', message: 'broke', now: 9 });
    expect(journal.read('job', 'j').notes).to.deep.equal([{ type: 'restart', now: 9, detail: 'broke' }]);
    expect(journal.read('supervisor', 'supervisor').notes).to.deep.equal([
      { type: 'restart', now: 9, detail: 'job/j: broke' },
    ]);
  });

  it('forgets the oldest events of an actor, and the actors whose entries are oldest', () => {
    const journal = new ActorJournal(0);
    const refuse = (address: string, state: string): void =>
      journal.refused(address, { type: 'RESUME', now: 1 }, { value: state, context: {} }, 1);
    for (let n = 0; n < 20; n += 1) refuse('runner/first', `S${n}`);
    expect(journal.read('runner', 'first').refused.map((it) => it.state))
      .to.have.length(12)
      .and.include('S19');
    for (let n = 0; n < 400; n += 1) refuse(`runner/r${n}`, 'Idle');
    expect(journal.read('runner', 'first').refused).to.deep.equal([]);
    expect(journal.read('runner', 'r399').refused).to.have.length(1);
  });
});
