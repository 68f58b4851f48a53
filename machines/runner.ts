/**
 * The runner machine: one registered worker, connected or silent, drained or not, with the attempts it holds. JOBS_CHANGED
 * alone decides which attempts it holds; the attempts that the process names are only compared with them. Pure.
 */
import { and, assign, emit, setup, type SnapshotFrom } from 'xstate';
import { leaseMs, offlineAfterMs } from '../src/domain/rules.ts';
import type { RunnerContext } from '../src/contract/types.ts';
import type {
  RunnerEvent,
  RunnerExcused,
  RunnerFact,
  RunnerInterrupted,
  RunnerLost,
  RunnerSignedOff,
} from './protocol.ts';
import {
  afterChanges,
  drainedBy,
  resumedBy,
  droppedAttempts,
  hasFailedWithMachine,
  hasMissedHeartbeat,
  isBeyondItsEnd,
  isDrainOver,
  isFromRegistered,
  isLossConfirmed,
  isMachineGone,
  isMachineGoneLate,
  lostMember,
  isOverdue,
  machineEnd,
  markMissing,
  refs,
  slotsLostMember,
  takenOver,
  type RunnerInput,
} from './runner-context.ts';

type RunnerEmitted = RunnerFact | RunnerLost | RunnerInterrupted | RunnerExcused | RunnerSignedOff;

const fact = (type: RunnerFact['type'], context: RunnerContext, event: RunnerEvent): RunnerFact => ({
  type,
  runnerId: context.runnerId,
  now: event.now,
});

export const runnerMachine = setup({
  types: {
    context: {} as RunnerContext,
    events: {} as RunnerEvent,
    emitted: {} as RunnerEmitted,
    input: {} as RunnerInput,
  },
  guards: {
    sameInstance: ({ context, event }) => 'instance' in event && event.instance === context.instance,
    /** The registered process itself, or a runner that has found it to be dead: no other process may take a live runner's id. */
    takesOver: ({ context, event }) =>
      event.type === 'REGISTER' && (event.instance === context.instance || event.replaces === context.instance),
    drained: ({ context, event }) => context.drained && isFromRegistered(context, event),
    holdsJobs: ({ context, event }) => context.held.length > 0 && isFromRegistered(context, event),
    isFromRegistered: ({ context, event }) => isFromRegistered(context, event),
    willHold: ({ context, event }) =>
      event.type === 'JOBS_CHANGED' && afterChanges(context, event.changes).held.length > 0,
    silent: ({ context: c, event }) => event.now >= c.heardAtMs + offlineAfterMs(c.heartbeatIntervalSecs),
    leaseOver: ({ context: c, event }) => event.now >= c.heardAtMs + leaseMs(c.heartbeatIntervalSecs),
    drainOver: ({ context: c, event }) => isDrainOver(c, event),
    drainOverSilent: ({ context: c, event }) =>
      isDrainOver(c, event) && event.now >= c.heardAtMs + offlineAfterMs(c.heartbeatIntervalSecs),
    drainOverHolding: ({ context: c, event }) => isDrainOver(c, event) && c.held.length > 0,
    isMachineGone: ({ context, event }) => isMachineGone(context, event),
    isMachineGoneLate: ({ context, event }) => isMachineGoneLate(context, event),
    isLossConfirmed: ({ context, event }) => isLossConfirmed(context, event),
    hasFailedWithMachine: ({ context, event }) => hasFailedWithMachine(context, event),
    isMachineMissed: ({ context: c, event }) => hasMissedHeartbeat(c, event) && isMachineGone(c, event),
    hasFailedMissed: ({ context: c, event }) => hasMissedHeartbeat(c, event) && hasFailedWithMachine(c, event),
    leaseOverBeyondItsEnd: ({ context: c, event }) =>
      event.now >= c.heardAtMs + leaseMs(c.heartbeatIntervalSecs) && isBeyondItsEnd(c, event),
    anyOverdue: ({ context: c, event }) => c.held.some((it) => isOverdue(c, it, event.now)),
  },
  actions: {
    takeOver: assign(({ context, event }) => (event.type === 'REGISTER' ? takenOver(context, event) : context)),
    emitNotTakenOver: emit(({ context: c, event }): RunnerLost => ({
      type: 'runner.lost',
      runnerId: c.runnerId,
      held: event.type === 'REGISTER' ? droppedAttempts(c, event) : [],
      cause: 'was restarted',
      now: event.now,
    })),
    recordContact: assign(({ context: c, event }) => ({
      lastHeartbeatMs: event.now,
      heardAtMs: event.now,
      held: markMissing(c.held, event.type === 'HEARTBEAT' ? event.holding : undefined, event.now),
      ...slotsLostMember(event.type === 'HEARTBEAT' ? event.slotsLost : undefined),
      ...(event.type === 'HEARTBEAT' && event.machine !== undefined ? { machine: event.machine } : {}),
      leaving: event.type === 'HEARTBEAT' ? event.leaving : undefined,
      lost: undefined,
      ...(event.type === 'HEARTBEAT' && event.engines !== undefined ? { engines: event.engines } : {}),
    })),
    noteSignOff: assign(({ context: c, event }) => ({ signedOffAtMs: c.signedOffAtMs ?? event.now })),
    apply: assign(({ context, event }) =>
      event.type === 'JOBS_CHANGED' ? afterChanges(context, event.changes) : context,
    ),
    drain: assign(({ context, event }) => drainedBy(context, event)),
    resume: assign(({ context, event }) => resumedBy(context, event)),
    emitMissing: emit(({ context: c, event }): RunnerLost => ({
      type: 'runner.lost',
      runnerId: c.runnerId,
      held: refs(c.held.filter((it) => isOverdue(c, it, event.now))),
      cause: 'no longer reports this run',
      now: event.now,
    })),
    emitLost: emit(({ context: c, event }): RunnerLost => ({
      type: 'runner.lost',
      runnerId: c.runnerId,
      held: refs(c.held),
      cause: `sent no heartbeat for ${Math.round((event.now - c.heardAtMs) / 1000)} s`,
      ...(c.allocation === undefined ? {} : { mayBeExcused: true }),
      now: event.now,
    })),
    noteLost: assign(({ context: c }) => lostMember(c)),
    forgetLost: assign({ lost: undefined }),
    emitExcused: emit(({ context: c, event }): RunnerExcused => ({
      type: 'runner.excused',
      runnerId: c.runnerId,
      lost: c.lost ?? [],
      cause: machineEnd(c, event),
      now: event.now,
    })),
    emitInterrupted: emit(({ context: c, event }): RunnerInterrupted => ({
      type: 'runner.interrupted',
      runnerId: c.runnerId,
      held: refs(c.held),
      cause: machineEnd(c, event),
      now: event.now,
    })),
    emitLostWithMachine: emit(({ context: c, event }): RunnerLost => ({
      type: 'runner.lost',
      runnerId: c.runnerId,
      held: refs(c.held),
      cause: `was ended: ${machineEnd(c, event)}`,
      now: event.now,
    })),
    emitSignedOff: emit(({ context: c, event }): RunnerSignedOff => ({
      type: 'runner.signed-off',
      runnerId: c.runnerId,
      held: refs(c.held),
      now: event.now,
    })),
    emitRegistered: emit(({ context, event }) => fact('runner.registered', context, event)),
    emitOnline: emit(({ context, event }) => fact('runner.online', context, event)),
    emitSilent: emit(({ context, event }) => fact('runner.silent', context, event)),
    emitQuarantined: emit(({ context, event }) => fact('runner.quarantined', context, event)),
    emitDrained: emit(({ context, event }) => fact('runner.drained', context, event)),
    emitResumed: emit(({ context, event }) => fact('runner.resumed', context, event)),
  },
}).createMachine({
  id: 'runner',
  // A new runner is Offline until its first REGISTER.
  initial: 'Offline',
  meta: { groups: { Connected: 'Its process has registered, and its heartbeats arrive.' } },
  context: ({ input }) => ({
    runnerId: input.runnerId,
    name: input.runnerId,
    instance: '',
    capabilities: {
      max_concurrent_jobs: 0,
      cpu_cores: 0,
      memory_gb: 0,
      gpu_available: false,
      supported_simulation_types: [],
    },
    tags: [],
    heartbeatIntervalSecs: 5,
    registeredAtMs: input.now,
    lastHeartbeatMs: input.now,
    heardAtMs: input.now,
    held: [],
    signedOffAtMs: undefined,
    drained: false,
    drainReason: undefined,
    drainedUntilMs: undefined,
    quarantined: undefined,
    countedSinceMs: undefined,
    completed: 0,
    failed: 0,
    slotsLost: undefined,
    machine: undefined,
    allocation: undefined,
    endsAtMs: undefined,
    ephemeral: undefined,
    hostname: undefined,
    engines: undefined,
    leaving: undefined,
    lost: undefined,
  }),
  on: {
    // In every state: a drained runner stays drained, and attempts of the previous process are lost unless this one names them.
    REGISTER: [
      {
        guard: and(['takesOver', 'drained']),
        target: '.Maintenance',
        actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'],
      },
      {
        guard: and(['takesOver', 'holdsJobs']),
        target: '.Busy',
        actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'],
      },
      { guard: 'takesOver', target: '.Idle', actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'] },
    ],
    SIGN_OFF: { guard: 'sameInstance', target: '.Offline', actions: ['emitSignedOff', 'noteSignOff'] },
    // The engine may be wrong about a runner that sends heartbeats; launchers repeat what they know until it misses one.
    ALLOCATION_ENDED: [
      { guard: 'isMachineMissed', target: '.Offline', actions: ['emitSilent', 'emitInterrupted'] },
      { guard: 'hasFailedMissed', target: '.Offline', actions: ['emitSilent', 'emitLostWithMachine'] },
    ],
  },
  states: {
    Idle: {
      description: 'It takes runs, and holds none.',
      meta: { within: ['Connected'] },
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'recordContact' },
        JOBS_CHANGED: [{ guard: 'willHold', target: 'Busy', actions: 'apply' }, { actions: 'apply' }],
        DRAIN: { target: 'Maintenance', actions: ['drain', 'emitDrained'] },
        // Only a runner that takes work is quarantined: a drain by an operator stays as it is.
        QUARANTINE: { target: 'Maintenance', actions: ['drain', 'emitQuarantined'] },
        // A runner that is not drained may be resumed; a transition without an action would refuse the event.
        RESUME: { actions: 'resume' },
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'emitSilent' },
      },
    },
    Busy: {
      description: 'It holds runs, and takes more while it has free slots.',
      meta: { within: ['Connected'] },
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'recordContact' },
        JOBS_CHANGED: [
          { guard: 'willHold', actions: 'apply' },
          { target: 'Idle', actions: 'apply' },
        ],
        DRAIN: { target: 'Maintenance', actions: ['drain', 'emitDrained'] },
        QUARANTINE: { target: 'Maintenance', actions: ['drain', 'emitQuarantined'] },
        // A runner that is not drained may be resumed; a transition without an action would refuse the event.
        RESUME: { actions: 'resume' },
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'emitSilent' },
        MISSING: { guard: 'anyOverdue', actions: 'emitMissing' },
      },
    },
    Maintenance: {
      description:
        'Drained by an operator, or in quarantine: it finishes the runs that it holds, and gets no new ones.',
      meta: { within: ['Connected'] },
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'recordContact' },
        JOBS_CHANGED: { actions: 'apply' },
        DRAIN: { actions: 'drain' },
        RESUME: [
          { guard: 'silent', target: 'Offline', actions: ['resume', 'emitResumed'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['resume', 'emitResumed'] },
          { target: 'Idle', actions: ['resume', 'emitResumed'] },
        ],
        DRAIN_ENDED: [
          { guard: 'drainOverSilent', target: 'Offline', actions: ['resume', 'emitResumed'] },
          { guard: 'drainOverHolding', target: 'Busy', actions: ['resume', 'emitResumed'] },
          { guard: 'drainOver', target: 'Idle', actions: ['resume', 'emitResumed'] },
        ],
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'emitSilent' },
        MISSING: { guard: 'anyOverdue', actions: 'emitMissing' },
      },
    },
    Offline: {
      description:
        'It has not registered, has signed off, or sends no heartbeats. Its runs stay assigned to it until its lease ends.',
      on: {
        REGISTER: [
          { guard: 'drained', target: 'Maintenance', actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'] },
          { target: 'Idle', actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'] },
        ],
        HEARTBEAT: [
          { guard: 'drained', target: 'Maintenance', actions: ['recordContact', 'emitOnline'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['recordContact', 'emitOnline'] },
          { guard: 'isFromRegistered', target: 'Idle', actions: ['recordContact', 'emitOnline'] },
        ],
        JOBS_CHANGED: { actions: 'apply' },
        DRAIN: { actions: ['drain', 'emitDrained'] },
        RESUME: { actions: ['resume', 'emitResumed'] },
        DRAIN_ENDED: { guard: 'drainOver', actions: ['resume', 'emitResumed'] },
        LEASE_ENDED: [
          { guard: 'leaseOverBeyondItsEnd', actions: 'emitInterrupted' },
          { guard: 'leaseOver', actions: ['emitLost', 'noteLost'] },
        ],
        ALLOCATION_ENDED: [
          { guard: 'isMachineGone', actions: 'emitInterrupted' },
          { guard: 'hasFailedWithMachine', actions: 'emitLostWithMachine' },
          // The lease had ended before the report came.
          { guard: 'isMachineGoneLate', actions: ['emitExcused', 'forgetLost'] },
          { guard: 'isLossConfirmed', actions: 'forgetLost' },
        ],
      },
    },
  },
});

export type RunnerSnapshot = SnapshotFrom<typeof runnerMachine>;
