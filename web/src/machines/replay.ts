/**
 * The story of one actor as steps: what the coordinator still knows of a job, a recorded file, or what was heard live. The
 * first two are replayed through the machine itself, so that each step shows what the machine makes of the event.
 */
import { createActor, type AnyActorLogic, type AnyStateMachine } from 'xstate';
import { batchMachine } from '../../../machines/batch.ts';
import { jobMachine } from '../../../machines/job.ts';
import { reviveJob } from '../../../machines/job-context.ts';
import type { JobContext } from '../../../machines/job-context.ts';
import { reviveRunner, runnerMachine, type RunnerContext } from '../../../machines/runner.ts';
import { supervisorMachine } from '../../../machines/supervisor.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import type { Attempt, Job, JobHistory } from '../../../src/contract/types.ts';

export const MACHINES: Record<string, AnyStateMachine> = {
  job: jobMachine,
  batch: batchMachine,
  runner: runnerMachine,
  supervisor: supervisorMachine,
};

export interface ActorEvent {
  type: string;
  now?: number;
}

/** The state after an event; the first step has none. */
export interface ReplayStep {
  event: ActorEvent | undefined;
  from: string | undefined;
  to: string;
  context: unknown;
  now: number | undefined;
  /** False: the machine did not take the event, and nothing changed. */
  taken: boolean;
}

/** Not an event of any machine: the coordinator was restarted, which sets an actor's clocks anew. */
const RESTART = '(restart)';

function revived(
  kind: string,
  state: { value: string; context: unknown },
  now: number,
): { value: string; context: unknown } {
  const { value, context } = state;
  if (kind === 'job')
    return { value, context: { ...(context as JobContext), ...reviveJob(value, context as JobContext, now) } };
  if (kind === 'runner') return { value, context: reviveRunner(context as RunnerContext, now) };
  return state;
}

/** What a machine makes of events. `input` brings it to life, or `state` puts it where it was. */
export function replay(
  kind: string,
  start: { input?: unknown; state?: { value: unknown; context: unknown } },
  events: readonly ActorEvent[],
): ReplayStep[] {
  const machine = MACHINES[kind];
  if (machine === undefined)
    throw new Error(`there is no machine ${kind.slice(0, 50)}; there are ${Object.keys(MACHINES).join(', ')}`);
  const run = (state?: { value: unknown; context: unknown }) => {
    const options = state === undefined ? { input: start.input } : { snapshot: machine.resolveState(state as never) };
    const made = createActor(machine as AnyActorLogic, options as never);
    made.subscribe({ error: () => {} });
    made.start();
    return made;
  };
  let actor = run(start.state);
  const read = (): { value: string; context: unknown } => actor.getSnapshot() as { value: string; context: unknown };
  const steps: ReplayStep[] = [
    { event: undefined, from: undefined, to: read().value, context: read().context, now: undefined, taken: true },
  ];
  for (const event of events) {
    const from = read().value;
    if (event.type === RESTART) {
      actor.stop();
      actor = run(revived(kind, read(), event.now ?? 0));
      steps.push({ event, from, to: read().value, context: read().context, now: event.now, taken: true });
      continue;
    }
    const taken = (actor.getSnapshot() as { can(event: unknown): boolean }).can(event);
    if (taken) actor.send(event);
    steps.push({ event, from, to: read().value, context: read().context, now: event.now, taken });
  }
  actor.stop();
  return steps;
}

/** A job from its first claim on, as its history tells it. */
export function replayJob(job: Job, history: JobHistory): ReplayStep[] {
  const input = {
    jobId: job.id,
    batchId: job.batch_id,
    runId: runIdOf(job.id),
    maxRetries: job.max_retries,
    timeLimitMs: job.timeout_secs * 1_000,
    cpuMilli: 0,
    memoryBytes: 0,
  };
  const events = history.attempts.flatMap((it) => eventsOf(it, it.attempt - history.attempts_omitted));
  // A run that was cancelled before any runner had it has no attempt to tell of it.
  if (job.status === 'Cancelled' && !history.attempts.some((it) => it.outcome === 'cancelled')) {
    events.push({ type: 'CANCEL', now: Date.parse(job.completed_at ?? job.created_at) });
  }
  return replay('job', { input }, events);
}

function eventsOf(it: Attempt, attempt: number): ActorEvent[] {
  const runner = { runnerId: it.runner_id, attempt };
  const claimed = Date.parse(it.claimed_at);
  const events: ActorEvent[] = [{ type: 'CLAIM', ...runner, now: claimed }];
  if (it.started_at !== undefined) events.push({ type: 'START', ...runner, now: Date.parse(it.started_at) });
  if (it.outcome !== undefined)
    events.push(endOf(it, runner, it.ended_at === undefined ? claimed : Date.parse(it.ended_at)));
  return events;
}

function endOf(
  it: Attempt,
  runner: { runnerId: string; attempt: number },
  now: number,
): ActorEvent & Record<string, unknown> {
  const message = it.message ?? '';
  switch (it.outcome) {
    case 'completed':
      return { type: 'COMPLETE', ...runner, now };
    case 'cancelled':
      return { type: 'CANCEL', reason: it.reason, now };
    case 'lost':
      return { type: 'RUNNER_LOST', ...runner, cause: 'was lost', now };
    case 'released':
      if (it.reason === 'claim-expired') return { type: 'CLAIM_EXPIRED', now };
      if (it.reason === 'runner-lost') return { type: 'RUNNER_LOST', ...runner, cause: 'was lost', now };
      return { type: 'HAND_BACK', ...runner, now };
    default:
      return { type: 'FAIL', ...runner, reason: it.reason ?? 'exit', message, now };
  }
}

/** A recorded file: which machine, how it began, which events it took. */
export interface Recording {
  kind: string;
  steps: ReplayStep[];
}

/** @throws Error that says what is wrong with the file */
export function readRecording(text: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('The file is not JSON.');
  }
  const it = value as { kind?: unknown; machine?: unknown; input?: unknown; steps?: unknown };
  const kind = it?.machine;
  if (it?.kind === 'study') {
    throw new Error('It records a whole study; only recordings of one machine can be stepped through.');
  }
  if (typeof kind !== 'string')
    throw new Error('The file does not say which machine it is of: it needs a member `machine`.');
  if (!Array.isArray(it.steps)) throw new Error('The file holds no events: it needs a member `steps`, a list.');
  const events = (it.steps as { event?: ActorEvent; restart?: number }[]).map(
    ({ event, restart }) => event ?? { type: RESTART, now: restart },
  );
  return { kind, steps: replay(kind, { input: it.input }, events) };
}
