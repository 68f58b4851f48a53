/** The machine of attempts, which a runner executes: its statechart and its states in words, without numbers. */
import type { Diagram } from '../../diagrams/types.ts';
import { DiagramView } from '../machines/diagram.tsx';
import { DiagramLegend, StateList } from '../machines/legend.tsx';
import { Panel } from '../parts/common.tsx';
import { hrefOf } from '../router.ts';

export function Attempts({ diagram }: { diagram: Diagram }) {
  return (
    <>
      <section className="panel" aria-label="Statechart of the attempt">
        <p className="table-note">
          One execution of a run, as its runner sees it, from the claim to the acknowledged outcome. A runner reports
          the start and the outcome and not these states, so that they have no numbers here. The coordinator's side of
          an attempt is the <a href={hrefOf(['machines', 'job'])}>job</a>.
        </p>
        <div className="scroll canvas" tabIndex={0} role="region" aria-label="Statechart of the attempt, scrollable">
          <DiagramView diagram={diagram} flow={{}} />
        </div>
        <DiagramLegend diagram={diagram} shows="states" />
      </section>
      <Panel title="States of the attempt" flush>
        <StateList diagram={diagram} />
      </Panel>
    </>
  );
}
