/**
 * The runner as the coordinator knows it: connected or silent, free or full, drained or not, and which attempts it holds.
 * It learns what it holds by JOBS_CHANGED and never by its own word: what it says it holds is only compared. Pure.
 */
import { and, assign, emit, setup, type SnapshotFrom } from 'xstate';
import { leaseMs, offlineAfterMs } from '../src/domain/rules.ts';
import type { AttemptRef, RunnerCapabilities } from '../src/contract/types.ts';
import type { Deadline, JobChange, RunnerEvent, RunnerFact, RunnerLost, RunnerSignedOff } from './protocol.ts';

/** One attempt in the runner's hands: which, and what of the machine it was promised. */
export interface HeldAttempt {
  jobId: string;
  attempt: number;
  cpuMilli: number;
  memoryBytes: number;
  /** Since when the runner no longer names it, if so (ms). */
  missingSinceMs?: number;
}

export interface RunnerContext {
  runnerId: string;
  name: string;
  instance: string;
  capabilities: RunnerCapabilities;
  tags: readonly string[];
  heartbeatIntervalSecs: number;
  registeredAtMs: number;
  /** The last heartbeat as shown. */
  lastHeartbeatMs: number;
  /** From when silence is counted: the last heartbeat, or a later restart of the coordinator. */
  heardAtMs: number;
  held: readonly HeldAttempt[];
  drained: boolean;
  drainReason: string | undefined;
  completed: number;
  failed: number;
}

export interface RunnerInput {
  runnerId: string;
  now: number;
}

type RunnerEmitted = RunnerFact | RunnerLost | RunnerSignedOff;
type Of<T extends RunnerEvent['type']> = Extract<RunnerEvent, { type: T }>;

/** What the runner holds after the changes. */
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

/** Marks what the runner no longer names, and unmarks what it names again. */
function compared(
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

/** What a process that starts under this id does not have: all that the one before held and this one does not name. */
function notTakenOver(c: RunnerContext, event: Of<'REGISTER'>): AttemptRef[] {
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
    /** The registered process itself, or one that knows it to be dead: nobody else may take a live runner's id. */
    takesOver: ({ context, event }) =>
      event.type === 'REGISTER' && (event.instance === context.instance || event.replaces === context.instance),
    drained: ({ context, event }) => context.drained && isFromUs(context, event),
    holdsJobs: ({ context, event }) => context.held.length > 0 && isFromUs(context, event),
    isFromUs: ({ context, event }) => isFromUs(context, event),
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
        held: compared(c.held, event.holding, event.now),
      };
    }),
    tellNotTakenOver: emit(({ context: c, event }): RunnerLost => ({
      type: 'runner.lost',
      runnerId: c.runnerId,
      held: event.type === 'REGISTER' ? notTakenOver(c, event) : [],
      cause: 'was restarted',
      now: event.now,
    })),
    hear: assign(({ context: c, event }) => ({
      lastHeartbeatMs: event.now,
      heardAtMs: event.now,
      held: compared(c.held, event.type === 'HEARTBEAT' ? event.holding : undefined, event.now),
    })),
    apply: assign(({ context, event }) =>
      event.type === 'JOBS_CHANGED' ? afterChanges(context, event.changes) : context,
    ),
    drain: assign(({ event }) => ({ drained: true, drainReason: event.type === 'DRAIN' ? event.reason : undefined })),
    resume: assign({ drained: false, drainReason: undefined }),
    tellMissing: emit(({ context: c, event }): RunnerLost => ({
      type: 'runner.lost',
      runnerId: c.runnerId,
      held: refs(c.held.filter((it) => isOverdue(c, it, event.now))),
      cause: 'no longer reports this run',
      now: event.now,
    })),
    tellLost: emit(({ context: c, event }): RunnerLost => ({
      type: 'runner.lost',
      runnerId: c.runnerId,
      held: refs(c.held),
      cause: `sent no heartbeat for ${Math.round((event.now - c.heardAtMs) / 1000)} s`,
      now: event.now,
    })),
    tellSignedOff: emit(({ context: c, event }): RunnerSignedOff => ({
      type: 'runner.signed-off',
      runnerId: c.runnerId,
      held: refs(c.held),
      now: event.now,
    })),
    tellRegistered: emit(({ context, event }) => fact('runner.registered', context, event)),
    tellOnline: emit(({ context, event }) => fact('runner.online', context, event)),
    tellSilent: emit(({ context, event }) => fact('runner.silent', context, event)),
    tellDrained: emit(({ context, event }) => fact('runner.drained', context, event)),
    tellResumed: emit(({ context, event }) => fact('runner.resumed', context, event)),
  },
}).createMachine({
  id: 'runner',
  // A runner that nothing was heard of: the first REGISTER brings it to life.
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
    // Wherever it was: drained stays drained, and what the process before held is given away unless this one names it.
    REGISTER: [
      {
        guard: and(['takesOver', 'drained']),
        target: '.Maintenance',
        actions: ['tellNotTakenOver', 'takeOver', 'tellRegistered'],
      },
      {
        guard: and(['takesOver', 'holdsJobs']),
        target: '.Busy',
        actions: ['tellNotTakenOver', 'takeOver', 'tellRegistered'],
      },
      { guard: 'takesOver', target: '.Idle', actions: ['tellNotTakenOver', 'takeOver', 'tellRegistered'] },
    ],
    SIGN_OFF: { guard: 'sameInstance', target: '.Offline', actions: 'tellSignedOff' },
  },
  states: {
    Idle: {
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'hear' },
        JOBS_CHANGED: [{ guard: 'willHold', target: 'Busy', actions: 'apply' }, { actions: 'apply' }],
        DRAIN: { target: 'Maintenance', actions: ['drain', 'tellDrained'] },
        // Resuming what is not drained is no mistake; an empty transition would refuse it.
        RESUME: { actions: 'resume' },
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'tellSilent' },
      },
    },
    Busy: {
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'hear' },
        JOBS_CHANGED: [
          { guard: 'willHold', actions: 'apply' },
          { target: 'Idle', actions: 'apply' },
        ],
        DRAIN: { target: 'Maintenance', actions: ['drain', 'tellDrained'] },
        // Resuming what is not drained is no mistake; an empty transition would refuse it.
        RESUME: { actions: 'resume' },
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'tellSilent' },
        MISSING: { guard: 'anyOverdue', actions: 'tellMissing' },
      },
    },
    Maintenance: {
      on: {
        HEARTBEAT: { guard: 'sameInstance', actions: 'hear' },
        JOBS_CHANGED: { actions: 'apply' },
        DRAIN: { actions: 'drain' },
        RESUME: [
          { guard: 'silent', target: 'Offline', actions: ['resume', 'tellResumed'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['resume', 'tellResumed'] },
          { target: 'Idle', actions: ['resume', 'tellResumed'] },
        ],
        SILENCE: { guard: 'silent', target: 'Offline', actions: 'tellSilent' },
        MISSING: { guard: 'anyOverdue', actions: 'tellMissing' },
      },
    },
    Offline: {
      on: {
        REGISTER: [
          { guard: 'drained', target: 'Maintenance', actions: ['tellNotTakenOver', 'takeOver', 'tellRegistered'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['tellNotTakenOver', 'takeOver', 'tellRegistered'] },
          { target: 'Idle', actions: ['tellNotTakenOver', 'takeOver', 'tellRegistered'] },
        ],
        HEARTBEAT: [
          { guard: 'drained', target: 'Maintenance', actions: ['hear', 'tellOnline'] },
          { guard: 'holdsJobs', target: 'Busy', actions: ['hear', 'tellOnline'] },
          { guard: 'isFromUs', target: 'Idle', actions: ['hear', 'tellOnline'] },
        ],
        JOBS_CHANGED: { actions: 'apply' },
        DRAIN: { actions: ['drain', 'tellDrained'] },
        RESUME: { actions: ['resume', 'tellResumed'] },
        LEASE_ENDED: { guard: 'leaseOver', actions: 'tellLost' },
      },
    },
  },
});

export type RunnerSnapshot = SnapshotFrom<typeof runnerMachine>;

/** A heartbeat counts only when it comes from the process that is registered; other events carry no instance. */
function isFromUs(context: RunnerContext, event: RunnerEvent): boolean {
  return event.type !== 'HEARTBEAT' || event.instance === context.instance;
}

/** The moment this runner has to be looked at again, if any. */
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

/** What a restart of the coordinator does to the runner's clock: silence and missing attempts are counted from now. */
export function reviveRunner(c: RunnerContext, now: number): RunnerContext {
  const held = c.held.map((it) => (it.missingSinceMs === undefined ? it : { ...it, missingSinceMs: now }));
  return { ...c, heardAtMs: now, held };
}
