/** Core time that allocations have used or may still use, for the limits of core hours. Pure. */
import type { AllocationContext } from '../../../machines/allocation/context.ts';
import type { AllocationStatus } from '../../../machines/allocation/allocation.ts';

/** An allocation as a plain value. */
export interface Allocation {
  value: AllocationStatus;
  context: AllocationContext;
}

const TERMINAL: ReadonlySet<AllocationStatus> = new Set<AllocationStatus>(['Ended', 'Refused', 'Lost']);
/** States in which the engine may not have started it. */
const WAITING: ReadonlySet<AllocationStatus> = new Set<AllocationStatus>(['Planned', 'Submitting', 'Queued']);

export const isLive = ({ value }: Pick<Allocation, 'value'>): boolean => !TERMINAL.has(value);
/** True while it may wait in the engine: also an allocation that is being stopped before its start. */
export const isWaiting = ({ value, context }: Allocation): boolean =>
  WAITING.has(value) || (value === 'Stopping' && context.startingAtMs === undefined);

const DAY_MS = 86_400_000;

export interface Usage {
  /** Core milliseconds since the beginning, and in the last 24 hours. Live allocations count with their whole lifetime. */
  totalCoreMs: number;
  dayCoreMs: number;
}

/** Core milliseconds that an allocation that has ended really had. */
export function coreMsOf({ startedAtMs, startingAtMs, readyAtMs, endedAtMs, cores }: AllocationContext): number {
  const startMs = startedAtMs ?? startingAtMs ?? readyAtMs;
  return startMs === undefined || endedAtMs === undefined ? 0 : Math.max(0, endedAtMs - startMs) * cores;
}

/** `forgottenCoreMs`: of allocations that are no longer in the list; they ended more than a day ago. */
export function usageOf(allocations: Iterable<Allocation>, forgottenCoreMs: number, now: number): Usage {
  let [totalCoreMs, dayCoreMs] = [forgottenCoreMs, 0];
  for (const it of allocations) {
    const { context: c } = it;
    const used = isLive(it) ? c.cores * c.lifetimeMs : coreMsOf(c);
    totalCoreMs += used;
    if (isLive(it)) dayCoreMs += used;
    else dayCoreMs += Math.min(used, Math.max(0, (c.endedAtMs ?? 0) - (now - DAY_MS)) * c.cores);
  }
  return { totalCoreMs, dayCoreMs };
}
