/** The version of a study's results: it changes whenever a run ends or the judgement is amended, and at no other time. */
import type { BatchState } from '../actors/actor-kinds.ts';

/**
 * Terminal runs never change and their counters only grow, so the counters identify the set of terminal runs. Claims and starts
 * change no answer.
 */
export function versionOf({ value, context: c }: BatchState): string {
  const counters = [value, c.completed, c.failed, c.timedOut, c.cancelled, Number(c.cancelRequested)];
  // An appended round changes the number of runs.
  if (c.rounds !== undefined) counters.push(c.rounds);
  const version = counters.join('.');
  return c.judgement === undefined ? version : `${version}.j${c.judgement.revision}`;
}
