/** The time until an open study ends, and its stragglers, from the durations of its own runs. Recomputed at most every 2 s, in slices. */
import { activeRuns, hasFailedCanary, pendingRuns } from '../../../machines/batch.ts';
import { remainingEnds, remainingTime, type RemainingTime, type RemainingWork } from '../../analysis/remaining-time.ts';
import { stragglerLimit } from '../../analysis/run-durations.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { runIdOf } from '../../domain/ids.ts';
import { isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import type { BatchHealth, TimeLeft } from '../runs/study-health.ts';

const FRESH_MS = 2_000;
const MOST_NAMED = 10;

interface EstimateParts {
  clock: Clock;
  share: EventLoopShare;
}

/** The latest estimate, of any age; empty for a study that has ended, or of which too little is known. */
export const latestTimeLeft = ({ value }: BatchState, health: BatchHealth): TimeLeft =>
  isTerminal(value) ? {} : (health.timeLeft?.value ?? {});

/** An estimate of the last 2 s, made in slices where there is none. */
export async function currentTimeLeft(parts: EstimateParts, state: BatchState, health: BatchHealth): Promise<TimeLeft> {
  if (isTerminal(state.value)) return {};
  const now = parts.clock.now();
  const kept = health.timeLeft;
  if (kept !== undefined && now >= kept.atMs && now < kept.atMs + FRESH_MS) return kept.value;
  const { tally, estimating } = health;
  if (estimating?.tally === tally) return estimating.value;
  const value = estimated(parts.share, state, health, now);
  health.estimating = { tally, value };
  try {
    const timeLeft = await value;
    // Counts that were filled up meanwhile have no estimate yet.
    if (health.tally === tally) health.timeLeft = { atMs: now, value: timeLeft };
    return timeLeft;
  } finally {
    const { estimating: latest } = health;
    if (latest?.value === value) health.estimating = undefined;
  }
}

async function estimated(
  share: EventLoopShare,
  { context: c }: BatchState,
  health: BatchHealth,
  now: number,
): Promise<TimeLeft> {
  const durations = health.tally.durationsMs();
  const stragglers = stragglersOf(health, durations, now);
  const isHeld = c.pausedAtMs !== undefined || hasFailedCanary(c);
  const eta = isHeld
    ? undefined
    : await remaining(share, {
        finished: durations,
        finishedCount: health.tally.finished,
        ages: agesOf(health, activeRuns(c), now),
        waiting: Math.round(pendingRuns(c) * health.tally.attemptsPerRun()),
      });
  return {
    ...(eta === undefined ? {} : { eta: { low: secs(eta.low), median: secs(eta.median), high: secs(eta.high) } }),
    ...(stragglers.length === 0 ? {} : { stragglers }),
  };
}

async function remaining(share: EventLoopShare, work: RemainingWork): Promise<RemainingTime | undefined> {
  const ends: number[] = [];
  for await (const end of share.paced(remainingEnds(work))) ends.push(end);
  return remainingTime(work, ends);
}

const secs = (ms: number): number => Math.round(ms) / 1000;

/** One age for each slot in use, the longest first; 0 for a claimed run that has not started. */
function agesOf({ running }: BatchHealth, active: number, now: number): number[] {
  const ages = [...running.values()].map((startedAtMs) => Math.max(0, now - startedAtMs));
  while (ages.length < active) ages.push(0);
  return ages;
}

/** The oldest active runs beyond three times the median duration. */
function stragglersOf({ running }: BatchHealth, durations: readonly number[], now: number) {
  const limitMs = stragglerLimit(durations);
  if (limitMs === undefined) return [];
  const found: NonNullable<TimeLeft['stragglers']> = [];
  for (const [jobId, startedAtMs] of running) {
    if (now - startedAtMs <= limitMs || found.length === MOST_NAMED) break;
    found.push({ job_id: jobId, run_id: runIdOf(jobId), running_secs: secs(now - startedAtMs) });
  }
  return found;
}
