/** The history of a study as a whole: pauses, releases, canary runs, cancellation. */
import type { BatchHistory, BatchStatusResponse } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';
import { useStudyVersion } from '../data/use-refresh.ts';
import { Panel } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

/** The members that an amendment changed; empty for another event. */
const changed = (after: BatchHistory['events'][number]['after']): string => Object.keys(after ?? {}).join(', ');

export function BatchEvents({ progress: { batch } }: { progress: BatchStatusResponse }) {
  const version = useStudyVersion(batch);
  const { data } = useRequest<BatchHistory>(`/batches/${batch.id}/history`, version);
  if (data === undefined) return null;
  const hasActors = data.events.some(({ by }) => by !== undefined);
  return (
    <Panel title="History" flush>
      <Table label="Events of the study" columns={['Time', 'Event', ...(hasActors ? ['By'] : []), 'Reason']}>
        {data.events.map(({ at, type, by, reason, status, after }, index) => (
          <tr key={index}>
            <td>
              <Time at={at} />
            </td>
            <td>{[type, status ?? changed(after)].filter((it) => it !== '').join(': ')}</td>
            {hasActors && <td>{by}</td>}
            <td className="message">{reason}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
