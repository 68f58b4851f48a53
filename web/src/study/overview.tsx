/** Overview of a study: is the requirement met, how large are the outputs, why do runs fail, how far is it. */
import { useDeferredValue, useMemo } from 'react';
import type { BatchStatusResponse, BatchSubmission, Finding, StudySummary } from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import { useIsConnected } from '../data/live.ts';
import { useAnswer } from '../data/use-answer.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Panel } from '../parts/common.tsx';
import { rate } from '../parts/time.tsx';
import { courseOf, projected } from '../plots/course.ts';
import { TimeSeries } from '../plots/time-series.tsx';
import { Histories } from '../histories/card.tsx';
import { Extractions } from '../histories/extractions.tsx';
import { BatchEvents } from './events.tsx';
import { Box } from './box.tsx';
import { ScenarioCells } from './cells.tsx';
import { Drivers } from './drivers.tsx';
import { Failures, WhyItFails } from './failures.tsx';
import { Indices } from './indices.tsx';
import { LevelDifferences } from './levels.tsx';
import { NothingEnded } from './nothing-ended.tsx';
import { Outputs, PERCENTILES } from './outputs.tsx';
import { PoolShare } from './pool-share.tsx';
import { endedOf, isOpen } from '../parts/progress.ts';
import { WaitingForRows } from '../rounds/waiting.tsx';
import { RareEvent } from '../rare/panel.tsx';
import { Precisions } from './precision.tsx';
import { Probe } from './probe.tsx';
import { Verdicts } from '../requirements/verdicts.tsx';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  table: RunTable;
  findings: readonly Finding[];
}

export function Overview({ progress, submission, table, findings }: Props) {
  const { data: summary, error } = useAnswer<StudySummary>(progress, `summary?quantiles=${PERCENTILES.join()}`);
  const { batch } = progress;
  return (
    <>
      <WaitingForRows progress={progress} submission={submission} />
      <RareEvent progress={progress} submission={submission} />
      <Verdicts progress={progress} submission={submission} summary={summary} />
      <ScenarioCells progress={progress} submission={submission} />
      <Box progress={progress} submission={submission} summary={summary} />
      <LevelDifferences progress={progress} submission={submission} />
      <Precisions progress={progress} />
      <Probe progress={progress} submission={submission} />
      <Histories progress={progress} submission={submission} />
      <Extractions progress={progress} />
      <div className="columns halves">
        <div className="column">
          {endedOf(progress) > 0 ? (
            <Outputs progress={progress} summary={summary} error={error} />
          ) : (
            <NothingEnded progress={progress} submission={submission} findings={findings} />
          )}
          {endedOf(progress) > 0 && <Indices progress={progress} submission={submission} summary={summary} />}
          <Progress progress={progress} table={table} />
        </div>
        <div className="column">
          {endedOf(progress) > 0 && (
            <>
              <WhyItFails progress={progress} />
              <Failures progress={progress} summary={summary} />
              <Drivers progress={progress} submission={submission} summary={summary} />
            </>
          )}
          {isOpen(batch) && <PoolShare batchId={batch.id} />}
          <BatchEvents progress={progress} />
        </div>
      </div>
    </>
  );
}

/** How many runs have ended lately; a study that waits has no rate. */
const rateText = (perMinute: number): string => (perMinute === 0 ? 'no run ends' : `${rate(perMinute)} ended`);

/** Completed and failed runs over time, stacked, up to the number of runs; projected to the estimated end. */
function Progress({ progress, table }: Pick<Props, 'progress' | 'table'>) {
  const version = useDeferredValue(useTableVersion(table));
  const isConnected = useIsConnected();
  const course = useMemo(() => courseOf(table), [table, version]);
  const total = progress.batch.total_jobs;
  const isLive = isOpen(progress.batch);
  const shown = useMemo(() => {
    if (course === undefined) return undefined;
    const eta = isLive && progress.batch.waiting_for_rows !== true ? progress.eta : undefined;
    const endMs = eta === undefined ? undefined : Date.now() + 1_000 * eta.median;
    return projected(course, total, endMs);
  }, [course, total, isLive, progress.eta]);
  if (shown === undefined) return null;
  return (
    <Panel
      title="Progress"
      aside={
        isLive ? (
          <span className="small soft">
            {isConnected ? rateText(progress.throughput_jobs_per_minute) : 'as of the last message'}
          </span>
        ) : null
      }
    >
      <TimeSeries
        label="Runs completed and failed, over time, and the projection to the end"
        times={shown.times}
        height={150}
        most={total}
        series={[
          { name: 'Failed or timed out', colour: 'failed', values: shown.ended, fill: true },
          { name: 'Completed', colour: 'completed', values: shown.completed, fill: true, solid: true },
          ...(shown.projection === undefined
            ? []
            : [{ name: 'Projected', colour: 'soft', values: shown.projection, dash: true }]),
        ]}
      />
    </Panel>
  );
}
