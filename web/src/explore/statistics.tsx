/** Statistics of a study's outputs, as the coordinator answers them: never of the survivors alone where runs have no value. */
import { Fragment, useState } from 'react';
import type { BatchStatusResponse, Convergence, StudySummary } from '../../../src/contract/types.ts';
import { intervalNote, meanText, quantileOf, rangeText } from '../../../src/analysis/outputs/estimate-text.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Panel, Waiting } from '../parts/common.tsx';
import { labelOf } from '../plots/variables.ts';
import { Table } from '../parts/table.tsx';
import { count, figure } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { changeQuery } from '../router.ts';

const QUANTILES = [0.05, 0.5, 0.95];
const COLUMNS = ['Output', 'Values', 'Mean', 'Standard deviation', ...QUANTILES.map((p) => `P${100 * p}`)];

/** Confidence of the answer, where the reader chooses no other. */
const INFINITIES = ['−∞', '∞'] as const;

type Output = StudySummary['outputs'][number];

export function Statistics({ progress }: { progress: BatchStatusResponse }) {
  const [isAtRandom, setAtRandom] = useState(false);
  const missing = isAtRandom ? '&missing=at_random' : '';
  const { data, error } = useAnswer<StudySummary>(progress, `summary?quantiles=${QUANTILES.join()}${missing}`);
  const outputs = data?.outputs.filter((it) => it.count > 0) ?? [];
  const hasIncidents = (['crashed', 'timeout', 'lost'] as const).some((it) => (data?.excluded[it] ?? 0) > 0);
  if (data !== undefined && outputs.length === 0) return null;
  return (
    <Panel title="Statistics" flush>
      <Failure what="The statistics could not be read." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting what="Computing the statistics" />}
      {data !== undefined && (
        <>
          <div className="body limits small">
            <p>{data.sentence}</p>
            <Limits warnings={data.warnings.filter((it) => it.message !== data.sentence)} />
            <p>{intervalNote(outputs)}</p>
            {hasIncidents && (
              <label className="row">
                <input type="checkbox" checked={isAtRandom} onChange={(event) => setAtRandom(event.target.checked)} />
                Take crashed, timed-out and lost runs as missing at random
              </label>
            )}
          </div>
          <Table label="Statistics of the outputs" columns={COLUMNS.map((name, at) => ({ name, right: at > 0 }))}>
            {outputs.map((it) => (
              <tr key={it.name}>
                <td className="mono">{labelOf(it.name, it.units ?? undefined)}</td>
                <td className="right">{count(it.count)}</td>
                <td className="right nowrap">{meanText(it.mean, it.mean_interval)}</td>
                <td className="right">{shown(it.sd)}</td>
                {QUANTILES.map((p) => (
                  <td key={p} className="right nowrap">
                    <Quantile output={it} p={p} />
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        </>
      )}
    </Panel>
  );
}

function Quantile({ output, p }: { output: Output; p: number }) {
  const [value = '–', interval] = quantileOf(output, p, INFINITIES) ?? [];
  return (
    <>
      {value} {interval !== undefined && <span className="interval">{interval}</span>}
    </>
  );
}

const shown = (value: number | null): string => (value === null ? '–' : figure(value));

function Limits({ warnings }: Pick<StudySummary, 'warnings'>) {
  return warnings.map(({ code, message }) => (
    <p key={code} data-limit={code}>
      {message}
    </p>
  ));
}

/** The mean over the first runs of the complete prefix, with its interval where the sampling method has one. */
export function RunningMean({
  progress,
  outputs,
  units,
  chosen,
  isSelected,
}: {
  progress: BatchStatusResponse;
  units: ReadonlyMap<string, string>;
  /** Names of outputs; the first one is shown unless another is chosen. */
  outputs: readonly string[];
  chosen: string | null;
  /** Some runs are selected in the plots: the mean is of all runs nevertheless. */
  isSelected: boolean;
}) {
  const output = outputs.find((it) => it === chosen) ?? outputs.find((it) => it !== 'execution_secs') ?? outputs[0];
  const question = output === undefined ? undefined : `convergence?quantity=mean&output=${encodeURIComponent(output)}`;
  const { data, error } = useAnswer<Convergence>(progress, question);
  if (output === undefined)
    return (
      <Panel title="Running mean">
        <p className="soft">No run has written numbers into its result yet.</p>
      </Panel>
    );
  return (
    <Panel
      title="Running mean"
      aside={
        <label className="row small">
          Of
          <select value={output} onChange={(event) => changeQuery({ mean: event.target.value })}>
            {outputs.map((it) => (
              <option key={it}>{it}</option>
            ))}
          </select>
        </label>
      }
    >
      <Failure what="The running mean could not be read." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting what="Computing the running mean" />}
      {isSelected && (
        <p className="small soft">
          Of all runs: selected runs are not a sample of the study, so that an interval of their mean would mislead.
        </p>
      )}
      {data !== undefined && <Curve output={labelOf(output, units.get(output))} answer={data} />}
    </Panel>
  );
}

/** The interval of the first few values is so wide that it would hide the rest of the curve. */
const FIRST_SHOWN = 10;

function Curve({ output, answer }: { output: string; answer: Convergence }) {
  const { warnings } = answer;
  const last = answer.points.at(-1);
  const from = Math.min(FIRST_SHOWN, (last?.n ?? 0) / 2);
  const points = answer.points.filter(({ n }) => n >= from);
  if (last === undefined)
    return <p className="soft">No run of the complete prefix has a value: the first runs are still open.</p>;
  const hasInterval = points.some(({ low }) => low !== null);
  const name = `Mean of ${output}${hasInterval ? ', with 95 % confidence interval' : ''}`;
  const edges = hasInterval
    ? [
        { name: 'low', colour: 'claimed', values: points.map((it) => it.low), edge: true },
        { name: 'high', colour: 'claimed', values: points.map((it) => it.high), edge: true },
      ]
    : [];
  return (
    <Fragment>
      <TimeSeries
        label={`Mean of ${output} against the number of runs${hasInterval ? ', with its 95 % confidence interval' : ''}`}
        times={points.map((it) => it.n)}
        across="runs"
        height={270}
        series={[{ name, colour: 'running', values: points.map((it) => it.value) }, ...edges]}
      />
      <p className="small soft">
        After {count(last.n)} runs of the complete prefix: {figure(last.value)}
        {last.low === null || last.high === null ? '' : `, interval ${rangeText([last.low, last.high], INFINITIES)}`}
      </p>
      <div className="small soft">
        <Limits warnings={warnings} />
      </div>
    </Fragment>
  );
}
