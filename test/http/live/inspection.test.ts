/** `/inspect`, received by the receiver of `@statelyai/inspect`, which Stately's own viewers use. */
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { expect } from 'chai';
import { createMachine, type AnyMachineSnapshot, type AnyStateMachine } from 'xstate';
import { KINDS, MACHINE_NAMES } from '../../../machines/kinds.ts';
import { INTERPRETERS } from '../../../src/base/interpreters/interpreters.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { study } from '../../support/studies.ts';

const receiver = { id: 'lab', label: 'http://lab.example', send: () => Promise.resolve({ accepted: true as const }) };
const capabilities = {
  max_concurrent_jobs: 1,
  cpu_cores: 1,
  memory_gb: 1,
  gpu_available: false,
  supported_simulation_types: [],
};

const kindOf = (sessionId: string): string => sessionId.split('/')[0]!;

for (const interpreter of INTERPRETERS) {
  describe(`http/live/inspection (${interpreter})`, () => {
    let coordinator: Coordinator;
    let server: TestServer;
    const events: StatelyInspectionEvent[] = [];
    let wake = (): void => {};

    beforeEach(async () => {
      events.length = 0;
      const notifications = { receivers: [receiver], link: () => undefined };
      coordinator = await openCoordinator(new MemoryStore(), systemClock, { interpreter, notifications });
      server = await listen({ coordinator, live: coordinator });
      const address = `${server.url.replace('http', 'ws')}/inspect`;
      createWebSocketReceiver({ server: address }).subscribe((event) => {
        events.push(event);
        wake();
      });
      await until(() => events.length > 0);
    });
    afterEach(async () => {
      await server.close(0);
      await coordinator.close();
    });

    async function until(isTrue: () => boolean): Promise<void> {
      while (!isTrue()) await new Promise<void>((resolve) => (wake = resolve));
    }

    /** The whole life of a study of one run, a fault, and what comes after it. */
    async function live(): Promise<void> {
      await coordinator.register({ id: 'r1', instance: 'i', capabilities });
      await coordinator.submit(study({ runs: 1 }));
      const { assignments } = await coordinator.claim('r1', { instance: 'i', max_jobs: 1, wait_seconds: 0 });
      const ref = { runner_id: 'r1', attempt: 1 };
      const { id } = assignments[0]!.job;
      await coordinator.start(id, ref);
      await coordinator.complete(id, {
        ...ref,
        result: { execution_time_secs: 1, output_files: [], metadata: {} },
      });
      const spoilt = coordinator.parts.turns.run('spoilt', () => {
        throw new Error('spoilt');
      });
      await spoilt.catch(() => {});
      await coordinator.drain('r1', 'a new disk');
      await until(() => reached('notification', 'Delivered') && reached('runner', 'Maintenance'));
    }

    const reached = (kind: string, state: string): boolean =>
      events.some(
        (it) => it.type === '@xstate.snapshot' && kindOf(it.sessionId) === kind && valueOf(it.snapshot) === state,
      );

    it('announces the supervisor first, and every other actor before its first event as its child', async () => {
      await live();
      expect(events[0]).to.include({ type: '@xstate.actor', sessionId: 'supervisor', rootId: 'supervisor' });
      const known = new Set<string>();
      for (const event of events) {
        expect(event.rootId).to.equal('supervisor');
        if (event.type === '@xstate.actor') {
          expect(known.has(event.sessionId), event.sessionId).to.equal(false);
          if (event.sessionId !== 'supervisor') expect(event.parentId).to.equal('supervisor');
        } else expect(known.has(event.sessionId), event.sessionId).to.equal(true);
        known.add(event.sessionId);
      }
      expect(new Set([...known].map(kindOf))).to.deep.equal(new Set(MACHINE_NAMES));
    });

    it('sends definitions that XState loads, with the states and events of the machine', async () => {
      await live();
      for (const event of events) {
        if (event.type !== '@xstate.actor') continue;
        const { machine } = KINDS[kindOf(event.sessionId) as keyof typeof KINDS];
        const loaded = createMachine(JSON.parse(event.definition!) as object) as AnyStateMachine;
        expect(loaded.id).to.equal(machine.id);
        expect(Object.keys(loaded.states)).to.deep.equal(Object.keys(machine.states));
        expect(loaded.events).to.have.members(machine.events);
        for (const seen of events) {
          if (seen.sessionId !== event.sessionId || seen.type === '@xstate.event') continue;
          const state = loaded.resolveState(seen.snapshot as AnyMachineSnapshot);
          expect(state.status, `${seen.sessionId} ${valueOf(seen.snapshot)}`).to.equal(seen.snapshot.status);
        }
      }
    });

    it('sends each event that an actor takes with the snapshot after it', async () => {
      await live();
      const taken = (kind: string): string[] =>
        events.flatMap((it) =>
          it.type === '@xstate.snapshot' && kindOf(it.sessionId) === kind
            ? [`${it.event.type} ${valueOf(it.snapshot)} ${it.snapshot.status}`]
            : [],
        );
      expect(taken('job')).to.deep.equal(['CLAIM Claimed active', 'START Running active', 'COMPLETE Completed done']);
      expect(taken('supervisor')).to.deep.equal(['FAULT Serving active']);
      expect(taken('notification').at(-1)).to.match(/ Delivered done$/);
      const [sent, after] = ['@xstate.event', '@xstate.snapshot'].map((type) =>
        events.filter((it) => it.type === type).map((it) => (it as { event: unknown }).event),
      );
      expect(sent).to.deep.equal(after);
    });
  });
}

const valueOf = (snapshot: unknown): string => (snapshot as { value: string }).value;
