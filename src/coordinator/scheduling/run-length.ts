/** The length of the runs of a batch, and whether one ends before a runner's machine is taken from it. */
import type { BatchContext } from '../../../machines/batch.ts';
import { endsInTime, type RunLength } from '../../domain/scheduling.ts';
import { meanRunMs, type Statistics } from './statistics.ts';

type RunTimes = Pick<Statistics, 'getSnapshot'>;

/** The time limit of a run, and the mean duration of the completed runs of its simulation. */
export const runLengthOf = (statistics: RunTimes, { timeLimitMs, simulationName }: BatchContext): RunLength => ({
  timeLimitMs,
  meanMs: meanRunMs(statistics, simulationName) ?? 0,
});

/** True when a run that starts now ends before `endsAtMs`; undefined: the machine is never taken. */
export const isInTime = (
  statistics: RunTimes,
  batch: BatchContext,
  now: number,
  endsAtMs: number | undefined,
): boolean => endsAtMs === undefined || endsInTime(runLengthOf(statistics, batch), now, endsAtMs);
