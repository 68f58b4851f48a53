/**
 * The story of one actor as steps: what the coordinator still knows of a job, a recorded file, or what was heard live. The
 * first two are replayed through the machine itself, so that each step shows what the machine makes of the event.
 */
import { createActor, type AnyActorLogic, type AnyStateMachine } from 'xstate';
import { batchMachine } from '../../../machines/batch.ts';
import { jobMachine } from '../../../machines/job.ts';
import { runnerMachine } from '../../../machines/runner.ts';
import { supervisorMachine } from '../../../machines/supervisor.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import type { Attempt, Job, JobHistory } from '../../../src/domain/types.ts';

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

/** What a machine makes of events. `input` brings it to life, or `state` puts it where it was. */
export function replay(
  kind: string,
  start: { input?: unknown; state?: { value: unknown; context: unknown } },
  events: readonly ActorEvent[],
): ReplayStep[] {
  const machine = MACHINES[kind];
  if (machine === undefined)
    throw new Error(`there is no machine ${kind.slice(0, 50)}; there are ${Object.keys(MACHINES).join(', ')}`);
  const options =
    start.state === undefined ? { input: start.input } : { snapshot: machine.resolveState(start.state as never) };
  const actor = createActor(machine as AnyActorLogic, options as never);
  actor.subscribe({ error: () => {} });
  actor.start();
  const read = (): { value: string; context: unknown } => actor.getSnapshot() as { value: string; context: unknown };
  const steps: ReplayStep[] = [
    { event: undefined, from: undefined, to: read().value, context: read().context, now: undefined, taken: true },
  ];
  for (const event of events) {
    const from = read().value;
    const taken = (actor.getSnapshot() as { can(event: unknown): boolean }).can(event);
    if (taken) actor.send(event as never);
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
  const it = value as { machine?: unknown; kind?: unknown; input?: unknown; events?: unknown };
  const kind = it?.machine ?? it?.kind;
  if (typeof kind !== 'string')
    throw new Error('The file does not say which machine it is of: it needs a member `machine`.');
  if (!Array.isArray(it.events)) throw new Error('The file holds no events: it needs a member `events`, a list.');
  return { kind, steps: replay(kind, { input: it.input }, it.events as ActorEvent[]) };
}
