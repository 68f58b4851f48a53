/** The table of a probe on its overview: a line an input with what it changes, as `simbatch probe` prints it. */
import type { BatchStatusResponse, BatchSubmission, StudyProbe } from '../../../src/contract/types.ts';
import { isProbe } from '../../../src/domain/probe/group.ts';
import type { ProbedEnd, ProbeTable } from '../../../src/domain/probe/table.ts';
import { changedOutputs, changeText, probeSentences } from '../../../src/domain/probe/wording.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Panel, Waiting } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { brief } from '../parts/time.tsx';

/** Outputs that have a column. */
const SHOWN = 6;
const WHY = 'its run has the reason, below';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
}

export function Probe({ progress, submission }: Props) {
  const isAsked = isProbe(submission);
  const { data, error } = useAnswer<StudyProbe>(progress, isAsked ? 'probe' : undefined);
  if (!isAsked) return null;
  return (
    <Panel
      title="What each input changes"
      aside={<span className="small soft">one input at a time, at its 1 % / 99 % quantile</span>}
      flush
    >
      <Failure what="The table of the probe could not be computed." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting what="Comparing the runs" />}
      {data?.reason && <p className="table-note small soft">No table yet: {data.reason}</p>}
      {data !== undefined && data.nominal !== null && <Changes table={{ ...data, nominal: data.nominal }} />}
    </Panel>
  );
}

function Changes({ table }: { table: ProbeTable }) {
  const all = changedOutputs(table);
  const outputs = all.slice(0, SHOWN);
  const right = (name: string) => ({ name, right: true });
  const { corners } = table;
  return (
    <>
      <Table
        label="What each input changes"
        columns={['Input', 'Read', 'Effect', right('Low'), right('High'), ...outputs.map((it) => right(it))]}
      >
        {table.inputs.map(({ name, units, read, effect, low, high, at_low, at_high }) => (
          <tr key={name}>
            <td className="mono">{name}</td>
            <td className={read === 'never' ? 'idle-input' : undefined}>{read}</td>
            <td className={effect === 'none' ? 'idle-input' : undefined}>{effect}</td>
            <td className="right nowrap">{`${brief(low)} ${units}`}</td>
            <td className="right nowrap">{`${brief(high)} ${units}`}</td>
            <Cells outputs={outputs} low={at_low} high={at_high} />
          </tr>
        ))}
        {corners !== undefined && (
          <tr>
            <td colSpan={5}>all inputs</td>
            <Cells outputs={outputs} low={corners.low} high={corners.high} />
          </tr>
        )}
      </Table>
      {probeSentences(table, WHY).map((it) => (
        <p key={it} className="table-note small">
          {it}
        </p>
      ))}
      <p className="table-note small soft">
        Changes at low / high are relative to the run with every input at its median.
        {all.length > outputs.length &&
          ` ${all.length - outputs.length} more outputs are in the answer of simbatch ask probe`}
      </p>
    </>
  );
}

const Cells = ({ outputs, low, high }: { outputs: readonly string[]; low: ProbedEnd; high: ProbedEnd }) =>
  outputs.map((output) => (
    <td key={output} className="right nowrap">{`${changeText(low, output)} / ${changeText(high, output)}`}</td>
  ));
