/** The supervisor machine: its transition table as text, its graph, and its fault counter. */
import { expect } from 'chai';
import { getInitialSnapshot, getNextSnapshot } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import type { Fact, SupervisorEvent } from '../../machines/protocol.ts';
import { supervisorMachine, type SupervisorContext } from '../../machines/supervisor/supervisor.ts';
import { expectTable, type Exercise } from '../support/transition-table.ts';

const NOW = 1_000_000;
const EVENTS: Readonly<Record<string, SupervisorEvent>> = {
  OPENED: { type: 'OPENED', now: NOW },
  'TICK [nothing due]': { type: 'TICK', now: NOW + 1000, due: [] },
  'TICK [two due]': {
    type: 'TICK',
    now: NOW + 1000,
    due: [
      { address: 'runner/a', kind: 'silence' },
      { address: 'job/b', kind: 'claim' },
    ],
  },
  'TICK [clock set back]': { type: 'TICK', now: NOW - 1000, due: [] },
  FAULT: { type: 'FAULT', now: NOW, operation: 'submit', message: 'no' },
  ACTOR_FAILED: { type: 'ACTOR_FAILED', now: NOW, address: 'job/b', measure: 'restart', message: 'no' },
  STOP: { type: 'STOP', now: NOW },
  CLOSED: { type: 'CLOSED', now: NOW },
  WRITE_FAILED: { type: 'WRITE_FAILED', now: NOW, message: 'disk full' },
};

const context: SupervisorContext = {
  startedAtMs: NOW,
  lastTickMs: NOW,
  faults: 0,
  lastFault: undefined,
  failedActors: undefined,
  lastFailedActor: undefined,
  failure: undefined,
};
const STATES = ['Starting', 'Serving', 'Stopping', 'Stopped', 'Failed'] as const;

const exercise: Exercise = {
  machine: supervisorMachine,
  fact: (it: Fact) => (it.type === 'deadline.passed' ? `deadline ${it.address} ${it.kind}` : it.type),
  fields: ['lastTickMs', 'faults', 'lastFault', 'failedActors', 'lastFailedActor', 'failure'],
  events: EVENTS,
  states: Object.fromEntries(STATES.map((value) => [value, supervisorMachine.resolveState({ value, context })])),
};

describe('machines/supervisor', () => {
  it('takes exactly these events', () => {
    expectTable(
      exercise,
      `
      Starting | OPENED                | Serving  | system.serving                                            | -
      Starting | WRITE_FAILED          | Failed   | system.failed                                             | failure set
      Serving  | TICK [nothing due]    | Serving  | -                                                         | lastTickMs changed
      Serving  | TICK [two due]        | Serving  | deadline runner/a silence, deadline job/b claim           | lastTickMs changed
      Serving  | TICK [clock set back] | Serving  | -                                                         | -
      Serving  | FAULT                 | Serving  | system.faulted                                            | faults+1, lastFault set
      Serving  | ACTOR_FAILED          | Serving  | actor.failed                                              | failedActors set, lastFailedActor set
      Serving  | STOP                  | Stopping | system.stopping                                           | -
      Serving  | WRITE_FAILED          | Failed   | system.failed                                             | failure set
      Stopping | FAULT                 | Stopping | system.faulted                                            | faults+1, lastFault set
      Stopping | ACTOR_FAILED          | Stopping | actor.failed                                              | failedActors set, lastFailedActor set
      Stopping | CLOSED                | Stopped  | system.stopped                                            | -
      Stopping | WRITE_FAILED          | Failed   | system.failed                                             | failure set
      # Stopped and Failed take nothing.
      `,
    );
  });

  it('reaches every state, and only Stopped and Failed are final', () => {
    const paths = getShortestPaths(supervisorMachine, {
      input: { now: NOW },
      events: Object.values(EVENTS),
      serializeState: ({ value }) => JSON.stringify(value),
    });
    expect(paths.map(({ state }) => state.value).toSorted()).to.deep.equal([...STATES].toSorted());
    for (const { state } of paths) {
      expect(state.status, state.value).to.equal(['Stopped', 'Failed'].includes(state.value) ? 'done' : 'active');
    }
  });

  it('keeps the last fault and the cause of its failure', () => {
    let it = getInitialSnapshot(supervisorMachine, { now: NOW });
    const send = (event: SupervisorEvent | undefined): void => {
      if (event !== undefined) it = getNextSnapshot(supervisorMachine, it, event);
    };
    for (const name of ['OPENED', 'FAULT', 'FAULT', 'WRITE_FAILED']) send(EVENTS[name]);
    expect(it.context).to.deep.include({
      faults: 2,
      lastFault: { atMs: NOW, operation: 'submit', message: 'no' },
      failure: 'disk full',
    });
  });

  it('counts the actors that failed by measure, and keeps the last of them', () => {
    let it = getInitialSnapshot(supervisorMachine, { now: NOW });
    const failed = { type: 'ACTOR_FAILED', address: 'job/b', message: 'no' } as const;
    for (const event of [
      { type: 'OPENED', now: NOW },
      { ...failed, measure: 'restart', now: NOW },
      { ...failed, measure: 'forget', now: NOW },
      { ...failed, measure: 'restart', now: NOW + 1 },
    ] satisfies SupervisorEvent[])
      it = getNextSnapshot(supervisorMachine, it, event);
    expect(it.context).to.deep.include({
      failedActors: { restart: 2, forget: 1 },
      lastFailedActor: { atMs: NOW + 1, address: 'job/b', measure: 'restart', message: 'no' },
    });
  });
});
