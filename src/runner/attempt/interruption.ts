/** Whether a run ended because its runner is stopped: what a cluster does to all processes of an allocation is not a failure. */
import { mayBeInterrupted, STOP_WINDOW_MS } from '../../../machines/attempt.ts';
import { sleep, type Clock } from '../../base/clock.ts';
import type { Ending } from '../launch/launcher.ts';

/**
 * Why the runner leaves, when the end of the process is part of that; undefined when the end is the run's own. A process that died of SIGTERM
 * before its runner was stopped is waited for: the signals of one stop arrive in any order.
 * @param leaving aborted with the reason when the runner is stopped; absent where runs belong to no runner.
 */
export async function interruptionOf(
  clock: Pick<Clock, 'after'>,
  leaving: AbortSignal | undefined,
  ending: Ending,
): Promise<string | undefined> {
  if (leaving === undefined || !mayBeInterrupted(ending, leaving.aborted)) return undefined;
  await sleep(clock, STOP_WINDOW_MS, leaving);
  return leaving.aborted ? String(leaving.reason) : undefined;
}
