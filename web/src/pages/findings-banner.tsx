/** Banners of a study: the findings that put its results in doubt, block it, or warn. */
import type { BatchStatusResponse, Finding } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';
import { useRounds } from '../data/use-rounds.ts';

const SHOWN: readonly Finding['severity'][] = ['doubtful', 'blocked', 'warning'];

export function FindingsBanner({ progress: { batch } }: { progress: BatchStatusResponse }) {
  const isOpen = batch.status === 'Pending' || batch.status === 'Running';
  const round = useRounds(isOpen);
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
