/** The main outputs of a study on its overview: mean, percentiles, and a small histogram each. */
import type { ReactNode } from 'react';
import type { BatchStatusResponse, StudyDistributions, StudySummary } from '../../../src/contract/types.ts';
import { meanText, quantileOf } from '../../../src/analysis/outputs/estimate-text.ts';
import { limitsStatistics } from '../../../src/domain/study/design-method.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Empty, Failure, Panel, Waiting, sentenceOf } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';
import { Spark } from '../plots/spark.tsx';
import { hrefOf } from '../router.ts';

/** Outputs for which the first screen has room. */
const SHOWN = 5;
export const PERCENTILES = [0.05, 0.5, 0.95];

type Output = StudySummary['outputs'][number];

export function Outputs({
  progress,
  summary,
  error,
}: {
  progress: BatchStatusResponse;
  summary: StudySummary | undefined;
  error: Error | undefined;
}) {
  const { data } = useAnswer<StudyDistributions>(progress, 'distributions?bins=24');
  const numeric = summary?.outputs.filter((it) => it.count > 0) ?? [];
  const reported = numeric.filter((it) => it.name !== 'execution_secs');
  const outputs = (reported.length > 0 ? reported : numeric).slice(0, SHOWN);
  const explore = hrefOf(['batches', progress.batch.id, 'explore']);
  return (
    <Panel
      title="Outputs"
      aside={
        numeric.length > outputs.length ? (
          <a className="small" href={explore}>
            All {numeric.length}
          </a>
        ) : null
      }
      flush
    >
      <Failure what="The statistics could not be read." detail={error?.message} />
      {summary === undefined && error === undefined && <Waiting what="Computing the statistics" />}
      {summary !== undefined && outputs.length === 0 && <Empty title="No completed run has an output yet." />}
      {outputs.length > 0 && (
        <Table
          label="Outputs"
          columns={[
            'Output',
            { name: 'Mean ± 95 %', right: true },
            { name: 'P5', right: true },
            { name: 'P95', right: true },
            { name: 'Distribution', late: true },
          ]}
        >
          {outputs.map((it) => (
            <Row
              key={it.name}
              output={it}
              histogram={data?.variables.find((one) => one.kind === 'output' && one.name === it.name)}
              href={explore}
            />
          ))}
        </Table>
      )}
      {summary !== undefined && outputs.length > 0 && (
        <p className="table-note small soft" title={summary.warnings.map((it) => it.message).join('. ')}>
          {summary.sentence}
          {summary.warnings
            .filter(({ code }) => limitsStatistics(code))
            .map(({ message }) => `. ${sentenceOf(message)}.`)}
        </p>
      )}
    </Panel>
  );
}

function Row({
  output: it,
  histogram,
  href,
}: {
  output: Output;
  histogram: StudyDistributions['variables'][number] | undefined;
  href: string;
}) {
  const at = (p: number): Output['quantiles'][number] | undefined => it.quantiles.find((one) => one.p === p);
  const marks = [at(0.05)?.value, at(0.95)?.value];
  const spark = histogram !== undefined && <Spark histogram={histogram} marks={marks} />;
  return (
    <tr>
      <td className="output-name">
        <a className="mono" href={href}>
          {breakable(it.name)}
        </a>
        {it.units !== null && it.units !== '' && <span className="soft"> {it.units}</span>}
        <div className="narrow-only">{spark}</div>
      </td>
      <td
        className="right nowrap"
        title={`${count(it.count)} values; ${it.mean_reason ?? 'half of the 95 % interval of the mean'}`}
      >
        {meanText(it.mean, it.mean_interval)}
        {it.missing > 0 && (
          <div className="small soft">
            {count(it.count)} of {count(it.count + it.missing)} runs
          </div>
        )}
      </td>
      <td className="right nowrap">
        <Bounded output={it} p={0.05} />
      </td>
      <td className="right nowrap">
        <Bounded output={it} p={0.95} />
      </td>
      <td className="spark-cell narrow-hide">{spark}</td>
    </tr>
  );
}

/** The name, which a narrow column breaks after its underscores. */
const breakable = (name: string): ReactNode[] =>
  name.split('_').flatMap((part, at) => (at === 0 ? [part] : ['_', <wbr key={at} />, part]));

/** A percentile with its interval. */
function Bounded({ output, p }: { output: Output; p: number }) {
  const [value = '–', interval] = quantileOf(output, p, ['−∞', '∞']) ?? [];
  return (
    <span title="95 % interval of the percentile of all runs, whatever the values of the runs without one are">
      {value}
      {interval !== undefined && <div className="small soft">{interval}</div>}
    </span>
  );
}
