/** The legend of a statechart, and its states in words: their meaning and number, and their times in one study. */
import type { StudyTransitions } from '../../../src/contract/types.ts';
import type { Diagram } from '../../diagrams/types.ts';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { count, duration } from '../parts/time.tsx';

/** `live`: the chart has rates. `totals`: it has the totals of one study instead. `counts`: numbers alone. `states`: no numbers. */
export function DiagramLegend({
  diagram,
  shows,
}: {
  diagram: Diagram;
  shows: 'live' | 'totals' | 'counts' | 'states';
}) {
  const { kind, groups } = diagram;
  const plural = kind === 'batch' ? 'batches' : `${kind}s`;
  return (
    <p className="keys table-note">
      <span>● first state</span>
      <span>double line: last state</span>
      {groups.length > 0 && <span>an arrow from a frame: from every state in it</span>}
      {shows !== 'states' && (
        <span>
          the number in a state: {plural} in it{shows === 'totals' ? ' in this study' : ''} now
        </span>
      )}
      {shows === 'live' && (
        <span>
          <i style={{ background: 'var(--running)' }} aria-hidden="true" /> events pass, with their rate
        </span>
      )}
      {shows === 'totals' && (
        <span>
          <i style={{ background: 'var(--running)' }} aria-hidden="true" /> events of the study, with their number
        </span>
      )}
    </p>
  );
}

interface StateListProps {
  diagram: Diagram;
  /** Absent where they are not known. */
  counts?: Readonly<Record<string, number>>;
  totals?: StudyTransitions | undefined;
}

/** The states as a table: the same as the picture, for reading. */
export function StateList({ diagram: { states, groups }, counts, totals }: StateListProps) {
  const frameOf = (key: string): string =>
    groups
      .filter((it) => it.members.includes(key))
      .map((it) => it.key)
      .join(', ');
  const numbers = [
    ...(counts === undefined ? [] : ['Now']),
    ...(totals === undefined ? [] : ['Stays', 'Mean', 'Longest']),
  ];
  const columns = [
    'State',
    ...(groups.length > 0 ? ['Frame'] : []),
    ...numbers.map((name) => ({ name, right: true })),
    'Meaning',
  ];
  return (
    <Table label="States" columns={columns}>
      {states.map(({ key, description }) => {
        const stays = totals?.states.find((it) => it.state === key);
        return (
          <tr key={key}>
            <td>
              <State status={key} />
            </td>
            {groups.length > 0 && <td className="soft">{frameOf(key)}</td>}
            {counts !== undefined && <td className="right">{count(counts[key] ?? 0)}</td>}
            {totals !== undefined && (
              <>
                <td className="right">{stays === undefined ? '–' : count(stays.stays)}</td>
                <td className="right nowrap">{stays === undefined ? '–' : duration(stays.mean_secs * 1_000)}</td>
                <td className="right nowrap">{stays === undefined ? '–' : duration(stays.longest_secs * 1_000)}</td>
              </>
            )}
            <td className="meaning">{description}</td>
          </tr>
        );
      })}
    </Table>
  );
}
