/** Executes a study on a site: undisturbed, and again and again while processes are killed. */
import type { Client } from '../../client/client.ts';
import type { BatchStatusResponse, BatchSubmission, Uuid } from '../../contract/types.ts';
import { sleep, systemClock } from '../../base/clock.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { doneOf, formatCounts } from '../progress/progress-text.ts';
import { Disturbance, type Kill } from './disturbance.ts';
import type { Draws } from './draws.ts';
import { isAtSubmission, type KillPoint } from './kill-points.ts';
import { collectOutcomes, compareOutcomes, type RunOutcome, type StudyOutcome } from './outcomes.ts';
import { RUNNER_IDS, untilAnswered, type Site } from './site.ts';

type Progress = (done: number, total: number) => void;

export interface DisturbedOutcome {
  kills: Kill[];
  /** Points of the plan at which nothing was killed. */
  notReached: KillPoint[];
  /** Executions of the study. */
  studies: number;
  runs: number;
  attempts: number;
  /** One sentence each, with the number of the execution and the run. */
  differences: string[];
}

export interface Executions {
  begun: number;
  /** Runs whose simulation was started in more than one attempt. */
  runsBegunTwice: number;
  /** Runs whose simulation ended by itself in more than one attempt. */
  runsDoneTwice: number;
}

const POLL_MS = 50;
/** A study that makes no progress for so long will not end. */
const STALL_MS = 120_000;
/** Runs that end between two kills, so that the study advances and the same run is not hit every time. */
const COMPLETIONS_BETWEEN = 2;

/** Executes the study once without kills. */
export async function executeUndisturbed(
  site: Site,
  submission: BatchSubmission,
  signal: AbortSignal,
  progress: Progress,
): Promise<StudyOutcome> {
  const client = site.client();
  const { batch_id: batchId } = await submit(site, client, submission, signal);
  await ended(site, client, batchId, signal, ({ jobs_by_status: counts, batch }) =>
    progress(doneOf(counts), batch.total_jobs),
  );
  return untilAnswered(site, () => collectOutcomes(client, batchId), signal);
}

/**
 * Executes the study until every kill of the plan is done, and compares each execution with the reference. A point of a
 * submission needs a submission each; the study is submitted again also when it ends before the plan does.
 */
export async function executeDisturbed(
  site: Site,
  submission: BatchSubmission,
  plan: readonly KillPoint[],
  draws: Draws,
  reference: readonly RunOutcome[],
  signal: AbortSignal,
  progress: Progress,
): Promise<DisturbedOutcome> {
  const disturbance = new Disturbance(site, draws);
  const client = site.client();
  const outcome: DisturbedOutcome = { kills: [], notReached: [], studies: 0, runs: 0, attempts: 0, differences: [] };
  const atSubmission = plan.filter(isAtSubmission);
  const later = plan.filter((it) => !isAtSubmission(it));
  const add = (kill: Kill): void => {
    outcome.kills.push(kill);
    progress(outcome.kills.length, plan.length);
  };
  // Every execution takes at least one kill when the plan has one left, or it was too short for it.
  for (let fruitless = 0; outcome.studies === 0 || (atSubmission.length + later.length > 0 && fruitless < 3);) {
    const before = outcome.kills.length;
    const batchId = await submitDisturbed(site, client, submission, disturbance, atSubmission.shift(), signal, add);
    await disturb(site, client, batchId, disturbance, later, signal, add);
    await ended(site, client, batchId, signal);
    const study = await untilAnswered(site, () => collectOutcomes(client, batchId), signal);
    outcome.studies += 1;
    outcome.runs += study.runs.length;
    outcome.attempts += study.attempts;
    for (const it of compareOutcomes(reference, study.runs))
      outcome.differences.push(`execution ${outcome.studies}, ${it}`);
    fruitless = outcome.kills.length === before ? fruitless + 1 : 0;
  }
  outcome.notReached.push(...atSubmission, ...later);
  return outcome;
}

function submit(
  site: Site,
  client: Client,
  submission: BatchSubmission,
  signal: AbortSignal,
): Promise<{ batch_id: Uuid }> {
  const idempotencyKey = `selftest-${systemClock.now()}`;
  return untilAnswered(site, () => client.submit(submission, { idempotencyKey }), signal);
}

async function submitDisturbed(
  site: Site,
  client: Client,
  submission: BatchSubmission,
  disturbance: Disturbance,
  point: KillPoint | undefined,
  signal: AbortSignal,
  add: (kill: Kill) => void,
): Promise<Uuid> {
  const killing = point === undefined ? undefined : disturbance.killAt(point, signal);
  const { batch_id: batchId } = await submit(site, client, submission, signal);
  const kill = await killing;
  if (kill !== undefined) add(kill);
  return batchId;
}

/** Kills at one point after the other, until the list is empty or the study ends. */
async function disturb(
  site: Site,
  client: Client,
  batchId: Uuid,
  disturbance: Disturbance,
  points: KillPoint[],
  signal: AbortSignal,
  add: (kill: Kill) => void,
): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const watched = ended(site, client, batchId, over.signal).then(
    () => over.abort(),
    (error: unknown) => {
      over.abort();
      throw error;
    },
  );
  watched.catch(() => {});
  while (points.length > 0 && !over.signal.aborted) {
    const point = points[0] as KillPoint;
    const kill = await Promise.race([disturbance.killAt(point, over.signal), site.died]);
    points.shift();
    if (kill === undefined) {
      // The next execution of the study begins with another point.
      points.push(point);
      break;
    }
    add(kill);
    const until = disturbance.completions + COMPLETIONS_BETWEEN;
    while (disturbance.completions < until && !over.signal.aborted) await sleep(systemClock, POLL_MS, over.signal);
  }
  const isOver = over.signal.aborted;
  over.abort();
  // An abort by this function ends the watching with an error of its own.
  await watched.catch((error: unknown) => {
    if (isOver) throw error;
  });
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
}

/** Resolves when the study has ended. @throws Failure when it makes no progress, or a process ended by itself */
async function ended(
  site: Site,
  client: Client,
  batchId: Uuid,
  signal: AbortSignal,
  see: (status: BatchStatusResponse) => void = () => {},
): Promise<void> {
  let last = '';
  let sinceMs = systemClock.monotonicMs();
  for (;;) {
    const status = await untilAnswered(site, () => client.batch(batchId), signal);
    see(status);
    if (status.batch.status !== 'Pending' && status.batch.status !== 'Running') return;
    const counts = formatCounts(status.jobs_by_status);
    if (counts !== last) sinceMs = systemClock.monotonicMs();
    last = counts;
    if (systemClock.monotonicMs() - sinceMs > STALL_MS)
      throw new Failure(EXIT.failed, `the study made no progress for ${STALL_MS / 1000} s: ${counts}`);
    await sleep(systemClock, POLL_MS, signal);
  }
}

/** Counts the executions of simulations from the marks that they left on the disk. */
export function countExecutions(site: Site): Executions {
  const begun = new Map<string, number>();
  const done = new Map<string, number>();
  for (const { path, isDone } of RUNNER_IDS.flatMap((id) => site.attempts(id))) {
    const run = path.split('/').slice(-3, -1).join('/');
    begun.set(run, (begun.get(run) ?? 0) + 1);
    if (isDone) done.set(run, (done.get(run) ?? 0) + 1);
  }
  const twice = (counts: Map<string, number>): number => [...counts.values()].filter((it) => it > 1).length;
  return {
    begun: [...begun.values()].reduce((sum, it) => sum + it, 0),
    runsBegunTwice: twice(begun),
    runsDoneTwice: twice(done),
  };
}
