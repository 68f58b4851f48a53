/** The growth of a batch: its rounds, and the runs by which it is extended after its end. Pure. */
import type { BatchContext } from '../../src/contract/types.ts';
import type { BatchAppended, BatchEvent } from '../protocol.ts';

const countOf = (event: BatchEvent): number => (event.type === 'APPEND' ? event.count : 0);

export const mayGrow = (c: BatchContext, event: BatchEvent): boolean =>
  c.growing === true && countOf(event) > 0 && c.totalJobs + countOf(event) <= (c.budget ?? 0);

export const mayBeExtended = (c: BatchContext, event: BatchEvent): boolean =>
  event.type === 'EXTEND' && event.runs > 0 && c.budget !== undefined;

/** The members that a round changes. */
export const withRound = (c: BatchContext, event: BatchEvent): Partial<BatchContext> => ({
  totalJobs: c.totalJobs + countOf(event),
  rounds: (c.rounds ?? 0) + 1,
  waitingSinceMs: undefined,
});

/** The fact about the round that the batch has got last. */
export const appended = (c: BatchContext, event: BatchEvent): BatchAppended => ({
  type: 'batch.appended',
  batchId: c.batchId,
  round: (c.rounds ?? 1) - 1,
  firstRunId: c.totalJobs - countOf(event),
  count: countOf(event),
  now: event.now,
});

/** The members that an extension changes: the batch takes rounds again. */
export function withExtension(c: BatchContext, event: BatchEvent): Partial<BatchContext> {
  if (event.type !== 'EXTEND') return {};
  return {
    growing: true,
    budget: (c.budget ?? 0) + event.runs,
    extensions: [...(c.extensions ?? []), event.runs],
    endedAtMs: undefined,
    waitingSinceMs: event.now,
  };
}
