/** A counter that rises every five seconds while it is active: data that depends on it is read again. */
import { useEffect, useState } from 'react';

const EVERY_MS = 5_000;

export function useRefresh(isActive: boolean): number {
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(() => setRound((it) => it + 1), EVERY_MS);
    return () => clearInterval(timer);
  }, [isActive]);
  return round;
}
