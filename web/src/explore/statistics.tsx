/** Statistics of a study's outputs, as the coordinator answers them: never of the survivors alone where runs have no value. */
import { useState } from 'react';
import type { BatchStatusResponse, StudySummary } from '../../../src/contract/types.ts';
import { intervalNote, meanText, quantileOf } from '../../../src/analysis/outputs/estimate-text.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Waiting } from '../parts/common.tsx';
import { labelOf } from '../plots/variables.ts';
import { Table } from '../parts/table.tsx';
import { count, figure } from '../parts/time.tsx';

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
  if (data !== undefined && outputs.length === 0)
    return <p className="soft">No run has written numbers into its result yet.</p>;
  return (
    <>
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
    </>
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
