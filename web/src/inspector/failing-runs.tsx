/** The failing runs of a study, each a link to its attempt in the inspector. */
import type { Job } from '../../../src/contract/types.ts';
import { decisiveLine } from '../../../src/domain/runs/failure-groups.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import { Empty } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf } from '../router.ts';

export function FailingRuns({ runs, most }: { runs: readonly Job[] | undefined; most: number }) {
  if (runs === undefined) return <Empty title="Reading …" />;
  if (runs.length === 0) return <Empty title="No run has failed." />;
  return (
    <>
      <Table label="Failing runs" columns={['Run', 'State', 'Error']}>
        {runs.map((it) => (
          <tr key={it.id}>
            <td>
              <a href={hrefOf(['inspect', 'job', it.id])}>#{runIdOf(it.id)}</a>
            </td>
            <td>
              <State status={it.status} />
            </td>
            <td className="message">{it.error_message === undefined ? '' : decisiveLine(it.error_message)}</td>
          </tr>
        ))}
      </Table>
      {runs.length === most && <p className="small soft">The first {most}; Ctrl K and #17 finds any run.</p>}
    </>
  );
}
