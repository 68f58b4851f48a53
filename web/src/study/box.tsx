/** The p-box of an output of a study with epistemic inputs: the bounds of its distribution over the cells, and of its mean. */
import { useMemo, useState } from 'react';
import type { BatchStatusResponse, BatchSubmission, OutputBox, StudySummary } from '../../../src/contract/types.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Panel, Waiting } from '../parts/common.tsx';
import { boxLines } from '../plots/box.ts';
import { TimeSeries } from '../plots/time-series.tsx';
import { labelOf } from '../plots/variables.ts';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  summary: StudySummary | undefined;
}

export function Box({ progress, submission, summary }: Props) {
  const outputs = summary?.outputs.filter((it) => it.count > 0 && it.name !== 'execution_secs') ?? [];
  const [chosen, setChosen] = useState<string>();
  const output = outputs.find(({ name }) => name === chosen)?.name ?? outputs[0]?.name;
  const isAsked = submission.config.epistemic !== undefined && output !== undefined;
  const { data, error } = useAnswer<OutputBox>(
    progress,
    isAsked ? `pbox?output=${encodeURIComponent(output)}` : undefined,
  );
  if (!isAsked) return null;
  return (
    <Panel
      title={`Bounds of ${output}`}
      aside={
        outputs.length > 1 ? (
          <label>
            <span className="visually-hidden">Output of the bounds</span>
            <select value={output} onChange={(event) => setChosen(event.target.value)}>
              {outputs.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        ) : null
      }
    >
      <Failure what="The bounds could not be computed." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting what="Computing the bounds" />}
      {data !== undefined && <Picture box={data} />}
    </Panel>
  );
}

function Picture({ box: { curve, output, units, sentence, warnings } }: { box: OutputBox }) {
  const { values, series } = useMemo(() => boxLines(curve), [curve]);
  return (
    <>
      {values.length > 0 && (
        <TimeSeries
          label={`Share of runs at or below each value of ${output}${units === null ? '' : `, in ${units}`}: the least and the greatest over the cells`}
          times={values}
          across={labelOf(output, units ?? undefined)}
          up="share of runs"
          most={1}
          height={180}
          series={series}
        />
      )}
      <p className="small">{sentence}</p>
      {warnings.map((it) => (
        <p key={it.code} className="small soft">
          {it.message}
        </p>
      ))}
    </>
  );
}
