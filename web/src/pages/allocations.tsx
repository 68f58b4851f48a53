/** The machine of allocations: its statechart with the counts of all launchers, their decisions, and their live allocations. */
import type { Launcher, LauncherListResponse } from '../../../src/contract/types.ts';
import type { Diagram } from '../../diagrams/types.ts';
import { useRequest } from '../data/api.ts';
import { useRefresh } from '../data/use-refresh.ts';
import { DiagramLegend, StateList } from '../machines/legend.tsx';
import { DiagramView } from '../machines/diagram.tsx';
import { Empty, Failure, Panel } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

/** The last part of `slurm/main/a1b2c3d4e5f6`. */
const idOf = (allocation: string): string => allocation.slice(allocation.lastIndexOf('/') + 1);

/** `actor`: the id of an allocation, whose state is lit. */
export function Allocations({ diagram, actor }: { diagram: Diagram; actor: string | undefined }) {
  const round = useRefresh(true);
  const { data, error } = useRequest<LauncherListResponse>('/launchers', round);
  const launchers = data?.launchers ?? [];
  const counts: Record<string, number> = {};
  // A launcher that no longer reports may have ended with its allocations: its numbers are old.
  for (const { queues } of launchers.filter((it) => it.current)) {
    for (const queue of queues) {
      for (const [state, number] of Object.entries(queue.counts)) counts[state] = (counts[state] ?? 0) + number;
    }
  }
  const allocations = launchers.flatMap((it) => it.allocations);
  const chosen = allocations.find((it) => idOf(it.allocation) === actor);
  return (
    <>
      <Failure what="The launchers could not be read." detail={error?.message} />
      <section className="panel" aria-label="Statechart of the allocation">
        <div className="scroll canvas" tabIndex={0} role="region" aria-label="Statechart of the allocation, scrollable">
          <DiagramView diagram={diagram} counts={counts} flow={{}} lit={chosen?.state} />
        </div>
        <DiagramLegend diagram={diagram} shows="counts" />
      </section>
      {launchers.length === 0 ? (
        <Panel title="Launchers">
          <Empty title="No launcher has reported.">
            <code>simbatch launcher run</code> starts runners on a cluster while runs wait.
          </Empty>
        </Panel>
      ) : (
        launchers.map((it) => <Decisions key={it.launcher} launcher={it} />)
      )}
      {allocations.length > 0 && (
        <Panel title="Live allocations" flush>
          <Table label="Live allocations" columns={['Allocation', 'State', 'In the engine', 'Reason']}>
            {allocations.map((it) => (
              <tr key={it.allocation}>
                <td className="mono">
                  <a href={hrefOf(['machines', 'allocation', idOf(it.allocation)])}>{it.allocation}</a>
                </td>
                <td>
                  <State status={it.state} />
                </td>
                <td className="mono">{it.handle ?? '-'}</td>
                <td>{it.reason ?? '-'}</td>
              </tr>
            ))}
          </Table>
        </Panel>
      )}
      <Panel title="States of the allocation" flush>
        <StateList diagram={diagram} counts={counts} />
      </Panel>
    </>
  );
}

function Decisions({ launcher }: { launcher: Launcher }) {
  const { launcher: name, current, reported_at: at, problems, queues, unserved } = launcher;
  return (
    <Panel title={`Launcher ${name}`}>
      <p className="small soft">
        Last report: <Time at={at} />
        {current ? null : '; further reports are missing, so it does not run or cannot reach this coordinator'}
      </p>
      <ul>
        {problems.map((it) => (
          <li key={it}>{it}</li>
        ))}
        {queues.flatMap((queue) =>
          queue.why.map((why) => (
            <li key={`${queue.name} ${why}`}>
              <span className="mono">{queue.name}</span>: {why}
            </li>
          )),
        )}
        {unserved.map((it) => (
          <li key={it.message}>{it.message}</li>
        ))}
      </ul>
    </Panel>
  );
}
