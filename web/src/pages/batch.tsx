/** The page of one study: progress, and tabs for overview, runs, distributions and submission. */
import { useState, type ReactNode } from 'react';
import type { Batch, BatchStatusResponse } from '../../../src/contract/types.ts';
import { download, FORMATS, type Format } from '../data/download.ts';
import type { RunTable } from '../data/run-table.ts';
import { useBatch } from '../data/use-batch.ts';
import { Failure, Waiting } from '../parts/common.tsx';
import { State, StatusBar, StatusLegend } from '../parts/status.tsx';
import { count, duration, minutes, rate, Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { BatchActions, BatchRelations } from './batch-actions.tsx';
import { BatchEvents } from './batch-history.tsx';
import { BatchOverview } from './batch-overview.tsx';
import { BatchPlots } from './batch-plots.tsx';
import { BatchRuns } from './batch-runs.tsx';
import { BatchStudy } from './batch-study.tsx';
import { FindingsBanner } from './findings-banner.tsx';
import { Stat } from './runners.tsx';
import { Verdicts } from './verdicts.tsx';

const TABS = [
  ['overview', 'Overview'],
  ['runs', 'Runs'],
  ['plots', 'Distributions'],
  ['study', 'Study'],
] as const;

interface Props {
  batchId: string;
  tab: string;
  query: URLSearchParams;
}

export function BatchPage({ batchId, tab, query }: Props) {
  const { progress, table, error } = useBatch(batchId);
  if (error !== undefined) return <Failure what="The batch could not be read." detail={error} />;
  if (progress === undefined || table === undefined) return <Waiting what="Reading the batch" />;
  return (
    <>
      <BatchHead progress={progress} />
      <FindingsBanner progress={progress} />
      <Verdicts progress={progress} />
      <StatusBar batchId={batchId} counts={progress.jobs_by_status} large />
      <StatusLegend
        batchId={batchId}
        counts={progress.jobs_by_status}
        current={tab === 'runs' ? (query.get('status') ?? '') : ''}
      />
      <BatchFigures progress={progress} />
      <nav className="tabs" aria-label="Parts of the batch">
        {TABS.map(([name, title]) => (
          <a
            key={name}
            href={hrefOf(['batches', batchId, name], { select: query.get('select') ?? '' })}
            aria-current={tab === name ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <Failure what="Not all runs could be read." detail={table.failure} />
      {tabContent(tab, progress, table, query)}
      {tab === 'overview' && <BatchEvents progress={progress} />}
    </>
  );
}

function tabContent(tab: string, progress: BatchStatusResponse, table: RunTable, query: URLSearchParams): ReactNode {
  if (tab === 'runs') return <BatchRuns table={table} query={query} />;
  if (tab === 'plots') return <BatchPlots progress={progress} table={table} query={query} />;
  if (tab === 'study') return <BatchStudy batchId={table.batchId} />;
  return <BatchOverview table={table} />;
}

const MOMENTS = { created_at: 'Submitted', started_at: 'Started', ended_at: 'Ended at' };

function Moment({ name, at }: { name: string; at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd className="plain">
        <Time at={at} />
      </dd>
    </div>
  );
}

function BatchHead({ progress }: { progress: BatchStatusResponse }) {
  const { batch } = progress;
  return (
    <>
      <div className="head">
        <div className="grow">
          <div className="crumbs">
            <a href={hrefOf(['batches'])}>Batches</a>
            <span aria-hidden="true">/</span>
            <span className="mono clip">{batch.id}</span>
          </div>
          <div className="row">
            <h1>{batch.name === '' ? '(no name)' : batch.name}</h1>
            <State status={batch.status} />
          </div>
        </div>
        <Downloads batchId={batch.id} name={batch.name} />
        <BatchActions progress={progress} />
      </div>
      {batch.cancel_reason !== undefined && (
        <p className="soft">
          {batch.settled_at_run_id === undefined ? 'Cancelled' : 'Stopped'}: {batch.cancel_reason}
        </p>
      )}
      <BatchRelations batch={batch} />
    </>
  );
}

function Downloads({ batchId, name }: { batchId: string; name: string }) {
  const [failure, setFailure] = useState<string>();
  const save = (format: Format): void => {
    download(batchId, format, name).catch((error: Error) => setFailure(error.message));
  };
  return (
    <div className="row" role="group" aria-label="Download the table of runs">
      <span className="small soft">Download</span>
      {FORMATS.map((it) => (
        <button key={it} type="button" onClick={() => save(it)}>
          {it}
        </button>
      ))}
      <Failure what="The file could not be made." detail={failure} />
    </div>
  );
}

function TimeLeft({ progress }: { progress: BatchStatusResponse }) {
  const { eta, stragglers = [], estimated_completion_time_mins: mins } = progress;
  const interval = eta === undefined ? '' : ` (${duration(1000 * eta.low)} to ${duration(1000 * eta.high)})`;
  return (
    <>
      <Stat name="Time left" value={eta === undefined ? minutes(mins) : duration(1000 * eta.median)} note={interval} />
      {stragglers.length > 0 && (
        <div className="stat">
          <dt>Stragglers</dt>
          <dd className="plain inline">
            {stragglers.map((it) => (
              <a key={it.job_id} href={hrefOf(['jobs', it.job_id])}>
                #{it.run_id} ({duration(1000 * it.running_secs)}){' '}
              </a>
            ))}
          </dd>
        </div>
      )}
    </>
  );
}

/** The time from the first claim to the end of the last run. */
function tookOf({ started_at: from, ended_at: to }: Batch): string {
  return from === undefined || to === undefined ? '–' : duration(Date.parse(to) - Date.parse(from));
}

function BatchFigures({ progress }: { progress: BatchStatusResponse }) {
  const { batch, jobs_by_status: counts } = progress;
  const ended = batch.total_jobs - counts.Pending - counts.Claimed - counts.Running;
  const isOpen = batch.status === 'Pending' || batch.status === 'Running';
  const share = batch.total_jobs === 0 ? 100 : Math.floor((ended / batch.total_jobs) * 100);
  return (
    <dl className="stats">
      <Stat name="Ended" value={count(ended)} note={` of ${count(batch.total_jobs)} (${share} %)`} />
      <Stat name="Completed" value={count(counts.Completed)} />
      <Stat
        name="Failed or timed out"
        value={count(counts.Failed + counts.Timeout)}
        note={batch.terminated_jobs === undefined ? '' : ` (${count(batch.terminated_jobs)} by early termination)`}
      />
      {isOpen ? (
        <>
          <Stat name="Rate" value={rate(progress.throughput_jobs_per_minute)} />
          <TimeLeft progress={progress} />
        </>
      ) : (
        <Stat name="Took" value={tookOf(batch)} />
      )}
      {(['created_at', 'started_at', 'ended_at'] as const).map((name) => (
        <Moment key={name} name={MOMENTS[name]} at={batch[name]} />
      ))}
    </dl>
  );
}
