/**
 * The supervisor: owns time and knows how the system as a whole is. It is *given* the time and what is due, and says which
 * actor's deadline has passed; it counts faults. Pure.
 */
import { assign, emit, enqueueActions, setup, type SnapshotFrom } from 'xstate';
import type { DeadlinePassed, SupervisorEvent, SupervisorFact } from './protocol.ts';

export interface SupervisorContext {
  startedAtMs: number;
  lastTickMs: number;
  /** Turns that threw and were rolled back. */
  faults: number;
  lastFault: { atMs: number; operation: string; message: string } | undefined;
  /** Why the system stopped by itself. */
  failure: string | undefined;
}

const fact = (type: SupervisorFact['type'], event: SupervisorEvent): SupervisorFact => ({ type, now: event.now });

export const supervisorMachine = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent,
    emitted: {} as SupervisorFact | DeadlinePassed,
    input: {} as { now: number },
  },
  actions: {
    // A clock that stepped backwards is seen as standing still.
    noteTime: assign(({ context, event }) => ({ lastTickMs: Math.max(context.lastTickMs, event.now) })),
    tellDue: enqueueActions(({ event, enqueue }) => {
      if (event.type !== 'TICK') return;
      for (const { address, kind } of event.due) {
        enqueue.emit({ type: 'deadline.passed', address, kind, now: event.now });
      }
    }),
    noteFault: assign(({ context, event }) =>
      event.type === 'FAULT'
        ? {
            faults: context.faults + 1,
            lastFault: { atMs: event.now, operation: event.operation, message: event.message },
          }
        : {},
    ),
    noteFailure: assign(({ event }) => (event.type === 'WRITE_FAILED' ? { failure: event.message } : {})),
    tellServing: emit(({ event }) => fact('system.serving', event)),
    tellStopping: emit(({ event }) => fact('system.stopping', event)),
    tellStopped: emit(({ event }) => fact('system.stopped', event)),
    tellFailed: emit(({ event }) => fact('system.failed', event)),
    tellFaulted: emit(({ event }) => fact('system.faulted', event)),
  },
}).createMachine({
  id: 'supervisor',
  initial: 'Starting',
  context: ({ input }) => ({
    startedAtMs: input.now,
    lastTickMs: input.now,
    faults: 0,
    lastFault: undefined,
    failure: undefined,
  }),
  states: {
    Starting: {
      on: {
        OPENED: { target: 'Serving', actions: ['noteTime', 'tellServing'] },
        WRITE_FAILED: { target: 'Failed', actions: ['noteFailure', 'tellFailed'] },
      },
    },
    Serving: {
      on: {
        TICK: { actions: ['noteTime', 'tellDue'] },
        FAULT: { actions: ['noteFault', 'tellFaulted'] },
        STOP: { target: 'Stopping', actions: 'tellStopping' },
        WRITE_FAILED: { target: 'Failed', actions: ['noteFailure', 'tellFailed'] },
      },
    },
    Stopping: {
      on: {
        FAULT: { actions: ['noteFault', 'tellFaulted'] },
        CLOSED: { target: 'Stopped', actions: 'tellStopped' },
        WRITE_FAILED: { target: 'Failed', actions: ['noteFailure', 'tellFailed'] },
      },
    },
    Stopped: { type: 'final' },
    Failed: { type: 'final' },
  },
});

export type SupervisorSnapshot = SnapshotFrom<typeof supervisorMachine>;
