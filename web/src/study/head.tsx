/** The head of a study's page: the answer, name, state, progress, end, actions and the bar of its runs. */
import { useState } from 'react';
import type { BatchStatusResponse, StudyAnswer } from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import { download, FORMATS, type Format } from '../data/download.ts';
import { saveEvidence, saveReport } from '../data/report.ts';
import { Failure } from '../parts/common.tsx';
import { Menu } from '../parts/menu.tsx';
import { State, StatusBar } from '../parts/status.tsx';
import { clock, count, duration } from '../parts/time.tsx';
import { changeQuery, hrefOf } from '../router.ts';
import { askToNotify, notifyPermission } from '../title.ts';
import { BatchActions, BatchRelations, Labels } from './actions.tsx';
import { isOpen, percent, shareOf, stateOf } from '../parts/progress.ts';
import { RoundBar } from '../rounds/bar.tsx';
import { WaitingSince } from '../rounds/waiting.tsx';
import { Answer } from './answer.tsx';
import { CodeLine } from './code-line.tsx';

interface Props {
  progress: BatchStatusResponse;
  answer: StudyAnswer | undefined;
  table: RunTable | undefined;
}

export function StudyHead({ progress, answer, table }: Props) {
  const { batch } = progress;
  const isOk = answer?.level === 'ok';
  return (
    <div className={isOk ? 'study-head ok' : 'study-head'}>
      <Answer batchId={batch.id} answer={answer} />
      <div className="head">
        <div className="grow row title">
          <h1>{batch.name === '' ? '(no name)' : batch.name}</h1>
          <State status={stateOf(batch)} />
          {batch.waiting_for_rows === true ? (
            <WaitingSince batch={batch} />
          ) : (
            <strong>{percent(shareOf(progress))}</strong>
          )}
          <End progress={progress} />
          {batch.reused_jobs !== undefined && (
            <span className="soft" title="Runs that were not executed: they have the results of earlier runs">
              {count(batch.reused_jobs)} reused
            </span>
          )}
          <CodeLine progress={progress} />
          <Labels batch={batch} />
        </div>
        {isOpen(batch) && <NotifyMe />}
        <Export batchId={batch.id} name={batch.name} />
        <button type="button" onClick={() => changeQuery({ file: 'open' })}>
          Study file
        </button>
        <a className="button" href={hrefOf(['inspect', 'batch', batch.id])}>
          Inspect
        </a>
        <BatchActions progress={progress} />
      </div>
      {batch.stopped_at_run_id !== undefined && <p className="soft">Stopped: {batch.cancel_reason}</p>}
      <BatchRelations batch={batch} />
      {batch.budget === undefined || table === undefined ? (
        <StatusBar batchId={batch.id} counts={progress.jobs_by_status} isOk={isOk} large />
      ) : (
        <RoundBar progress={progress} table={table} isOk={isOk} />
      )}
    </div>
  );
}

/** The time at which a study will be done, or the time that it took. */
function End({ progress }: { progress: BatchStatusResponse }) {
  const { batch, eta, estimated_completion_time_mins: mins, stragglers = [] } = progress;
  if (!isOpen(batch)) {
    const { started_at: from, ended_at: to } = batch;
    return (
      <span className="soft">
        {from === undefined || to === undefined
          ? 'never started'
          : `took ${duration(Date.parse(to) - Date.parse(from))}`}
        {to !== undefined && `, ended ${clock(Date.parse(to))}`}
      </span>
    );
  }
  if (batch.waiting_for_rows === true) return null;
  const leftMs = eta === undefined ? (mins === undefined ? undefined : mins * 60_000) : eta.median * 1_000;
  if (leftMs === undefined) return null;
  const range =
    eta === undefined ? undefined : `80 % interval: ${duration(1_000 * eta.low)} to ${duration(1_000 * eta.high)}`;
  const names = stragglers.map((it) => `#${it.run_id} (${duration(1_000 * it.running_secs)})`);
  return (
    <>
      <span className="soft" title={range}>
        {batch.budget === undefined || batch.closed === true ? 'done' : 'these runs end'} {clock(Date.now() + leftMs)}{' '}
        (in {leftMs === 0 ? 'under 1 min' : duration(leftMs)})
      </span>
      {stragglers.length > 0 && (
        <a
          className="small"
          href={hrefOf(['batches', batch.id, 'runs'], { status: 'Running' })}
          title={`Running longer than 3 times the median: ${names.join(', ')}`}
        >
          {stragglers.length} straggler{stragglers.length === 1 ? '' : 's'}
        </a>
      )}
    </>
  );
}

/** Asks the browser to notify when the study ends, while this page is open and not seen. The permission is read once: it takes a browser up to 60 ms. */
function NotifyMe() {
  const [permission, setPermission] = useState(notifyPermission);
  if (permission !== 'default') return null;
  return (
    <button
      type="button"
      className="quiet"
      title="A notification of the browser when the study has ended, while this tab is in the background"
      onClick={() => void askToNotify().then(setPermission)}
    >
      Notify me
    </button>
  );
}

function Export({ batchId, name }: { batchId: string; name: string }) {
  const [failure, setFailure] = useState<string>();
  const failed = (error: Error): void => setFailure(error.message);
  const save = (format: Format): void => void download(batchId, format, name).catch(failed);
  return (
    <>
      <Menu label="Export">
        {FORMATS.map((it) => (
          <button key={it} type="button" className="quiet" onClick={() => save(it)}>
            {it}
          </button>
        ))}
        <button type="button" className="quiet" onClick={() => void saveReport(batchId, name).catch(failed)}>
          Report
        </button>
        <button type="button" className="quiet" onClick={() => void saveEvidence(batchId, name).catch(failed)}>
          Evidence for a review
        </button>
      </Menu>
      <Failure what="The file could not be made." detail={failure} />
    </>
  );
}
