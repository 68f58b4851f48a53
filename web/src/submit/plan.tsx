/** The runs that the requirements of a study take, while it is written. */
import { runsNeeded } from '../../../src/analysis/requirements/planning.ts';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { Panel } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';

const FAILURES = ['no failure', '1 failure', '2 failures', '3 failures'].map((name) => ({ name, right: true }));

/** The runs that each requirement takes, and whether the study has as many. `cells`: those of its scenarios, 1 without. */
export function Plan({ study, runs, cells }: { study: BatchSubmission; runs: number; cells: number }) {
  const needed = runsNeeded(study, runs);
  if (needed.length === 0) return null;
  return (
    <Panel title={`Runs needed to meet the requirements${cells === 1 ? '' : ', in each cell'}`} flush>
      <Table label="Runs needed, by the number of failures" columns={['Requirement', ...FAILURES]}>
        {needed.map((it, at) => (
          <tr key={at}>
            <td>
              {it.name}
              {it.pooled === true && <span className="small soft"> samples of all cells</span>}
              {!it.can_be_met && (
                <span className="fault" role="alert">
                  {' '}
                  cannot be met by {count(Math.floor(runs / cells))} runs{cells > 1 && ' in each cell'}
                </span>
              )}
            </td>
            {it.runs_needed.map((runsWith, failures) => (
              <td key={failures} className="right">
                {runsWith === null ? '-' : count(runsWith)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
