/**
 * The runner machine: one registered worker, connected or silent, drained or not, with the attempts it holds. JOBS_CHANGED
 * alone decides which attempts it holds; the attempts that the process names are only compared with them. Pure.
 */
import { and, assign, emit, setup, type SnapshotFrom } from 'xstate';
import { leaseMs, offlineAfterMs } from '../src/domain/rules.ts';
import type { AttemptRef, HeldAttempt, RunnerContext } from '../src/contract/types.ts';
import type { Deadline, JobChange, RunnerEvent, RunnerFact, RunnerLost, RunnerSignedOff } from './protocol.ts';

export type { HeldAttempt, RunnerContext };

export interface RunnerInput {
  runnerId: string;
  now: number;
}

type RunnerEmitted = RunnerFact | RunnerLost | RunnerSignedOff;
type Of<T extends RunnerEvent['type']> = Extract<RunnerEvent, { type: T }>;

/** Returns the context after the changes: attempts held, and counters. */
function afterChanges(c: RunnerContext, changes: readonly JobChange[]): RunnerContext {
  const held = new Map(c.held.map((it) => [it.jobId, it]));
  let { completed, failed } = c;
  for (const change of changes) {
    switch (change.type) {
      case 'job.claimed': {
        const { jobId, attempt, cpuMilli, memoryBytes } = change;
        held.set(jobId, { jobId, attempt, cpuMilli, memoryBytes });
        break;
      }
      case 'job.started':
        break;
      case 'job.requeued':
        held.delete(change.jobId);
        if (change.outcome === 'failed') failed += 1;
        break;
      case 'job.ended':
        held.delete(change.jobId);
        if (change.to === 'Completed') completed += 1;
        else if (change.to !== 'Cancelled') failed += 1;
        break;
    }
  }
  return { ...c, held: [...held.values()], completed, failed };
}

/** Marks the attempts that the runner no longer names, and clears the mark of those it names again. */
function markMissing(
  held: readonly HeldAttempt[],
  named: readonly AttemptRef[] | undefined,
  now: number,
): readonly HeldAttempt[] {
  if (named === undefined || held.length === 0) return held;
  const attempts = new Map(named.map((it) => [it.job_id, it.attempt]));
  let changed = false;
  const result = held.map((it) => {
    const isNamed = attempts.get(it.jobId) === it.attempt;
    if (isNamed === (it.missingSinceMs === undefined)) return it;
    changed = true;
    const { missingSinceMs: _, ...rest } = it;
    return isNamed ? rest : { ...rest, missingSinceMs: now };
  });
  return changed ? result : held;
}

const refs = (held: readonly HeldAttempt[]): AttemptRef[] =>
  held.map((it) => ({ job_id: it.jobId, attempt: it.attempt }));

/** The attempts of the previous process that the registering process does not name. */
function droppedAttempts(c: RunnerContext, event: Of<'REGISTER'>): AttemptRef[] {
  if (event.instance === c.instance) return [];
  const named = new Map(event.holding.map((it) => [it.job_id, it.attempt]));
  return refs(c.held.filter((it) => named.get(it.jobId) !== it.attempt));
}

const fact = (type: RunnerFact['type'], context: RunnerContext, event: RunnerEvent): RunnerFact => ({
  type,
  runnerId: context.runnerId,
  now: event.now,
});

const isOverdue = (c: RunnerContext, it: HeldAttempt, now: number): boolean =>
  it.missingSinceMs !== undefined && now >= it.missingSinceMs + leaseMs(c.heartbeatIntervalSecs);

export const runnerMachine = setup({
  types: {
    context: {} as RunnerContext,
    events: {} as RunnerEvent,
    emitted: {} as RunnerEmitted,
    input: {} as RunnerInput,
  },
  guards: {
    sameInstance: ({ context, event }) => 'instance' in event && event.instance === context.instance,
    /** The registered process itself, or one that has found it to be dead: no other process may take a live runner's id. */
    takesOver: ({ context, event }) =>
      event.type === 'REGISTER' && (event.instance === context.instance || event.replaces === context.instance),
    drained: ({ context, event }) => context.drained && isFromRegistered(context, event),
    holdsJobs: ({ context, event }) => context.held.length > 0 && isFromRegistered(context, event),
    isFromUs: ({ context, event }) => isFromRegistered(context, event),
    willHold: ({ context, event }) =>
      event.type === 'JOBS_CHANGED' && afterChanges(context, event.changes).held.length > 0,
    silent: ({ context: c, event }) => event.now >= c.heardAtMs + offlineAfterMs(c.heartbeatIntervalSecs),
    leaseOver: ({ context: c, event }) => event.now >= c.heardAtMs + leaseMs(c.heartbeatIntervalSecs),
    anyOverdue: ({ context: c, event }) => c.held.some((it) => isOverdue(c, it, event.now)),
  },
  actions: {
    takeOver: assign(({ context: c, event }) => {
      if (event.type !== 'REGISTER') return c;
      return {
        ...c,
        name: event.name,
        instance: event.instance,
        capabilities: event.capabilities,
        tags: event.tags,
        heartbeatIntervalSecs: event.heartbeatIntervalSecs,
        lastHeartbeatMs: event.now,
        heardAtMs: event.now,
        held: markMissing(c.held, event.holding, event.now),
      };
    }),
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
    })),
    apply: assign(({ context, event }) =>
      event.type === 'JOBS_CHANGED' ? afterChanges(context, event.changes) : context,
    ),
    drain: assign(({ event }) => ({ drained: true, drainReason: event.type === 'DRAIN' ? event.reason : undefined })),
    resume: assign({ drained: false, drainReason: undefined }),
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
    emitDrained: emit(({ context, event }) => fact('runner.drained', context, event)),
    emitResumed: emit(({ context, event }) => fact('runner.resumed', context, event)),
  },
}).createMachine({
  id: 'runner',
  // A new runner is Offline until its first REGISTER.
  initial: 'Offline',
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
    drained: false,
    drainReason: undefined,
    completed: 0,
    failed: 0,
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
    SIGN_OFF: { guard: 'sameInstance', target: '.Offline', actions: 'emitSignedOff' },
  },
  states: {
    Idle: {
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'recordContact' },
        JOBS_CHANGED: [{ guard: 'willHold', target: 'Busy', actions: 'apply' }, { actions: 'apply' }],
        DRAIN: { target: 'Maintenance', actions: ['drain', 'emitDrained'] },
        // A runner that is not drained may be resumed; a transition without an action would refuse the event.
        RESUME: { actions: 'resume' },
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'emitSilent' },
      },
    },
    Busy: {
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'recordContact' },
        JOBS_CHANGED: [
          { guard: 'willHold', actions: 'apply' },
          { target: 'Idle', actions: 'apply' },
        ],
        DRAIN: { target: 'Maintenance', actions: ['drain', 'emitDrained'] },
        // A runner that is not drained may be resumed; a transition without an action would refuse the event.
        RESUME: { actions: 'resume' },
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'emitSilent' },
        MISSING: { guard: 'anyOverdue', actions: 'emitMissing' },
      },
    },
    Maintenance: {
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'recordContact' },
        JOBS_CHANGED: { actions: 'apply' },
        DRAIN: { actions: 'drain' },
        RESUME: [
          { guard: 'silent', target: 'Offline', actions: ['resume', 'emitResumed'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['resume', 'emitResumed'] },
          { target: 'Idle', actions: ['resume', 'emitResumed'] },
        ],
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'emitSilent' },
        MISSING: { guard: 'anyOverdue', actions: 'emitMissing' },
      },
    },
    Offline: {
      on: {
        REGISTER: [
          { guard: 'drained', target: 'Maintenance', actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'] },
          { target: 'Idle', actions: ['emitNotTakenOver', 'takeOver', 'emitRegistered'] },
        ],
        HEARTBEAT: [
          { guard: 'drained', target: 'Maintenance', actions: ['recordContact', 'emitOnline'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['recordContact', 'emitOnline'] },
          { guard: 'isFromUs', target: 'Idle', actions: ['recordContact', 'emitOnline'] },
        ],
        JOBS_CHANGED: { actions: 'apply' },
        DRAIN: { actions: ['drain', 'emitDrained'] },
        RESUME: { actions: ['resume', 'emitResumed'] },
        LEASE_ENDED: { guard: 'leaseOver', actions: 'emitLost' },
      },
    },
  },
});

export type RunnerSnapshot = SnapshotFrom<typeof runnerMachine>;

/** True unless the event is a heartbeat of another process than the registered one. */
function isFromRegistered(context: RunnerContext, event: RunnerEvent): boolean {
  return event.type !== 'HEARTBEAT' || event.instance === context.instance;
}

/** The runner's next deadline, if it has one. */
export function runnerDeadline(value: string, c: RunnerContext): Deadline | undefined {
  if (value === 'Offline') {
    return c.held.length === 0 ? undefined : { kind: 'lease', atMs: c.heardAtMs + leaseMs(c.heartbeatIntervalSecs) };
  }
  const silence: Deadline = { kind: 'silence', atMs: c.heardAtMs + offlineAfterMs(c.heartbeatIntervalSecs) };
  let missingAtMs = Infinity;
  for (const it of c.held) if (it.missingSinceMs !== undefined) missingAtMs = Math.min(missingAtMs, it.missingSinceMs);
  if (missingAtMs === Infinity) return silence;
  const missing: Deadline = { kind: 'missing', atMs: missingAtMs + leaseMs(c.heartbeatIntervalSecs) };
  return missing.atMs < silence.atMs ? missing : silence;
}

/** Returns the context after a restart of the coordinator: silence and missing attempts are counted from now. */
export function reviveRunner(c: RunnerContext, now: number): RunnerContext {
  const held = c.held.map((it) => (it.missingSinceMs === undefined ? it : { ...it, missingSinceMs: now }));
  return { ...c, heardAtMs: now, held };
}
