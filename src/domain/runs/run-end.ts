/** The reason and the code of a run as its record has them: those of its last attempt, or of the run whose result it has. Pure. */
import type { JobRecord } from '../../contract/types.ts';

type Ended = Pick<JobRecord, 'value' | 'attempts' | 'reusedFrom' | 'reusedCode'>;

/** Why the run did not complete; null for a completed run, and where no reason is known. */
export function reasonOf({ value, attempts, reusedFrom }: Omit<Ended, 'reusedCode'>): string | null {
  if (value === 'Completed') return null;
  // The result of a run that failed otherwise is never taken.
  if (reusedFrom !== undefined) return 'early_termination';
  return attempts.at(-1)?.reason ?? null;
}

/** The code that made the result, as results name it; undefined where it is not known. */
export const codeOf = ({ attempts, reusedFrom, reusedCode }: Omit<Ended, 'value'>): string | undefined =>
  reusedFrom === undefined ? attempts.at(-1)?.code : reusedCode;
