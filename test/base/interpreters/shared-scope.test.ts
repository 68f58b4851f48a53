/** Actors without an XState actor of their own take events as XState's actors do, with either interpreter. */
import { expect } from 'chai';
import {
  assign,
  createActor,
  emit,
  setup,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
} from 'xstate';
import { jobMachine } from '../../../machines/job.ts';
import { runnerMachine } from '../../../machines/runner.ts';
import { interpret, type Interpreter } from '../../../src/base/interpreters/interpreters.ts';
import { SharedScope } from '../../../src/base/interpreters/shared-scope.ts';
import { JOB_STATUSES, RUNNER_STATUSES } from '../../../src/contract/enums.ts';
import { JOB_EVENTS, jobIn } from '../../machines/job.fixture.ts';
import { HELD, RUNNER_EVENTS, runnerIn } from '../../machines/runner.fixture.ts';

const INTERPRETERS: readonly Interpreter[] = ['flat', 'xstate'];

/** A machine whose root takes an event in every state, and which emits a fact when it is created. */
const counter = setup({
  types: { context: {} as { count: number }, input: {} as { from: number } },
}).createMachine({
  id: 'counter',
  initial: 'Open',
  context: ({ input }) => {
    if (input.from < 0) throw new Error('cannot count from a negative number');
    return { count: input.from };
  },
  on: {
    ADD: { actions: assign(({ context }) => ({ count: context.count + 1 })) },
    BREAK: {
      actions: assign(() => {
        throw new Error('cannot count');
      }),
    },
  },
  states: {
    Open: {
      entry: emit({ type: 'counter.opened' }),
      on: { CLOSE: { target: 'Closed', actions: emit({ type: 'counter.closed' }) } },
    },
    Closed: { type: 'final' },
  },
}) as AnyStateMachine;

function shared(machine: AnyStateMachine, interpreter: Interpreter) {
  const facts: EventObject[] = [];
  const faults: unknown[] = [];
  const logic = interpret(machine, interpreter, {
    emit: (fact) => facts.push(fact),
    fail: (error) => faults.push(error),
  });
  return { logic, facts, faults };
}

/** The state after an event and the facts, of an XState actor. */
function played(machine: AnyStateMachine, from: AnyMachineSnapshot, event: EventObject) {
  const facts: unknown[] = [];
  const actor = createActor(machine, { snapshot: from } as never);
  actor.on('*', (fact) => facts.push(fact));
  actor.start();
  const before = actor.getSnapshot() as AnyMachineSnapshot;
  actor.send(event);
  const { value, context, status } = actor.getSnapshot() as AnyMachineSnapshot;
  return {
    value: value as unknown,
    context: context as unknown,
    status,
    isTaken: actor.getSnapshot() !== before,
    facts,
  };
}

describe('base/interpreters/shared-scope', () => {
  for (const interpreter of INTERPRETERS) {
    for (const [machine, states, events] of [
      [jobMachine, JOB_STATUSES.map((value) => jobIn(value)), Object.values(JOB_EVENTS)],
      [runnerMachine, RUNNER_STATUSES.map((value) => runnerIn(value, { held: [HELD] })), Object.values(RUNNER_EVENTS)],
    ] as const) {
      it(`takes the events of the ${machine.id} machine as an XState actor does (${interpreter})`, () => {
        const scope = new SharedScope();
        const { logic, facts } = shared(machine, interpreter);
        let taken = 0;
        for (const from of states as readonly AnyMachineSnapshot[]) {
          for (const event of events) {
            facts.length = 0;
            const expected = played(machine, from, event);
            const { value, context, status } = from;
            const before = logic.resolveState({ value: value as never, context: context as never });
            const after = scope.next(logic, before, event);
            expect(
              { value: after.value as unknown, context: after.context as unknown, status: after.status, facts },
              `${String(value)} ${event.type} ${status}`,
            ).to.deep.equal({
              value: expected.value,
              context: expected.context,
              status: expected.status,
              facts: expected.facts,
            });
            expect(after !== before, `${String(value)} ${event.type}`).to.equal(expected.isTaken);
            taken += expected.isTaken ? 1 : 0;
          }
        }
        expect(taken).to.be.greaterThan(states.length / 2);
      });
    }

    it(`sends no event to an actor that has ended (${interpreter})`, () => {
      const scope = new SharedScope();
      const { logic, facts } = shared(counter, interpreter);
      const open = scope.next(logic, scope.initial(logic, { from: 5 }), { type: 'ADD' });
      const closed = scope.next(logic, open, { type: 'CLOSE' });
      expect([open.context, closed.value]).to.deep.equal([{ count: 6 }, 'Closed']);
      expect(scope.next(logic, closed, { type: 'ADD' })).to.equal(closed);
      expect(facts.map((it) => it.type)).to.deep.equal(['counter.opened', 'counter.closed']);
    });

    it(`reports the error of a machine, and the actor stays as it was (${interpreter})`, () => {
      const scope = new SharedScope();
      const { logic, faults } = shared(counter, interpreter);
      const open = scope.initial(logic, { from: 5 });
      expect(scope.next(logic, open, { type: 'BREAK' })).to.equal(open);
      expect(faults).to.have.length(1);
      expect(scope.next(logic, open, { type: 'ADD' }).context).to.deep.equal({ count: 6 });
    });

    it(`throws the error of a machine without an initial context, and creates the next actor (${interpreter})`, () => {
      const scope = new SharedScope();
      const { logic, facts } = shared(counter, interpreter);
      expect(() => scope.initial(logic, { from: -1 })).to.throw('negative');
      expect(scope.initial(logic, { from: 1 }).context).to.deep.equal({ count: 1 });
      expect(facts).to.deep.equal([{ type: 'counter.opened' }]);
    });
  }
});
