/** Cards of two studies: each output of both over one axis, and its change below. */
import type { StudyComparison } from '../../../src/contract/types.ts';
import { Empty, Waiting } from '../parts/common.tsx';
import { Chooser } from '../parts/chooser.tsx';
import { changeQuery } from '../router.ts';
import { DistributionChange, PairedChange } from './changes.tsx';
import { Overlay } from './overlay.tsx';
import { COLOURS, useColumns, useDrawn, type Side, type SideColumns } from './side.ts';

interface Props {
  data: StudyComparison;
  before: Side;
  after: Side;
  query: URLSearchParams;
}

/** Outputs with plots: at first, and at most. */
const FIRST = 3;
const MOST = 6;

export default function ComparedPlots({ data, before, after, query }: Props) {
  const [earlier, later] = [useColumns(before.table), useColumns(after.table)];
  if (!before.table.isLoaded || !after.table.isLoaded) return <Waiting what="Reading the runs of both" />;
  const names = plotted(data, [before, after]).filter((name) => earlier.outputs.has(name) && later.outputs.has(name));
  if (names.length === 0)
    return (
      <section className="panel">
        <Empty title="The studies have no number as an output in common." />
      </section>
    );
  const asked = query.get('outputs');
  const shown = asked === null ? names.slice(0, FIRST) : names.filter((it) => asked.split(',').includes(it));
  const keep = (next: readonly string[]): void => changeQuery({ outputs: next.length === 0 ? 'none' : next.join(',') });
  return (
    <>
      <div className="row options">
        <Chooser
          label="Outputs"
          choices={names.map((name) => ({ name, title: name }))}
          shown={shown}
          most={MOST}
          onChange={keep}
        />
        <span className="row small soft legend-of-sides">
          <i style={{ background: COLOURS[0] }} /> before <i style={{ background: COLOURS[1] }} /> after
        </span>
      </div>
      <div className="cards-of-plots">
        {shown.map((name) => (
          <ComparedOutput
            key={name}
            name={name}
            data={data}
            before={{ ...before, columns: earlier }}
            after={{ ...after, columns: later }}
            onRemove={() => keep(shown.filter((it) => it !== name))}
          />
        ))}
      </div>
    </>
  );
}

/** The outputs of the answer: those with requirements first, then those that changed most clearly. */
function plotted(data: StudyComparison, sides: readonly Side[]): string[] {
  const required = new Set(
    sides.flatMap(({ progress }) => (progress.requirements ?? []).flatMap(({ output }) => output ?? [])),
  );
  const outputs: readonly { name: string; p_holm: number | null }[] = data.outputs;
  return outputs
    .toSorted(
      (a, b) => Number(required.has(b.name)) - Number(required.has(a.name)) || (a.p_holm ?? 2) - (b.p_holm ?? 2),
    )
    .map(({ name }) => name);
}

interface OutputProps {
  name: string;
  data: StudyComparison;
  before: SideColumns;
  after: SideColumns;
  onRemove: () => void;
}

function ComparedOutput({ name, data, before, after, onRemove }: OutputProps) {
  const [earlier, later] = [useDrawn(before, name), useDrawn(after, name)];
  const shared = { name, data, before: earlier, after: later, onRemove };
  const units = [earlier.variable.label, later.variable.label];
  if (units[0] !== units[1])
    return (
      <section className="panel card">
        <Empty title={`The units of ${name} differ: ${units[0]} before, ${units[1]} after.`}>
          <p>Its values have no axis in common. The table below compares the bare numbers.</p>
        </Empty>
      </section>
    );
  return (
    <div className="stack">
      <Overlay {...shared} />
      {data.paired ? <PairedChange {...shared} /> : <DistributionChange {...shared} />}
    </div>
  );
}
