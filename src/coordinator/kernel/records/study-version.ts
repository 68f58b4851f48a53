/** The version of a study's results: it changes whenever a run ends, the judgement is amended or the study is extended, and at no other time. */
import type { BatchState } from '../actors/actor-kinds.ts';

/**
 * Terminal runs never change and their counters only grow, so the counters identify the set of terminal runs. Claims and starts
 * change no answer.
 */
export function versionOf({ value, context: c }: BatchState): string {
  const counters = [value, c.completed, c.failed, c.timedOut, c.cancelled, Number(c.cancelRequested)];
  // An appended round changes the number of runs.
  if (c.rounds !== undefined) counters.push(c.rounds);
  // An extended study may end again without a further run.
  if (c.extensions !== undefined) counters.push(c.extensions.length);
  const version = counters.join('.');
  return c.judgement === undefined ? version : `${version}.j${c.judgement.revision}`;
}
