/**
 * The allocation machine: a share of a cluster that the launcher asks for, from the plan to its end. Pure: the launcher sends
 * the answers of engine and coordinator; nothing here asks them.
 */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import {
  afterObservation,
  afterRunner,
  endText,
  isLaunchFailure,
  newAllocation,
  type AllocationContext,
  type AllocationEnd,
  type AllocationEvent,
  type AllocationFact,
  type AllocationInput,
} from './context.ts';

/** The end that an event is, for an allocation in this context. */
function endOf(c: AllocationContext, event: AllocationEvent): AllocationEnd {
  switch (event.type) {
    case 'OBSERVED':
      return event.seen.end ?? { kind: 'unknown' };
    case 'ABSENT':
      return { kind: c.handle === undefined ? 'never-submitted' : 'gone' };
    case 'ABANDON':
      return { kind: 'abandoned' };
    default:
      return { kind: 'cancelled' };
  }
}

export const allocationMachine = setup({
  types: {
    context: {} as AllocationContext,
    events: {} as AllocationEvent,
    emitted: {} as AllocationFact,
    input: {} as AllocationInput,
  },
  guards: {
    hasEnded: ({ event }) => event.type === 'OBSERVED' && event.seen.state === 'ended',
    isStopping: ({ event }) => event.type === 'OBSERVED' && event.seen.state === 'stopping',
    runs: ({ event }) => event.type === 'OBSERVED' && event.seen.state === 'running',
    isQueued: ({ event }) => event.type === 'OBSERVED' && event.seen.state === 'queued',
    /** An operator's stop, or a deadline, came before the engine had answered. */
    mustStop: ({ context }) => context.stop !== undefined,
    // The call itself may have taken long: the engine may have received the submission at its end.
    isSettled: ({ context: c, event }) =>
      event.now >= (c.unansweredAtMs ?? c.submittedAtMs ?? c.plannedAtMs) + c.settleMs,
    isBusy: ({ event }) => event.type === 'RUNNER' && event.status === 'busy',
    isIdle: ({ event }) => event.type === 'RUNNER' && event.status === 'idle',
    isDraining: ({ event }) => event.type === 'RUNNER' && event.status === 'draining',
  },
  actions: {
    noteSubmission: assign(({ event }) => ({ submittedAtMs: event.now })),
    noteHandle: assign(({ event }) =>
      event.type === 'ACCEPTED' ? { handle: event.handle, place: event.place, reason: undefined } : {},
    ),
    noteReason: assign(({ event }) => ('reason' in event ? { reason: event.reason } : {})),
    noteUnanswered: assign(({ event }) => ({ unansweredAtMs: event.now })),
    observe: assign(({ context, event }) => (event.type === 'OBSERVED' ? afterObservation(context, event) : {})),
    noteRunner: assign(({ context, event }) => (event.type === 'RUNNER' ? afterRunner(context, event) : {})),
    noteRunnerGone: assign(({ context, event }) => (event.type === 'RUNNER_GONE' ? afterRunner(context, event) : {})),
    noteStop: assign(({ context: c, event }) => {
      if (event.type !== 'STOP') return {};
      const { reason, isFailure, immediately, now } = event;
      // The first reason counts; a later stop may only be faster.
      return c.stop === undefined
        ? { stop: { reason, isFailure, immediately, atMs: now } }
        : { stop: { ...c.stop, immediately: c.stop.immediately || immediately } };
    }),
    end: assign(({ context: c, event }) => ({ end: endOf(c, event), endedAtMs: event.now, runs: 0 })),
    emitReady: emit(({ context: c, event }): AllocationFact => ({
      type: 'allocation.ready',
      id: c.id,
      now: event.now,
    })),
    emitEnded: emit(({ context: c, event }): AllocationFact => {
      const end = c.end ?? endOf(c, event);
      return {
        type: 'allocation.ended',
        id: c.id,
        isFailure: isLaunchFailure(c, end),
        reason: endText(c, end),
        now: event.now,
      };
    }),
    emitRefused: emit(({ context: c, event }): AllocationFact => {
      const why = 'reason' in event ? event.reason : '';
      return {
        type: 'allocation.ended',
        id: c.id,
        isFailure: true,
        reason: `the engine refused it: ${why}`,
        now: event.now,
      };
    }),
  },
}).createMachine({
  id: 'allocation',
  initial: 'Planned',
  meta: {
    groups: {
      Accepted: 'The engine has it.',
      Waiting: 'Its runner has not registered.',
      Ready: 'Its runner has registered.',
    },
  },
  context: ({ input }) => newAllocation(input),
  states: {
    Planned: {
      description: 'Its id is on disk. The engine knows nothing of it.',
      on: {
        SUBMIT: { target: 'Submitting', actions: 'noteSubmission' },
        ABANDON: { target: 'Ended', actions: ['noteReason', 'end', 'emitEnded'] },
        STOP: { target: 'Ended', actions: ['noteStop', 'end', 'emitEnded'] },
        // Found under its label by a launcher that has lost its records.
        OBSERVED: [
          { guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] },
          { guard: 'isStopping', target: 'Stopping', actions: ['noteSubmission', 'observe'] },
          { guard: 'runs', target: 'Starting', actions: ['noteSubmission', 'observe'] },
          { target: 'Queued', actions: ['noteSubmission', 'observe'] },
        ],
      },
    },
    Submitting: {
      description: 'The engine was called, and has not answered: it may have it or not. Never submitted again.',
      on: {
        ACCEPTED: [
          { guard: 'mustStop', target: 'Stopping', actions: 'noteHandle' },
          { target: 'Queued', actions: 'noteHandle' },
        ],
        REFUSE: { target: 'Refused', actions: ['noteReason', 'end', 'emitRefused'] },
        // It has certainly started nothing: no part of it that answers had room.
        ABANDON: { target: 'Ended', actions: ['noteReason', 'end', 'emitEnded'] },
        UNANSWERED: { actions: ['noteReason', 'noteUnanswered'] },
        OBSERVED: [
          { guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] },
          { guard: 'mustStop', target: 'Stopping', actions: 'observe' },
          { guard: 'isStopping', target: 'Stopping', actions: 'observe' },
          { guard: 'runs', target: 'Starting', actions: 'observe' },
          { target: 'Queued', actions: 'observe' },
        ],
        RUNNER: [
          { guard: 'mustStop', target: 'Stopping', actions: ['noteRunner', 'emitReady'] },
          { guard: 'isBusy', target: 'Busy', actions: ['noteRunner', 'emitReady'] },
          { guard: 'isDraining', target: 'Draining', actions: ['noteRunner', 'emitReady'] },
          { target: 'Idle', actions: ['noteRunner', 'emitReady'] },
        ],
        ABSENT: { guard: 'isSettled', target: 'Ended', actions: ['end', 'emitEnded'] },
        STOP: { actions: 'noteStop' },
      },
    },
    Queued: {
      description: 'The engine has it, and has not started it.',
      meta: { within: ['Accepted', 'Waiting'] },
      on: {
        OBSERVED: [
          { guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] },
          { guard: 'isStopping', target: 'Stopping', actions: 'observe' },
          { guard: 'runs', target: 'Starting', actions: 'observe' },
          { actions: 'observe' },
        ],
        RUNNER: [
          { guard: 'isBusy', target: 'Busy', actions: ['noteRunner', 'emitReady'] },
          { guard: 'isDraining', target: 'Draining', actions: ['noteRunner', 'emitReady'] },
          { target: 'Idle', actions: ['noteRunner', 'emitReady'] },
        ],
        ABSENT: { target: 'Lost', actions: ['end', 'emitEnded'] },
        STOP: { target: 'Stopping', actions: 'noteStop' },
      },
    },
    Starting: {
      description: 'Its processes run; its runner has not registered.',
      meta: { within: ['Accepted', 'Waiting'] },
      on: {
        OBSERVED: [
          { guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] },
          { guard: 'isStopping', target: 'Stopping', actions: 'observe' },
          { guard: 'isQueued', target: 'Queued', actions: 'observe' },
          { actions: 'observe' },
        ],
        RUNNER: [
          { guard: 'isBusy', target: 'Busy', actions: ['noteRunner', 'emitReady'] },
          { guard: 'isDraining', target: 'Draining', actions: ['noteRunner', 'emitReady'] },
          { target: 'Idle', actions: ['noteRunner', 'emitReady'] },
        ],
        ABSENT: { target: 'Lost', actions: ['end', 'emitEnded'] },
        STOP: { target: 'Stopping', actions: 'noteStop' },
      },
    },
    Idle: {
      description: 'Its runner holds no run.',
      meta: { within: ['Accepted', 'Ready'] },
      on: {
        RUNNER: [
          { guard: 'isBusy', target: 'Busy', actions: 'noteRunner' },
          { guard: 'isDraining', target: 'Draining', actions: 'noteRunner' },
          { actions: 'noteRunner' },
        ],
        RUNNER_GONE: { target: 'Draining', actions: 'noteRunnerGone' },
        OBSERVED: [
          { guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] },
          { guard: 'isStopping', target: 'Stopping', actions: 'observe' },
          { actions: 'observe' },
        ],
        ABSENT: { target: 'Lost', actions: ['end', 'emitEnded'] },
        STOP: { target: 'Stopping', actions: 'noteStop' },
      },
    },
    Busy: {
      description: 'Its runner holds runs.',
      meta: { within: ['Accepted', 'Ready'] },
      on: {
        RUNNER: [
          { guard: 'isIdle', target: 'Idle', actions: 'noteRunner' },
          { guard: 'isDraining', target: 'Draining', actions: 'noteRunner' },
          { actions: 'noteRunner' },
        ],
        RUNNER_GONE: { target: 'Draining', actions: 'noteRunnerGone' },
        OBSERVED: [
          { guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] },
          { guard: 'isStopping', target: 'Stopping', actions: 'observe' },
          { actions: 'observe' },
        ],
        ABSENT: { target: 'Lost', actions: ['end', 'emitEnded'] },
        STOP: { target: 'Stopping', actions: 'noteStop' },
      },
    },
    Draining: {
      description:
        'Its runner gets no new runs: it is drained, or has signed off. Stopped when its runs take too long to end.',
      meta: { within: ['Accepted', 'Ready'] },
      on: {
        RUNNER: [
          { guard: 'isDraining', actions: 'noteRunner' },
          { guard: 'isBusy', target: 'Busy', actions: 'noteRunner' },
          { guard: 'isIdle', target: 'Idle', actions: 'noteRunner' },
          { actions: 'noteRunner' },
        ],
        RUNNER_GONE: { actions: 'noteRunnerGone' },
        OBSERVED: [
          { guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] },
          { guard: 'isStopping', target: 'Stopping', actions: 'observe' },
          { actions: 'observe' },
        ],
        // The runner has left, and the engine no longer lists the allocation.
        ABSENT: { target: 'Ended', actions: ['end', 'emitEnded'] },
        STOP: { target: 'Stopping', actions: 'noteStop' },
      },
    },
    Stopping: {
      description: 'The engine was asked to end it, or ends it by itself.',
      on: {
        RUNNER: { actions: 'noteRunner' },
        RUNNER_GONE: { actions: 'noteRunnerGone' },
        OBSERVED: [{ guard: 'hasEnded', target: 'Ended', actions: ['observe', 'emitEnded'] }, { actions: 'observe' }],
        ABSENT: { target: 'Ended', actions: ['end', 'emitEnded'] },
        STOP: { actions: 'noteStop' },
      },
    },
    Ended: { type: 'final', description: 'It has ended, or was never submitted.' },
    Refused: { type: 'final', description: 'The engine did not take it.' },
    Lost: { type: 'final', description: 'The engine does not list it any more, and no end was seen.' },
  },
});

export type AllocationSnapshot = SnapshotFrom<typeof allocationMachine>;
export type AllocationStatus = AllocationSnapshot['value'];
