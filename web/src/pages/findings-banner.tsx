/** Banners of a study: the findings that put its results in doubt, block it, or warn. */
import { useEffect, useState } from 'react';
import type { BatchStatusResponse, Finding } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';

/** How often the findings of an open study are read again. */
const EVERY_MS = 5_000;
const SHOWN: readonly Finding['severity'][] = ['doubtful', 'blocked', 'warning'];

export function FindingsBanner({ progress: { batch } }: { progress: BatchStatusResponse }) {
  const isOpen = batch.status === 'Pending' || batch.status === 'Running';
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setInterval(() => setRound((it) => it + 1), EVERY_MS);
    return () => clearInterval(timer);
  }, [isOpen]);
  const { data = [] } = useRequest<Finding[]>(`/batches/${batch.id}/findings`, `${batch.status} ${round}`);
  return data
    .filter(({ severity }) => SHOWN.includes(severity))
    .map(({ code, message, remedy }) => (
      <div key={code} className="notice" role="alert" data-finding={code}>
        <strong>{message}.</strong>
        <span>{remedy}</span>
      </div>
    ));
}
