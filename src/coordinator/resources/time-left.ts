/** The time until an open study ends, and its stragglers, from the durations of its own runs. Recomputed at most every 2 s. */
import { activeRuns, hasFailedCanary, pendingRuns } from '../../../machines/batch.ts';
import { remainingTime } from '../../analysis/remaining-time.ts';
import { stragglerLimit } from '../../analysis/run-durations.ts';
import { runIdOf } from '../../domain/ids.ts';
import { isTerminal, type BatchState } from '../actors/actor-kinds.ts';
import type { BatchHealth, TimeLeft } from './study-health.ts';

const FRESH_MS = 2_000;
const MOST_NAMED = 10;

/** Empty for a study that has ended, or of which too little is known. */
export function timeLeft({ value, context: c }: BatchState, health: BatchHealth, now: number): TimeLeft {
  if (isTerminal(value)) return {};
  const kept = health.timeLeft;
  if (kept !== undefined && now >= kept.atMs && now < kept.atMs + FRESH_MS) return kept.value;
  const durations = health.tally.durationsMs();
  const stragglers = stragglersOf(health, durations, now);
  const isHeld = c.pausedAtMs !== undefined || hasFailedCanary(c);
  const eta = isHeld
    ? undefined
    : remainingTime({
        finished: durations,
        finishedCount: health.tally.finished,
        ages: agesOf(health, activeRuns(c), now),
        waiting: Math.round(pendingRuns(c) * health.tally.attemptsPerRun()),
      });
  const result: TimeLeft = {
    ...(eta === undefined ? {} : { eta: { low: secs(eta.low), median: secs(eta.median), high: secs(eta.high) } }),
    ...(stragglers.length === 0 ? {} : { stragglers }),
  };
  health.timeLeft = { atMs: now, value: result };
  return result;
}

const secs = (ms: number): number => Math.round(ms) / 1000;

/** One age for each slot in use; 0 for a claimed run that has not started. */
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
