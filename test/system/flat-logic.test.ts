/** The cheaper way to carry a transition out does what XState does, for every state and every event of the machines that use it. */
import { expect } from 'chai';
import {
  assign,
  createActor,
  emit,
  setup,
  type AnyActorLogic,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate';
import { batchMachine } from '../../machines/batch.ts';
import { jobMachine } from '../../machines/job.ts';
import { runnerMachine } from '../../machines/runner.ts';
import { flatLogic } from '../../src/system/flat-logic.ts';
import { JOB_STATUSES, RUNNER_STATUSES } from '../../src/domain/types.ts';
import { JOB_EVENTS, jobIn, NOW, untouchedJob } from '../machines/job.fixture.ts';
import { HELD, RUNNER_EVENTS, runnerIn } from '../machines/runner.fixture.ts';

/** What an event did: the snapshot as it is kept, the same of what follows, the facts, and whether the object is a new one. */
function outcome(logic: AnyActorLogic, from: AnyMachineSnapshot, event: { type: string }) {
  const actor = createActor(logic, { snapshot: from });
  const facts: unknown[] = [];
  actor.on('*', (fact) => facts.push(fact));
  actor.subscribe({ error: () => {} });
  actor.start();
  const before: unknown = actor.getSnapshot();
  actor.send(event);
  const after = actor.getSnapshot() as AnyMachineSnapshot;
  const kept = actor.getPersistedSnapshot();
  actor.stop();
  return {
    kept,
    facts,
    isNew: after !== before,
    isLegal: from.status === 'active' && from.can(event),
    canAgain: after.can(event),
    matches: after.matches(after.value),
    stopped: actor.getSnapshot().status,
  };
}

const JOBS = [
  untouchedJob(),
  ...JOB_STATUSES.flatMap((value) => [
    jobIn(value),
    jobIn(value, { retries: 3, losses: 4 }),
    jobIn(value, { timeLimitMs: 0 }),
  ]),
];
const RUNNERS = RUNNER_STATUSES.flatMap((value) => [
  runnerIn(value),
  runnerIn(value, { held: [HELD] }),
  runnerIn(value, { held: [{ ...HELD, missingSinceMs: NOW }] }),
  runnerIn(value, { drained: true, drainReason: 'a new disk', held: [HELD] }),
]);

const CASES: readonly {
  machine: AnyStateMachine;
  states: readonly AnyMachineSnapshot[];
  events: readonly { type: string }[];
}[] = [
  { machine: jobMachine, states: JOBS, events: Object.values(JOB_EVENTS) },
  { machine: runnerMachine, states: RUNNERS, events: Object.values(RUNNER_EVENTS) },
];

describe('flat logic', () => {
  for (const { machine, states, events } of CASES) {
    it(`does what XState does: ${machine.id}`, () => {
      const flat = flatLogic(machine);
      let taken = 0;
      for (const state of states) {
        for (const event of [...events, { type: 'UNHEARD_OF' }]) {
          const expected = outcome(machine, state, event);
          expect(outcome(flat, state, event), `${String(state.value)} ${event.type}`).to.deep.equal(expected);
          taken += expected.isLegal ? 1 : 0;
        }
      }
      expect(taken).to.be.greaterThan(states.length);
    });

    it(`an event is taken exactly when the snapshot is another or a fact is told: ${machine.id}`, () => {
      for (const state of states) {
        for (const event of events) {
          for (const logic of [machine, flatLogic(machine)]) {
            const { isNew, facts, isLegal } = outcome(logic, state, event);
            expect(isNew || facts.length > 0, `${String(state.value)} ${event.type}`).to.equal(isLegal);
          }
        }
      }
    });
  }

  it('an event is taken exactly when the snapshot is another or a fact is told: batch', () => {
    const context = {
      batchId: 'b',
      totalJobs: 2,
      next: 1,
      claimed: 1,
      completed: 0,
      cancelled: 0,
      running: 0,
      requeued: 0,
    };
    const about = { jobId: 'j', batchId: 'b', runId: 0, runnerId: 'r', attempt: 1, now: NOW };
    for (const value of ['Pending', 'Running', 'Completed', 'Failed', 'Cancelled'] as const) {
      const state = batchMachine.resolveState({ value, context: { ...context, cancelledAhead: 0 } as never });
      for (const event of [
        { type: 'JOBS_CHANGED', changes: [{ ...about, type: 'job.started' }], now: NOW },
        { type: 'JOBS_CHANGED', changes: [], now: NOW },
        { type: 'CANCEL', reason: undefined, now: NOW },
      ]) {
        const { isNew, facts, isLegal } = outcome(batchMachine, state, event);
        expect(isNew || facts.length > 0, `${value} ${event.type}`).to.equal(isLegal);
      }
    }
  });

  it('a fault of a machine ends up where XState has it', () => {
    const machine = setup({ types: { context: {} as { n: number } } }).createMachine({
      context: { n: 0 },
      initial: 'a',
      states: {
        a: {
          on: {
            BREAK: {
              actions: assign(() => {
                throw new Error('broken');
              }),
            },
          },
        },
      },
    });
    for (const logic of [machine, flatLogic(machine)]) {
      const actor = createActor(logic);
      actor.subscribe({ error: () => {} });
      actor.start();
      actor.send({ type: 'BREAK' });
      expect(actor.getSnapshot()).to.have.property('status', 'error');
      expect(actor.getSnapshot()).to.have.nested.property('error.message', 'broken');
    }
  });

  it('refuses a machine that it would carry out wrongly', () => {
    const idle = { on: {} };
    const machines: Record<string, AnyStateMachine> = {
      always: setup({}).createMachine({ initial: 'a', states: { a: { always: 'b' }, b: idle } }),
      entry: setup({}).createMachine({ initial: 'a', states: { a: { entry: emit({ type: 'x' }) } } }),
      exit: setup({}).createMachine({ initial: 'a', states: { a: { exit: emit({ type: 'x' }) } } }),
      after: setup({}).createMachine({ initial: 'a', states: { a: { after: { 10: 'b' } }, b: idle } }),
      nested: setup({}).createMachine({ initial: 'a', states: { a: { initial: 'b', states: { b: idle } } } }),
      'a plain function': setup({}).createMachine({
        initial: 'a',
        states: { a: { on: { X: { actions: () => {} } } } },
      }),
    };
    for (const [what, machine] of Object.entries(machines)) expect(() => flatLogic(machine), what).to.throw('state');
    expect(() => flatLogic(batchMachine)).to.throw('state');
  });
});
