/** The actor system: what the supervisor does with an actor that throws, and what XState's own tools see of the actors. */
import { expect } from 'chai';
import type { Actor, AnyActorLogic, AnyActorRef, InspectionEvent } from 'xstate';
import { KINDS, MACHINE_NAMES } from '../../../../machines/kinds.ts';
import { SUPERVISION } from '../../../../machines/supervisor/policy.ts';
import { INTERPRETERS } from '../../../../src/base/interpreters/interpreters.ts';
import type { Activation } from '../../../../src/coordinator/kernel/actors/directory.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { brokenActor } from '../../../support/broken-actor.ts';
import { codeOf, Scene } from '../../../support/scene.ts';
import { settled } from '../../../support/simulated-clock.ts';

for (const interpreter of INTERPRETERS) {
  describe(`coordinator/kernel/actors: supervision (${interpreter})`, () => {
    let scene: Scene;
    let batch: string;
    beforeEach(async () => {
      scene = await Scene.open({ interpreter });
      await scene.register('a', { slots: 4 });
      batch = await scene.submit({ runs: 5 });
      await scene.claim('a', 2);
      await scene.start(batch, 0, 'a');
    });

    const live = (address: string): Activation => scene.api.parts.directory.find(address)!;
    const actorAt = (address: string): Actor<AnyActorLogic> =>
      scene.api.system.supervisor.system.get(address) as Actor<AnyActorLogic>;
    const stateAt = (address: string): unknown => {
      const { value, context } = actorAt(address).getSnapshot() as { value: string; context: object };
      return structuredClone({ value, context });
    };

    it('makes every active actor a child of the supervisor, known by its address', async () => {
      const { supervisor } = scene.api.system;
      const addresses = [`batch/${batch}`, 'runner/a', `job/${jobId(batch, 0)}`, `job/${jobId(batch, 1)}`];
      for (const address of addresses) {
        const actor = actorAt(address);
        expect(actor.id).to.equal(address);
        expect(actor.system).to.equal(supervisor.system);
        expect(actor).to.have.property('_parent', supervisor);
        expect(actor.getPersistedSnapshot()).to.deep.include({ status: 'active', children: {} });
      }
      expect(actorAt('supervisor')).to.equal(supervisor);
      expect(actorAt(`job/${jobId(batch, 4)}`), 'an untouched run').to.equal(undefined);
      await scene.complete(batch, 0, 'a');
      expect(actorAt(`job/${jobId(batch, 0)}`), 'deactivated').to.equal(undefined);
      expect(supervisor.getPersistedSnapshot()).to.deep.include({ children: {} });
    });

    const cases: [kind: string, address: () => string, ask: () => Promise<unknown>, neighbours: () => string[]][] = [
      [
        'runner',
        () => 'runner/a',
        () => scene.complete(batch, 0, 'a'),
        () => [`batch/${batch}`, `job/${jobId(batch, 0)}`],
      ],
      ['batch', () => `batch/${batch}`, () => scene.start(batch, 1, 'a'), () => [`job/${jobId(batch, 1)}`]],
      [
        'job',
        () => `job/${jobId(batch, 1)}`,
        () => scene.api.cancelBatch(batch),
        () => [`batch/${batch}`, `job/${jobId(batch, 0)}`],
      ],
    ];
    for (const [kind, addressOf, ask, neighbours] of cases) {
      it(`restarts a ${kind} that throws from its last committed snapshot, with its neighbours in the turn`, async () => {
        const address = addressOf();
        const all = [address, ...neighbours()];
        const before = all.map((it) => ({ address: it, state: stateAt(it), actor: actorAt(it) }));
        const disk = structuredClone([...scene.store.disk]);
        const mend = brokenActor(live(address));
        expect(await codeOf(ask())).to.equal('internal');
        mend();
        for (const { address: at, state, actor } of before) {
          expect(stateAt(at), at).to.deep.equal(state);
          expect(actorAt(at), `${at} is another actor`).not.to.equal(actor);
          expect(actorAt(at).getSnapshot()).to.include({ status: 'active' });
        }
        await settled();
        expect([...scene.store.disk]).to.deep.equal(disk);
        const failure = { address, measure: 'restart', message: 'an injected fault' };
        const { context } = scene.api.supervisor();
        expect(context).to.deep.include({ faults: 1, failedActors: { restart: 1 } });
        expect(context.lastFailedActor).to.deep.equal({ ...failure, atMs: scene.world.now() });
        expect(scene.failedActors).to.deep.equal([{ ...failure, type: 'actor.failed', now: scene.world.now() }]);
        expect(await codeOf(ask()), 'the next turn').to.equal('ok');
        expect(scene.api.supervisor().context.failedActors).to.deep.equal({ restart: 1 });
      });
    }

    it('forgets an actor that throws as it is created', async () => {
      const logic = live(`batch/${batch}`).table.logic as AnyActorLogic;
      const { getInitialSnapshot } = logic;
      logic.getInitialSnapshot = () => {
        throw new Error('an injected fault');
      };
      const { batches } = scene.api.parts.directory;
      expect(await codeOf(scene.submit())).to.equal('internal');
      logic.getInitialSnapshot = getInitialSnapshot;
      expect([...batches.keys()]).to.deep.equal([batch]);
      expect(scene.api.supervisor().context.failedActors).to.deep.equal({ forget: 1 });
      expect(scene.failedActors.map(({ measure }) => measure)).to.deep.equal(['forget']);
      expect(await codeOf(scene.submit())).to.equal('ok');
    });

    it('replaces the changed actors of a refused turn, and counts no failure', async () => {
      const job = `job/${jobId(batch, 1)}`;
      const [state, actor] = [stateAt(job), actorAt(job)];
      const refused = scene.api.parts.turns.run('refused', (turn) => {
        turn.send('job', jobId(batch, 1), { type: 'START', runnerId: 'a', attempt: 1, now: turn.now });
        turn.send('job', jobId(batch, 2), { type: 'TIME_LIMIT', now: turn.now });
      });
      expect(await codeOf(refused)).to.equal('illegal-transition');
      expect(stateAt(job)).to.deep.equal(state);
      expect(actorAt(job)).not.to.equal(actor);
      expect(scene.api.supervisor().context).to.deep.include({ faults: 0, failedActors: undefined });
      expect(await codeOf(scene.start(batch, 1, 'a'))).to.equal('ok');
    });

    it('stops the coordinator when the supervisor itself throws, and a restart recovers', async () => {
      const { supervisor } = scene.api.system;
      const logic = (supervisor as unknown as { logic: AnyActorLogic }).logic;
      logic.transition = () => {
        throw new Error('an injected fault');
      };
      scene.world.setClock(scene.world.now() + 3_600_000);
      await scene.api.tick().catch(() => {});
      expect(scene.failures.map(({ message }) => message)).to.deep.equal([
        'the coordinator has lost its supervisor and stops: an injected fault',
      ]);
      expect(await codeOf(scene.submit())).to.equal('unavailable');
      await scene.restart();
      expect(await codeOf(scene.submit())).to.equal('ok');
    });

    it("publishes what XState's inspection reports: committed transitions, and the failure of an actor", async () => {
      const seen: string[] = [];
      expect(scene.api.transitionLog.isWatched).to.equal(false);
      const unwatch = scene.api.watch(({ transitions }) => {
        for (const { kind, id, event, from, to } of transitions)
          seen.push([kind, id.slice(-4), event?.type ?? 'created', from ?? '', to].join(' '));
      });
      expect(scene.api.transitionLog.isWatched).to.equal(true);
      await scene.start(batch, 1, 'a');
      expect(await codeOf(scene.start(batch, 1, 'a', 7))).to.equal('stale-attempt');
      const mend = brokenActor(live('runner/a'));
      expect(await codeOf(scene.complete(batch, 1, 'a'))).to.equal('internal');
      mend();
      await scene.complete(batch, 1, 'a');
      await scene.register('b');
      const end = batch.slice(-4);
      const job = jobId(batch, 1).slice(-4);
      expect(seen).to.deep.equal([
        `job ${job} START Claimed Running`,
        `batch ${end} JOBS_CHANGED Running Running`,
        'supervisor isor ACTOR_FAILED Serving Serving',
        'supervisor isor FAULT Serving Serving',
        `job ${job} COMPLETE Running Completed`,
        `batch ${end} JOBS_CHANGED Running Running`,
        'runner a JOBS_CHANGED Busy Busy',
        'runner b created  Offline',
        'runner b REGISTER Offline Idle',
      ]);
      unwatch();
      expect(scene.api.transitionLog.isWatched).to.equal(false);
      await scene.claim('a', 1);
      expect(seen).to.have.length(9);
    });

    it("shows XState's own inspectors the actors, their events and their snapshots", async () => {
      const seen: string[] = [];
      const subscription = scene.api.system.inspect((event: InspectionEvent) => {
        if (['@xstate.actor', '@xstate.event', '@xstate.snapshot'].includes(event.type))
          seen.push(`${event.type} ${(event.actorRef as AnyActorRef).id}`);
      });
      await scene.register('b');
      subscription.unsubscribe();
      expect(seen.filter((it) => it.endsWith('runner/b'))).to.include.members([
        '@xstate.actor runner/b',
        '@xstate.event runner/b',
        '@xstate.snapshot runner/b',
      ]);
    });
  });
}

describe('machines/supervision', () => {
  it('has a policy for every kind of actor but the supervisor', () => {
    expect(Object.keys(SUPERVISION)).to.have.members(MACHINE_NAMES.filter((it) => it !== 'supervisor'));
    for (const kind of Object.keys(SUPERVISION)) expect(KINDS).to.have.property(kind);
  });
});
