/** When data are read again: every five seconds while they may change, and when their study has ended again. */
import { useEffect, useState } from 'react';
import type { Batch } from '../../../src/contract/types.ts';

const EVERY_MS = 5_000;

/** A counter that rises every five seconds while it is active. */
export function useRefresh(isActive: boolean): number {
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(() => setRound((it) => it + 1), EVERY_MS);
    return () => clearInterval(timer);
  }, [isActive]);
  return round;
}

/**
 * A text that changes with the study: with its status, every five seconds while it is open, and when it has ended again, since a short extension may be
 * over before the page has seen it open. `mayChange`: what depends on it may change after the end too.
 */
export function useStudyVersion(batch: Pick<Batch, 'status' | 'ended_at'> | undefined, mayChange = false): string {
  const round = useRefresh(mayChange || batch?.status === 'Pending' || batch?.status === 'Running');
  return `${batch?.status} ${batch?.ended_at} ${round}`;
}
