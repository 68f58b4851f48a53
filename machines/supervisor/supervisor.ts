/**
 * The supervisor machine: the life cycle of the coordinator, and the root of its actor system. TICK brings it the time and the expired
 * deadlines; it emits one fact per deadline. It counts the faults of turns, and the actors that it restarted or forgot. Pure.
 */
import { assign, emit, enqueueActions, setup, type SnapshotFrom } from 'xstate';
import type { ActorFailed, Address, DeadlinePassed, Measure, SupervisorEvent, SupervisorFact } from '../protocol.ts';

export interface SupervisorContext {
  startedAtMs: number;
  lastTickMs: number;
  /** Turns that threw and were rolled back. */
  faults: number;
  lastFault: { atMs: number; operation: string; message: string } | undefined;
  /** How many actors threw, by the measure that was taken; undefined while none has. */
  failedActors: Partial<Record<Measure, number>> | undefined;
  lastFailedActor: { atMs: number; address: Address; measure: Measure; message: string } | undefined;
  /** Why the coordinator stopped without being asked. */
  failure: string | undefined;
}

const fact = (type: SupervisorFact['type'], event: SupervisorEvent): SupervisorFact => ({ type, now: event.now });

export const supervisorMachine = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent,
    emitted: {} as SupervisorFact | DeadlinePassed | ActorFailed,
    input: {} as { now: number },
  },
  actions: {
    // A clock that stepped backwards does not move `lastTickMs`.
    noteTime: assign(({ context, event }) => ({ lastTickMs: Math.max(context.lastTickMs, event.now) })),
    emitDue: enqueueActions(({ event, enqueue }) => {
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
    noteFailedActor: assign(({ context: { failedActors }, event }) => {
      if (event.type !== 'ACTOR_FAILED') return {};
      const { now: atMs, address, measure, message } = event;
      return {
        failedActors: { ...failedActors, [measure]: (failedActors?.[measure] ?? 0) + 1 },
        lastFailedActor: { atMs, address, measure, message },
      };
    }),
    emitActorFailed: enqueueActions(({ event, enqueue }) => {
      if (event.type === 'ACTOR_FAILED') enqueue.emit({ ...event, type: 'actor.failed' });
    }),
    noteFailure: assign(({ event }) => (event.type === 'WRITE_FAILED' ? { failure: event.message } : {})),
    emitServing: emit(({ event }) => fact('system.serving', event)),
    emitStopping: emit(({ event }) => fact('system.stopping', event)),
    emitStopped: emit(({ event }) => fact('system.stopped', event)),
    emitFailed: emit(({ event }) => fact('system.failed', event)),
    emitFaulted: emit(({ event }) => fact('system.faulted', event)),
  },
}).createMachine({
  id: 'supervisor',
  initial: 'Starting',
  context: ({ input }) => ({
    startedAtMs: input.now,
    lastTickMs: input.now,
    faults: 0,
    lastFault: undefined,
    failedActors: undefined,
    lastFailedActor: undefined,
    failure: undefined,
  }),
  states: {
    Starting: {
      description: 'The store is being opened and the actors are recovered. No request is accepted.',
      on: {
        OPENED: { target: 'Serving', actions: ['noteTime', 'emitServing'] },
        WRITE_FAILED: { target: 'Failed', actions: ['noteFailure', 'emitFailed'] },
      },
    },
    Serving: {
      description: 'Requests are accepted.',
      on: {
        TICK: { actions: ['noteTime', 'emitDue'] },
        FAULT: { actions: ['noteFault', 'emitFaulted'] },
        ACTOR_FAILED: { actions: ['noteFailedActor', 'emitActorFailed'] },
        STOP: { target: 'Stopping', actions: 'emitStopping' },
        WRITE_FAILED: { target: 'Failed', actions: ['noteFailure', 'emitFailed'] },
      },
    },
    Stopping: {
      description: 'Requests in flight are finished. No new one is accepted.',
      on: {
        FAULT: { actions: ['noteFault', 'emitFaulted'] },
        ACTOR_FAILED: { actions: ['noteFailedActor', 'emitActorFailed'] },
        CLOSED: { target: 'Stopped', actions: 'emitStopped' },
        WRITE_FAILED: { target: 'Failed', actions: ['noteFailure', 'emitFailed'] },
      },
    },
    Stopped: { type: 'final', description: 'The store is closed.' },
    Failed: {
      type: 'final',
      description: 'A write to the store has failed. The process exits, and a restart recovers it.',
    },
  },
});

export type SupervisorSnapshot = SnapshotFrom<typeof supervisorMachine>;
