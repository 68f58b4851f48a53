/** The allocation's machine: its transition table as text, its graph, its deadlines, and which ends count as failures. */
import { expect } from 'chai';
import { getShortestPaths } from 'xstate/graph';
import {
  allocationDeadline,
  isLaunchFailure,
  newAllocation,
  type AllocationEnd,
  type AllocationFact,
} from '../../machines/allocation/context.ts';
import { allocationMachine } from '../../machines/allocation/allocation.ts';
import { expectTable, type Exercise } from '../support/transition-table.ts';
import { ALLOCATION_EVENTS, ALLOCATION_INPUT, ALLOCATION_STATES } from './allocation.fixture.ts';

const exercise: Exercise = {
  machine: allocationMachine,
  fact: (it: AllocationFact) => (it.type === 'allocation.ready' ? 'ready' : it.isFailure ? 'failure' : 'end'),
  fields: ['handle', 'runs', 'stop', 'end'],
  events: ALLOCATION_EVENTS,
  states: ALLOCATION_STATES,
};

describe('machines/allocation', () => {
  it('takes exactly these events', () => {
    expectTable(
      exercise,
      `
      Planned                   | SUBMIT               | Submitting | -       | -
      Planned                   | ABANDON              | Ended      | end     | end set
      Planned                   | OBSERVED [queued]    | Queued     | -       | handle set
      Planned                   | OBSERVED [running]   | Starting   | -       | handle set
      Planned                   | OBSERVED [stopping]  | Stopping   | -       | handle set
      Planned                   | OBSERVED [failed]    | Ended      | failure | handle set, end set
      Planned                   | OBSERVED [preempted] | Ended      | end     | handle set, end set
      Planned                   | STOP                 | Ended      | end     | stop set, end set
      # Whether the engine has it is unknown: it is never submitted again, and ends when the engine has not listed it for long enough.
      Submitting                | ACCEPTED             | Queued     | -       | handle set
      Submitting                | REFUSE               | Refused    | failure | end set
      Submitting                | ABANDON              | Ended      | end     | end set
      Submitting                | UNANSWERED           | Submitting | -       | -
      Submitting                | OBSERVED [queued]    | Queued     | -       | handle set
      Submitting                | OBSERVED [running]   | Starting   | -       | handle set
      Submitting                | OBSERVED [stopping]  | Stopping   | -       | handle set
      Submitting                | OBSERVED [failed]    | Ended      | failure | handle set, end set
      Submitting                | OBSERVED [preempted] | Ended      | end     | handle set, end set
      Submitting                | ABSENT [later]       | Ended      | failure | end set
      Submitting                | RUNNER [idle]        | Idle       | ready   | -
      Submitting                | RUNNER [busy]        | Busy       | ready   | runs+2
      Submitting                | RUNNER [draining]    | Draining   | ready   | runs+1
      Submitting                | RUNNER [offline]     | Idle       | ready   | -
      Submitting                | STOP                 | Submitting | -       | stop set
      Submitting, to be stopped | ACCEPTED             | Stopping   | -       | handle set
      Submitting, to be stopped | REFUSE               | Refused    | failure | end set
      Submitting, to be stopped | ABANDON              | Ended      | end     | end set
      Submitting, to be stopped | UNANSWERED           | Submitting | -       | -
      Submitting, to be stopped | OBSERVED [queued]    | Stopping   | -       | handle set
      Submitting, to be stopped | OBSERVED [running]   | Stopping   | -       | handle set
      Submitting, to be stopped | OBSERVED [stopping]  | Stopping   | -       | handle set
      Submitting, to be stopped | OBSERVED [failed]    | Ended      | end     | handle set, end set
      Submitting, to be stopped | OBSERVED [preempted] | Ended      | end     | handle set, end set
      Submitting, to be stopped | ABSENT [later]       | Ended      | end     | end set
      Submitting, to be stopped | RUNNER [idle]        | Stopping   | ready   | -
      Submitting, to be stopped | RUNNER [busy]        | Stopping   | ready   | runs+2
      Submitting, to be stopped | RUNNER [draining]    | Stopping   | ready   | runs+1
      Submitting, to be stopped | RUNNER [offline]     | Stopping   | ready   | -
      Submitting, to be stopped | STOP                 | Submitting | -       | -
      # An allocation that disappears before its runner registered is a failure of the queue.
      Queued                    | OBSERVED [queued]    | Queued     | -       | -
      Queued                    | OBSERVED [running]   | Starting   | -       | -
      Queued                    | OBSERVED [stopping]  | Stopping   | -       | -
      Queued                    | OBSERVED [failed]    | Ended      | failure | end set
      Queued                    | OBSERVED [preempted] | Ended      | end     | end set
      Queued                    | ABSENT               | Lost       | failure | end set
      Queued                    | ABSENT [later]       | Lost       | failure | end set
      Queued                    | RUNNER [idle]        | Idle       | ready   | -
      Queued                    | RUNNER [busy]        | Busy       | ready   | runs+2
      Queued                    | RUNNER [draining]    | Draining   | ready   | runs+1
      Queued                    | RUNNER [offline]     | Idle       | ready   | -
      Queued                    | STOP                 | Stopping   | -       | stop set
      Starting                  | OBSERVED [queued]    | Queued     | -       | -
      Starting                  | OBSERVED [running]   | Starting   | -       | -
      Starting                  | OBSERVED [stopping]  | Stopping   | -       | -
      Starting                  | OBSERVED [failed]    | Ended      | failure | end set
      Starting                  | OBSERVED [preempted] | Ended      | end     | end set
      Starting                  | ABSENT               | Lost       | failure | end set
      Starting                  | ABSENT [later]       | Lost       | failure | end set
      Starting                  | RUNNER [idle]        | Idle       | ready   | -
      Starting                  | RUNNER [busy]        | Busy       | ready   | runs+2
      Starting                  | RUNNER [draining]    | Draining   | ready   | runs+1
      Starting                  | RUNNER [offline]     | Idle       | ready   | -
      Starting                  | STOP                 | Stopping   | -       | stop set
      # After its runner has registered, no end is a failure.
      Idle                      | OBSERVED [queued]    | Idle       | -       | -
      Idle                      | OBSERVED [running]   | Idle       | -       | -
      Idle                      | OBSERVED [stopping]  | Stopping   | -       | -
      Idle                      | OBSERVED [failed]    | Ended      | end     | end set
      Idle                      | OBSERVED [preempted] | Ended      | end     | end set
      Idle                      | ABSENT               | Lost       | end     | end set
      Idle                      | ABSENT [later]       | Lost       | end     | end set
      Idle                      | RUNNER [idle]        | Idle       | -       | -
      Idle                      | RUNNER [busy]        | Busy       | -       | runs+2
      Idle                      | RUNNER [draining]    | Draining   | -       | runs+1
      Idle                      | RUNNER [offline]     | Idle       | -       | -
      Idle                      | RUNNER_GONE          | Draining   | -       | -
      Idle                      | STOP                 | Stopping   | -       | stop set
      Busy                      | OBSERVED [queued]    | Busy       | -       | -
      Busy                      | OBSERVED [running]   | Busy       | -       | -
      Busy                      | OBSERVED [stopping]  | Stopping   | -       | -
      Busy                      | OBSERVED [failed]    | Ended      | end     | runs-2, end set
      Busy                      | OBSERVED [preempted] | Ended      | end     | runs-2, end set
      Busy                      | ABSENT               | Lost       | end     | runs-2, end set
      Busy                      | ABSENT [later]       | Lost       | end     | runs-2, end set
      Busy                      | RUNNER [idle]        | Idle       | -       | runs-2
      Busy                      | RUNNER [busy]        | Busy       | -       | -
      Busy                      | RUNNER [draining]    | Draining   | -       | runs-1
      Busy                      | RUNNER [offline]     | Busy       | -       | runs-2
      Busy                      | RUNNER_GONE          | Draining   | -       | runs-2
      Busy                      | STOP                 | Stopping   | -       | stop set
      # A runner that has signed off is gone; the engine may forget the rest at any time.
      Draining                  | OBSERVED [queued]    | Draining   | -       | -
      Draining                  | OBSERVED [running]   | Draining   | -       | -
      Draining                  | OBSERVED [stopping]  | Stopping   | -       | -
      Draining                  | OBSERVED [failed]    | Ended      | end     | runs-1, end set
      Draining                  | OBSERVED [preempted] | Ended      | end     | runs-1, end set
      Draining                  | ABSENT               | Ended      | end     | runs-1, end set
      Draining                  | ABSENT [later]       | Ended      | end     | runs-1, end set
      Draining                  | RUNNER [idle]        | Idle       | -       | runs-1
      Draining                  | RUNNER [busy]        | Busy       | -       | runs+1
      Draining                  | RUNNER [draining]    | Draining   | -       | -
      Draining                  | RUNNER [offline]     | Draining   | -       | runs-1
      Draining                  | RUNNER_GONE          | Draining   | -       | runs-1
      Draining                  | STOP                 | Stopping   | -       | stop set
      Stopping                  | OBSERVED [queued]    | Stopping   | -       | -
      Stopping                  | OBSERVED [running]   | Stopping   | -       | -
      Stopping                  | OBSERVED [stopping]  | Stopping   | -       | -
      Stopping                  | OBSERVED [failed]    | Ended      | end     | end set
      Stopping                  | OBSERVED [preempted] | Ended      | end     | end set
      Stopping                  | ABSENT               | Ended      | end     | end set
      Stopping                  | ABSENT [later]       | Ended      | end     | end set
      Stopping                  | RUNNER [idle]        | Stopping   | -       | -
      Stopping                  | RUNNER [busy]        | Stopping   | -       | runs+2
      Stopping                  | RUNNER [draining]    | Stopping   | -       | runs+1
      Stopping                  | RUNNER [offline]     | Stopping   | -       | -
      Stopping                  | RUNNER_GONE          | Stopping   | -       | -
      Stopping                  | STOP                 | Stopping   | -       | -
      # It was stopped because its runner did not register: a failure.
      Stopping, never ready     | OBSERVED [queued]    | Stopping   | -       | -
      Stopping, never ready     | OBSERVED [running]   | Stopping   | -       | -
      Stopping, never ready     | OBSERVED [stopping]  | Stopping   | -       | -
      Stopping, never ready     | OBSERVED [failed]    | Ended      | failure | end set
      Stopping, never ready     | OBSERVED [preempted] | Ended      | failure | end set
      Stopping, never ready     | ABSENT               | Ended      | failure | end set
      Stopping, never ready     | ABSENT [later]       | Ended      | failure | end set
      Stopping, never ready     | RUNNER [idle]        | Stopping   | -       | -
      Stopping, never ready     | RUNNER [busy]        | Stopping   | -       | runs+2
      Stopping, never ready     | RUNNER [draining]    | Stopping   | -       | runs+1
      Stopping, never ready     | RUNNER [offline]     | Stopping   | -       | -
      Stopping, never ready     | RUNNER_GONE          | Stopping   | -       | -
      Stopping, never ready     | STOP                 | Stopping   | -       | -
      # Ended, Refused and Lost take nothing.
      `,
    );
  });

  it('reaches every state', () => {
    const paths = getShortestPaths(allocationMachine, {
      input: ALLOCATION_INPUT,
      events: Object.values(ALLOCATION_EVENTS),
      serializeState: ({ value }) => JSON.stringify(value),
    });
    const reached = new Set(paths.map((it) => it.state.value));
    expect([...reached].toSorted()).to.deep.equal(Object.keys(allocationMachine.states).toSorted());
  });

  const ENDS: [AllocationEnd['kind'], boolean][] = [
    ['completed', true],
    ['failed', true],
    ['unknown', true],
    ['gone', true],
    ['never-submitted', true],
    ['timeout', false],
    ['preempted', false],
    ['node-failure', false],
    ['cancelled', false],
  ];
  for (const [kind, isFailure] of ENDS) {
    it(`counts the end "${kind}" ${isFailure ? 'as a failure' : 'as no failure'} before the runner registered, and never after`, () => {
      const waiting = newAllocation(ALLOCATION_INPUT);
      expect(isLaunchFailure(waiting, { kind })).to.equal(isFailure);
      expect(isLaunchFailure({ ...waiting, readyAtMs: 1 }, { kind })).to.equal(false);
    });
  }

  it('expires in Starting, in Draining with runs, and in Queued where the queue has a limit', () => {
    const { Starting, Queued, Idle } = ALLOCATION_STATES;
    expect(allocationDeadline('Starting', Starting.context)).to.include({ atMs: 1_060_000, isFailure: true });
    expect(allocationDeadline('Queued', Queued.context)).to.equal(undefined);
    expect(allocationDeadline('Idle', Idle.context)).to.equal(undefined);
    const { Draining } = ALLOCATION_STATES;
    const drained = { ...Draining.context, runs: 1, drain: 'time-limits', drainingAtMs: 1_000_000 } as const;
    expect(allocationDeadline('Draining', drained), 'no limit is known').to.equal(undefined);
    expect(allocationDeadline('Draining', { ...drained, drainLimitMs: 0 }), 'a run has none').to.equal(undefined);
    expect(allocationDeadline('Draining', { ...drained, drainLimitMs: 5_000 })).to.include({ atMs: 1_605_000 });
    expect(allocationDeadline('Draining', { ...drained, drain: 5_000 })).to.include({ atMs: 1_005_000 });
    expect(allocationDeadline('Draining', { ...drained, drain: 5_000, runs: 0 }), 'it waits').to.equal(undefined);
    expect(allocationDeadline('Draining', { ...drained, leftAtMs: 1_000_000 })).to.include({ atMs: 1_600_000 });
    const limited = { ...Queued.context, queueTimeoutMs: 5_000 };
    expect(allocationDeadline('Queued', limited)).to.include({ atMs: 1_005_000, isFailure: false });
  });
});
