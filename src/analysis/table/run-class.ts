/** How a run ended, as the statistics see it: one of seven classes. */
import type { JobStatus } from '../../contract/types.ts';

/**
 * `ok`: completed. `terminated`: ended by an early-termination rule, which is an answer. `crashed`: ended by its own exit, a
 * signal or an invalid report. `lost`: failed by the infrastructure. `open`: not terminal yet.
 */
export const RUN_CLASSES = ['ok', 'terminated', 'crashed', 'timeout', 'lost', 'cancelled', 'open'] as const;
export type RunClass = (typeof RUN_CLASSES)[number];

/** The place of each class in `RUN_CLASSES`, which is how tables store it. */
export const CLASS_CODES = Object.fromEntries(RUN_CLASSES.map((name, code) => [name, code])) as Record<
  RunClass,
  number
>;

const FAILED: Readonly<Record<string, RunClass>> = {
  early_termination: 'terminated',
  infrastructure: 'lost',
  'runner-lost': 'lost',
  timeout: 'timeout',
};

/** The class of a job from its status and, where it failed, the reason of its last attempt (`exit` when absent). */
export function runClassOf(status: JobStatus, reason?: string | null): RunClass {
  switch (status) {
    case 'Completed':
      return 'ok';
    case 'Failed':
      return FAILED[reason ?? 'exit'] ?? 'crashed';
    case 'Timeout':
      return 'timeout';
    case 'Cancelled':
      return 'cancelled';
    case 'Pending':
    case 'Claimed':
    case 'Running':
      return 'open';
  }
}
