/** The machine of allocations: its statechart with the counts of all launchers, their decisions, and their live allocations. */
import type { Launcher } from '../../../src/contract/types.ts';
import type { Diagram } from '../../diagrams/types.ts';
import { DiagramLegend, StateList } from '../machines/legend.tsx';
import { DiagramView } from '../machines/diagram.tsx';
import { Empty, Panel } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

export function Allocations({ diagram, launchers }: { diagram: Diagram; launchers: readonly Launcher[] }) {
  const counts: Record<string, number> = {};
  // A launcher that no longer reports may have ended with its allocations: its numbers are old.
  for (const { queues } of launchers.filter((it) => it.current)) {
    for (const queue of queues) {
      for (const [state, number] of Object.entries(queue.counts)) counts[state] = (counts[state] ?? 0) + number;
    }
  }
  const allocations = launchers.flatMap((it) => it.allocations);
  return (
    <>
      <section className="panel" aria-label="Statechart of the allocation">
        <div className="scroll canvas" tabIndex={0} role="region" aria-label="Statechart of the allocation, scrollable">
          <DiagramView diagram={diagram} counts={counts} flow={{}} />
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
                <td className="mono">{it.allocation}</td>
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
