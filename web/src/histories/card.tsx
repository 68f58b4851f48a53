/** A card for each history of a study: its band over all runs, the runs farthest outside, and those that are selected. */
import { useMemo } from 'react';
import type { BatchStatusResponse, BatchSubmission, HistoryBand } from '../../../src/contract/types.ts';
import { historyName } from '../../../src/domain/histories/points.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { limitsStatistics } from '../../../src/domain/study/design-method.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Empty, Failure, Panel, Waiting, sentenceOf } from '../parts/common.tsx';
import { brief, count } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { labelOf } from '../plots/variables.ts';
import { go, hrefOf } from '../router.ts';
import { useRunCurves } from './run-curves.ts';
import { bandSeries, lineOf, type RunCurve } from './series.ts';

/** Selected runs whose curves are drawn. */
const MOST_SELECTED = 30;

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  /** Ids of the runs whose curves are drawn too; none by default. */
  selected?: readonly number[];
}

export function Histories({ progress, submission, selected = [] }: Props) {
  const names = (submission.config.histories ?? []).map((it) => historyName(it));
  if (names.length === 0) return null;
  return (
    <div className="histories">
      {names.map((name) => (
        <HistoryCard key={name} progress={progress} name={name} selected={selected} />
      ))}
    </div>
  );
}

function HistoryCard({
  progress,
  name,
  selected,
}: Pick<Props, 'progress'> & { name: string; selected: readonly number[] }) {
  const { data, error } = useAnswer<HistoryBand>(progress, `band?history=${encodeURIComponent(name)}`);
  return (
    <Panel title={`History ${labelOf(name, data?.units ?? undefined)}`}>
      <Failure what="The band could not be computed." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting what="Computing the band" />}
      {data !== undefined && data.reason !== null && <Empty title={sentenceOf(`${data.reason}.`)} />}
      {data !== undefined && data.reason === null && (
        <BandPlot batchId={progress.batch.id} band={data} selected={selected} />
      )}
    </Panel>
  );
}

function BandPlot({ batchId, band, selected }: { batchId: string; band: HistoryBand; selected: readonly number[] }) {
  const { history, seconds, outlying, tolerance_reason: none, warnings, units } = band;
  const chosen = selected.slice(0, MOST_SELECTED);
  const farthest = outlying.map((it) => it.run_id).filter((it) => !chosen.includes(it));
  const curves = useRunCurves(batchId, history, [...farthest, ...chosen]);
  const { series, far } = useMemo(() => {
    const drawn = (runs: readonly number[], isSelected: boolean): RunCurve[] =>
      runs.flatMap((runId) => {
        const values = curves.get(runId);
        return values === undefined ? [] : [{ runId, values, isSelected }];
      });
    return bandSeries(band, [...drawn(farthest, false), ...drawn(chosen, true)]);
  }, [band, curves, farthest.join(), chosen.join()]);
  const hrefOfRun = (runId: number): string => hrefOf(['jobs', jobId(batchId, runId)]);
  const limiting = warnings.filter(({ code }) => limitsStatistics(code) || code === 'not-independent');
  return (
    <div className="stack tight">
      <TimeSeries
        label={`${labelOf(history, units ?? undefined)} of all runs over the time of the run, in seconds: ${band.sentence}`}
        times={seconds}
        across="seconds"
        height={220}
        series={series}
        onPick={(line) => {
          const runId = [...curves.keys()].find((it) => lineOf(it) === line);
          if (runId !== undefined) go(hrefOfRun(runId));
        }}
      />
      {outlying.length > 0 && (
        <p className="small inline">
          Farthest outside, in orange{farthest.length < outlying.length ? ' unless selected' : ''}:{' '}
          {outlying.map((it) => (
            <a key={it.run_id} className="nowrap" href={hrefOfRun(it.run_id)} title={scoreText(it.score)}>
              #{it.run_id}{' '}
            </a>
          ))}
        </p>
      )}
      {selected.length > 0 && (
        <p className="small soft">
          {selected.length > chosen.length
            ? `The first ${count(chosen.length)} of ${count(selected.length)} selected runs are drawn, in blue.`
            : `${count(chosen.length)} selected run${chosen.length === 1 ? ' is' : 's are'} drawn, in blue.`}
        </p>
      )}
      {none !== null && <p className="small soft">No tolerance band: {none}.</p>}
      {far.length > 0 && <p className="small soft">Too far to be drawn: {far.join(', ')}.</p>}
      {limiting.map(({ code, message }) => (
        <p key={code} className="small soft">
          {sentenceOf(message)}.
        </p>
      ))}
      {band.unknown > 0 && (
        <p className="small soft">
          {band.unknown === 1
            ? '1 run failed or was cancelled: its curve is unknown, and the tolerance band takes it as outside.'
            : `${count(band.unknown)} runs failed or were cancelled: their curves are unknown, and the tolerance band takes them as outside.`}
        </p>
      )}
    </div>
  );
}

const scoreText = (score: number | null): string =>
  score === null ? 'infinitely many half-widths from the centre' : `${brief(score)} half-widths from the centre`;
