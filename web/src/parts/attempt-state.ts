/** The state in which an attempt is shown: the state of its run while it is open, then the state that its outcome led to. Pure. */
import type { Attempt, JobStatus } from '../../../src/contract/types.ts';

const OUTCOME_STATE = {
  completed: 'Completed',
  failed: 'Failed',
  timeout: 'Timeout',
  cancelled: 'Cancelled',
  released: 'Pending',
  lost: 'Failed',
} as const satisfies Record<NonNullable<Attempt['outcome']>, JobStatus>;

export function stateOfAttempt({ outcome, started_at: started }: Attempt): JobStatus {
  if (outcome !== undefined) return OUTCOME_STATE[outcome];
  return started === undefined ? 'Claimed' : 'Running';
}
