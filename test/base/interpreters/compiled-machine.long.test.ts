/** A compiled machine equals XState's machine in every state, for every event, of the machines that are compiled. */
import { expect } from 'chai';
import {
  and,
  assign,
  createActor,
  emit,
  fromPromise,
  not,
  or,
  setup,
  type Actor,
  type AnyActorLogic,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate';
import { allocationMachine } from '../../../machines/allocation/allocation.ts';
import { attemptMachine } from '../../../machines/attempt.ts';
import { warmEngineMachine } from '../../../machines/warm/engine.ts';
import { warmServerMachine } from '../../../machines/warm/server.ts';
import { batchMachine, INITIAL_COUNTERS, type BatchContext } from '../../../machines/batch.ts';
import { jobMachine } from '../../../machines/job.ts';
import type { BatchEvent, JobChange, JobEnded } from '../../../machines/protocol.ts';
import { runnerMachine } from '../../../machines/runner.ts';
import { compiledMachine } from '../../../src/base/interpreters/compiled-machine.ts';
import { INTERPRETERS, logicOf } from '../../../src/base/interpreters/interpreters.ts';
import { BATCH_STATUSES, JOB_STATUSES, RUNNER_STATUSES } from '../../../src/contract/enums.ts';
import { ALLOCATION_EVENTS, ALLOCATION_STATES } from '../../machines/allocation.fixture.ts';
import { ATTEMPT_EVENTS, ATTEMPT_STATES } from '../../machines/attempt.fixture.ts';
import { ENGINE_EVENTS, ENGINE_STATES, SERVER_EVENTS, SERVER_STATES } from '../../machines/warm.fixture.ts';
import { JOB_EVENTS, jobIn, NOW, untouchedJob } from '../../machines/job.fixture.ts';
import { HELD, RUNNER_EVENTS, runnerIn } from '../../machines/runner.fixture.ts';

/** XState's machine, or the compiled one. */
type Making = (machine: AnyStateMachine) => AnyStateMachine;
const asItIs: Making = (machine) => machine;
const WAYS: readonly Making[] = [asItIs, compiledMachine];

function played(machine: AnyStateMachine, making: Making, options: Record<string, unknown> = {}) {
  const facts: unknown[] = [];
  const faults: unknown[] = [];
  const actor: Actor<AnyActorLogic> = createActor(making(machine) as AnyActorLogic, options as never);
  actor.on('*', (fact) => facts.push(fact));
  actor.subscribe({ error: (error) => faults.push(error) });
  return { actor, facts, faults };
}

/** The outcome of an event: the persisted snapshot, the legality of a repeat, the facts, and whether the snapshot is a new object. */
function outcome(machine: AnyStateMachine, making: Making, from: AnyMachineSnapshot, event: { type: string }) {
  const { actor, facts } = played(machine, making, { snapshot: from });
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

/** Studies of two runs: one Running, the other untouched or ended in each possible way. */
const ABOUT = { jobId: 'j', batchId: 'b', runId: 0, runnerId: 'r', attempt: 1, now: NOW };
const BATCHES = BATCH_STATUSES.flatMap((value) =>
  (
    [
      { next: 1, canaryRuns: 1, maxFailures: 1 },
      { next: 1, pausedAtMs: 1 },
      { completed: 1 },
      { failed: 1 },
      { cancelled: 1 },
      { cancelled: 1, cancelRequested: true },
    ] as const
  ).map((rest) =>
    batchMachine.resolveState({
      value,
      context: { ...INITIAL_COUNTERS, batchId: 'b', totalJobs: 2, next: 2, running: 1, ...rest } as BatchContext,
    }),
  ),
);
const ended = (to: JobEnded['to']): JobEnded => ({
  ...ABOUT,
  type: 'job.ended',
  from: 'Running',
  to,
  touched: true,
  error: undefined,
  startedAtMs: NOW,
});
const claimed: JobChange = { ...ABOUT, type: 'job.claimed', runId: 1, requeued: false, cpuMilli: 1, memoryBytes: 1 };
const BATCH_EVENTS: BatchEvent[] = [
  { type: 'JOBS_CHANGED', changes: [], now: NOW },
  { type: 'JOBS_CHANGED', changes: [claimed], now: NOW },
  ...(['Completed', 'Failed', 'Timeout', 'Cancelled'] as const).map((to): BatchEvent => ({
    type: 'JOBS_CHANGED',
    changes: [ended(to)],
    now: NOW,
  })),
  { type: 'CANCEL', reason: undefined, now: NOW },
  { type: 'PAUSE', reason: 'a look', now: NOW },
  { type: 'RESUME', now: NOW },
  { type: 'RELEASE', now: NOW },
];

const CASES: readonly {
  machine: AnyStateMachine;
  states: readonly AnyMachineSnapshot[];
  events: readonly { type: string }[];
}[] = [
  { machine: jobMachine, states: JOBS, events: Object.values(JOB_EVENTS) },
  { machine: runnerMachine, states: RUNNERS, events: Object.values(RUNNER_EVENTS) },
  { machine: batchMachine, states: BATCHES, events: BATCH_EVENTS },
  { machine: attemptMachine, states: Object.values(ATTEMPT_STATES), events: Object.values(ATTEMPT_EVENTS) },
  { machine: allocationMachine, states: Object.values(ALLOCATION_STATES), events: Object.values(ALLOCATION_EVENTS) },
  { machine: warmServerMachine, states: Object.values(SERVER_STATES), events: Object.values(SERVER_EVENTS) },
  { machine: warmEngineMachine, states: Object.values(ENGINE_STATES), events: Object.values(ENGINE_EVENTS) },
];

describe('base/interpreters/compiled-machine', () => {
  for (const { machine, states, events } of CASES) {
    it(`equals XState's interpreter: ${machine.id}`, () => {
      let taken = 0;
      for (const state of states) {
        for (const event of [...events, { type: 'UNHEARD_OF' }]) {
          const expected = outcome(machine, asItIs, state, event);
          expect(outcome(machine, compiledMachine, state, event), `${String(state.value)} ${event.type}`).to.deep.equal(
            expected,
          );
          taken += expected.isLegal ? 1 : 0;
        }
      }
      expect(taken).to.be.greaterThan(states.length);
    });

    it(`takes an event exactly when it makes a new snapshot or emits a fact: ${machine.id}`, () => {
      for (const state of states) {
        for (const event of events) {
          for (const making of WAYS) {
            const { isNew, facts, isLegal } = outcome(machine, making, state, event);
            expect(isNew || facts.length > 0, `${String(state.value)} ${event.type}`).to.equal(isLegal);
          }
        }
      }
    });
  }

  it('has the same initial state and initial facts as XState', () => {
    const inputs: [AnyStateMachine, object][] = [
      [runnerMachine, { runnerId: 'r', now: NOW }],
      [batchMachine, { ...INITIAL_COUNTERS, batchId: 'b', totalJobs: 2, now: NOW }],
      [jobMachine, untouchedJob().context],
      [attemptMachine, { jobId: 'j', attempt: 1 }],
      [warmServerMachine, {}],
      [warmEngineMachine, {}],
    ];
    for (const [machine, input] of inputs) {
      const [expected, compiled] = WAYS.map((making) => {
        const { actor, facts, faults } = played(machine, making, { input });
        actor.start();
        return { kept: actor.getPersistedSnapshot(), facts, faults };
      });
      expect(compiled, machine.id).to.deep.equal(expected);
    }
  });

  it('throws an error of a machine: its actor has the status error, and the state before the event', () => {
    const breaking = (): never => {
      throw new Error('broken');
    };
    const machine = setup({ types: { context: {} as { n: number } } }).createMachine({
      context: { n: 0 },
      initial: 'a',
      states: {
        a: {
          on: {
            BREAK: { actions: [assign({ n: 1 }), assign(breaking)] },
            ASK: { guard: breaking, target: 'b' },
            GO: 'b',
          },
        },
        b: {},
      },
    });
    for (const type of ['BREAK', 'ASK']) {
      const [expected, found] = WAYS.map((making) => {
        const { actor, faults } = played(machine, making);
        actor.start().send({ type });
        actor.send({ type: 'GO' });
        const { status, value, context } = actor.getSnapshot() as AnyMachineSnapshot;
        return {
          status,
          value: value as unknown,
          context: context as unknown,
          isReported: /broken/.test(String(faults)),
        };
      });
      expect(found, type).to.deep.equal(expected);
      expect(found, type).to.deep.include({ status: 'error', value: 'a', context: { n: 0 }, isReported: true });
    }
  });

  it('is restored from what it stores, and from what XState stores', () => {
    for (const from of [...JOBS, ...RUNNERS, ...BATCHES] as AnyMachineSnapshot[]) {
      const { machine } = from;
      const [byXState, byOwn] = WAYS.map((making) =>
        played(machine, making, { snapshot: from }).actor.getPersistedSnapshot(),
      );
      for (const kept of [byXState, byOwn]) {
        const again = played(machine, compiledMachine, { snapshot: kept }).actor.getSnapshot() as AnyMachineSnapshot;
        expect(again).to.deep.include({
          value: from.value as unknown,
          context: from.context as unknown,
          status: from.status,
        });
        expect(again.can({ type: 'UNHEARD_OF' })).to.equal(false);
      }
    }
  });

  it('emits each fact once to the function for all actors and once to the listeners of the actor', () => {
    const machine = setup({}).createMachine({
      initial: 'a',
      entry: emit({ type: 'begun' }),
      states: { a: { on: { GO: { target: 'b', actions: emit({ type: 'gone' }) } } }, b: {} },
    });
    for (const interpreter of INTERPRETERS) {
      const shared: string[] = [];
      const received: string[] = [];
      const actor = createActor(logicOf(machine, interpreter, ({ type }) => shared.push(type)));
      actor.on('*', ({ type }) => received.push(type));
      actor.start().send({ type: 'GO' });
      expect({ shared, received }, interpreter).to.deep.equal({
        shared: ['begun', 'gone'],
        received: ['begun', 'gone'],
      });
    }
  });

  it('selects the same transition as XState for shared, combined and forbidding guards', () => {
    const over = (n: number) => (args: { context: { n: number } }) => args.context.n > n;
    const machine = setup({
      types: { context: {} as { n: number } },
      guards: { big: over(5), small: ({ context }) => context.n < 3 },
    }).createMachine({
      context: ({ input }) => input as { n: number },
      initial: 'a',
      on: { X: { target: '.c', actions: emit({ type: 'shared' }) }, Y: '.c', Z: '.c' },
      states: {
        a: {
          on: {
            X: [
              { guard: 'big', target: 'b' },
              { guard: not('small'), actions: emit({ type: 'between' }) },
            ],
            Y: { guard: 'small', actions: emit({ type: 'stays' }) },
            Z: undefined,
          },
        },
        b: {},
        c: { type: 'final' },
      },
    });
    for (const n of [0, 4, 8]) {
      for (const value of ['a', 'b', 'c']) {
        for (const type of ['X', 'Y', 'Z', 'Q']) {
          const from = machine.resolveState({ value, context: { n } });
          const [expected, found] = WAYS.map((making) => outcome(machine, making, from, { type }));
          expect(found, `${value} ${type} ${n}`).to.deep.equal(expected);
        }
      }
    }
  });

  it('takes transitions without event, and throws on an endless loop of them', () => {
    const machine = setup({ types: { context: {} as { n: number } } }).createMachine({
      context: { n: 0 },
      initial: 'a',
      states: {
        a: { on: { GO: 'b', LOOP: 'x' } },
        b: {
          always: { guard: ({ context }) => context.n < 3, actions: assign(({ context }) => ({ n: context.n + 1 })) },
        },
        x: { always: { target: 'y' } },
        y: { always: { target: 'x' } },
      },
    });
    for (const making of WAYS) {
      const { actor } = played(machine, making);
      actor.start().send({ type: 'GO' });
      expect(actor.getSnapshot()).to.deep.include({ value: 'b', context: { n: 3 } });
    }
    const { actor, faults } = played(machine, compiledMachine);
    actor.start().send({ type: 'LOOP' });
    expect(String(faults)).to.match(/loops through transitions without event/);
  });

  it('refuses a machine that it cannot interpret', () => {
    const idle = { on: {} };
    const machines: Record<string, AnyStateMachine> = {
      'a combined guard of an automatic transition': setup({}).createMachine({
        initial: 'a',
        states: { a: { always: { guard: not(() => true), target: 'b' } }, b: idle },
      }),
      'an entry that a transition leads to': setup({}).createMachine({
        initial: 'a',
        states: { a: { on: { X: 'b' } }, b: { entry: emit({ type: 'x' }) } },
      }),
      'an event of many names': setup({}).createMachine({ initial: 'a', states: { a: { on: { '*': 'b' } }, b: idle } }),
      exit: setup({}).createMachine({ initial: 'a', states: { a: { exit: emit({ type: 'x' }) } } }),
      after: setup({}).createMachine({ initial: 'a', states: { a: { after: { 10: 'b' } }, b: idle } }),
      nested: setup({}).createMachine({ initial: 'a', states: { a: { initial: 'b', states: { b: idle } } } }),
      'a plain function': setup({}).createMachine({
        initial: 'a',
        states: { a: { on: { X: { actions: () => {} } } } },
      }),
    };
    for (const [what, machine] of Object.entries(machines))
      expect(() => played(machine, compiledMachine), what).to.throw('state');
  });

  it('refuses a named guard without implementation, alone, with parameters or in a combined guard', () => {
    const guards: unknown[] = ['missing', { type: 'missing' }, not('missing'), and(['present', or(['missing'])])];
    for (const guard of guards) {
      const both: object[] = [{ on: { X: { guard, target: 'b' } } }, { always: { guard, target: 'b' } }];
      for (const transitions of both) {
        const machine = setup({ guards: { present: () => true } }).createMachine({
          initial: 'a',
          states: { a: transitions, b: {} },
        });
        expect(() => played(machine, compiledMachine), JSON.stringify(transitions)).to.throw(
          'guard "missing", which has no implementation',
        );
      }
    }
  });

  it('refuses a root with always, exit, after, invoke or output, and a parallel root', () => {
    const roots: Record<string, object> = {
      always: { always: { guard: () => false, target: '.a' } },
      exit: { exit: emit({ type: 'x' }) },
      after: { after: { 10: '.a' } },
      invoke: { invoke: { src: fromPromise(() => Promise.resolve()) } },
      output: { output: {} },
      parallel: { type: 'parallel', initial: undefined },
    };
    for (const [name, root] of Object.entries(roots)) {
      const machine = setup({}).createMachine({ initial: 'a', states: { a: {} }, ...root });
      expect(() => played(machine, compiledMachine), name).to.throw(name);
    }
  });

  it('refuses a final state with output', () => {
    const machine = setup({}).createMachine({ initial: 'a', states: { a: { type: 'final', output: { n: 1 } } } });
    expect(() => played(machine, compiledMachine)).to.throw('output');
  });
});
