/** An open batch as the scheduler sees it: its context, its requeued runs, and the current plan. */
import { activeRuns, type BatchContext } from '../../../../machines/batch.ts';
import { TAKEN_AT_ONCE } from '../../../domain/rules.ts';
import type { Place } from '../ranking/owner-ranking.ts';
import type { FilePlaces } from './file-places.ts';

/** A run that is Pending again. */
export interface Requeued {
  runId: number;
  lastRunner: string;
  sinceMs: number;
}

/** An open batch, with the current plan applied to it. */
export interface OpenBatch {
  context: BatchContext;
  requeued: Map<number, Requeued>;
  /** Requeued runs whose records are missing or damaged: they are not assigned. */
  unreadable: Set<number>;
  /** Members of the current plan: */
  plannedActive: number;
  next: number;
  untouched: number;
  assigned: Set<number>;
  /** Untouched runs among those assigned, of an extraction. */
  ahead: number;
  isPlanned: boolean;
  /** In an audit, the untouched run that was first refused to the runner of its original, and when. It is not a part of the plan. */
  reserved?: { index: number; runnerId: string; sinceMs: number };
  /** Of an extraction, once it was looked at. */
  places?: FilePlaces | undefined;
  /** How often its context has changed. */
  version: number;
}

/** A batch that was opened, or is found after a restart. */
export const openBatchOf = (context: BatchContext): OpenBatch => ({
  context,
  requeued: new Map(),
  unreadable: new Set<number>(),
  plannedActive: 0,
  next: 0,
  untouched: 0,
  assigned: new Set(),
  ahead: 0,
  isPlanned: false,
  version: 0,
});

/** Where it belongs among those that are served. */
export const placeOf = ({ context: { owner, priority = 0, simulationName } }: OpenBatch): Place => ({
  owner,
  priority,
  group: simulationName,
});

/** True for a batch whose runs go to the runners that have the files of other runs. */
export const isExtraction = ({ context: { parent } }: OpenBatch): boolean => parent?.relation === 'extraction';

/** The Pending runs that no plan has assigned. */
export const pendingOf = ({ untouched, context, unreadable, assigned, ahead }: OpenBatch): number =>
  untouched + context.requeued - unreadable.size - (assigned.size - ahead);

/** Returns true while the batch has a run to assign, is below its caps, and neither paused nor cancelled. */
export function isServed(batch: OpenBatch): boolean {
  const { maxParallelJobs, cancelRequested, pausedAtMs, reuse } = batch.context;
  const mostActive = reuse === undefined ? Infinity : activeRuns(batch.context) + TAKEN_AT_ONCE;
  const isCapped = batch.plannedActive >= (maxParallelJobs > 0 ? Math.min(maxParallelJobs, mostActive) : mostActive);
  return pendingOf(batch) > 0 && !isCapped && !cancelRequested && pausedAtMs === undefined;
}
