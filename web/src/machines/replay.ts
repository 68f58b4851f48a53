/**
 * The history of one actor as steps: a job's history from the API, or a recording. Both are replayed through the machine
 * itself, so that each step shows the machine's own transition.
 */
import { ActorPlayer } from '../../../machines/actor-player.ts';
import { pastOf, type PastEvent } from '../../../machines/job-parts/past.ts';
import { MACHINE_NAMES, type JobState, type MachineName } from '../../../machines/kinds.ts';
import type { AnyEvent } from '../../../machines/protocol.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import type { Attempt, AttemptRecord, Job, JobHistory } from '../../../src/contract/types.ts';

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
  /** False: the machine refused the event, and nothing changed. */
  taken: boolean;
}

/** Sends the events to the player, one step each. A restart of the coordinator resets the actor's deadlines. */
function replay(player: ActorPlayer, events: readonly (PastEvent | AnyEvent)[]): ReplayStep[] {
  const step = (event: ActorEvent | undefined, from: string | undefined, taken: boolean): ReplayStep => {
    const { value: to, ...context } = player.stored;
    return { event, from, to, context, now: event?.now, taken };
  };
  const steps = [step(undefined, undefined, true)];
  for (const event of events) {
    const from = player.state;
    if (event.type === 'restart') {
      player.restart(event.now);
      steps.push(step({ type: '(restart)', now: event.now }, from, true));
    } else steps.push(step(event, from, player.send(event) !== 'refused'));
  }
  return steps;
}

/** The steps of a job from its first claim, or from the oldest attempt that its history keeps. */
export function replayJob(job: Job, history: JobHistory): ReplayStep[] {
  const state = stateOf(job, history);
  const { start, events } = pastOf(state);
  return replay(ActorPlayer.restore('job', { value: 'Pending', ...state.context, ...start }), events);
}

const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));

/** The job's state, as far as the API shows it. */
function stateOf(job: Job, history: JobHistory): JobState {
  const context: JobState['context'] = {
    jobId: job.id,
    batchId: job.batch_id,
    runId: runIdOf(job.id),
    maxRetries: job.max_retries,
    timeLimitMs: job.timeout_secs * 1_000,
    cpuMilli: 0,
    memoryBytes: 0,
    attempt: history.attempts.at(-1)?.attempt ?? 0,
    retries: history.retries,
    losses: history.losses,
    infrastructureFaults: history.infrastructure_faults === 0 ? undefined : history.infrastructure_faults,
    runnerId: job.assigned_runner,
    claimedAtMs: msOf(job.claimed_at),
    startedAtMs: msOf(job.started_at),
    completedAtMs: msOf(job.completed_at) ?? msOf(job.created_at),
    dueAtMs: undefined,
    error: job.error_message,
    attempts: history.attempts.map(recordOf),
    attemptsOmitted: history.attempts_omitted,
    reusedFrom: job.reused_from?.job_id,
    reusedEndedAtMs: msOf(job.reused_from?.ended_at),
    reusedCode: undefined,
  };
  return { value: job.status, context };
}

function recordOf(it: Attempt): AttemptRecord {
  const record: AttemptRecord = { n: it.attempt, runner: it.runner_id, claimed: Date.parse(it.claimed_at) };
  if (it.started_at !== undefined) record.started = Date.parse(it.started_at);
  if (it.ended_at !== undefined) record.ended = Date.parse(it.ended_at);
  if (it.outcome !== undefined) record.outcome = it.outcome;
  if (it.reason !== undefined) record.reason = it.reason;
  if (it.message !== undefined) record.message = it.message;
  if (it.own_error !== undefined) record.ownError = it.own_error;
  return record;
}

/** A recording: its machine, and the steps of its events. */
export interface Recording {
  kind: MachineName;
  steps: ReplayStep[];
}

/** @throws Error that describes what is wrong with the file */
export function readRecording(text: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the file is not JSON');
  }
  const it = value as { kind?: unknown; machine?: unknown; input?: unknown; steps?: unknown };
  if (it?.kind === 'study') {
    throw new Error('the file records a whole study; choose a recording of one machine');
  }
  const kind = it?.machine;
  if (typeof kind !== 'string') throw new Error('the file names no machine: it needs a member `machine`');
  if (!isMachine(kind)) {
    throw new Error(`there is no machine ${kind.slice(0, 50)}; there are ${MACHINE_NAMES.join(', ')}`);
  }
  if (!Array.isArray(it.steps)) throw new Error('the file holds no events: it needs a member `steps`, a list');
  const events = (it.steps as { event?: AnyEvent; restart?: number }[]).map(
    ({ event, restart }): PastEvent | AnyEvent => event ?? { type: 'restart', now: restart ?? 0 },
  );
  return { kind, steps: replay(ActorPlayer.begin(kind, it.input), events) };
}

const isMachine = (name: string): name is MachineName => (MACHINE_NAMES as readonly string[]).includes(name);
