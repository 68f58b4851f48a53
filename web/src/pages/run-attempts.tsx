/** The attempts of a run: how each ended, on which runner, when. */
import type { Attempt, Job, JobHistory } from '../../../src/contract/types.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import { hrefOf } from '../router.ts';
import { stateOfAttempt } from '../parts/attempt-state.ts';
import { Command, Empty } from '../parts/common.tsx';
import { here } from '../parts/here.ts';
import { duration, Time } from '../parts/time.tsx';

export function Attempts({ history, job }: { history: JobHistory; job: Job }) {
  if (job.reused_from !== undefined) {
    const { job_id: id, batch_id: batchId, ended_at: ended } = job.reused_from;
    return (
      <div className="stack reused">
        <p>
          Not executed: it has the result of <a href={hrefOf(['jobs', id])}>run #{runIdOf(id)}</a> of study{' '}
          <a href={hrefOf(['batches', batchId])} className="mono">
            {batchId.slice(0, 8)}
          </a>
          , which ended <Time at={ended} /> with the same code, parameters, seed and environment.
        </p>
      </div>
    );
  }
  if (history.attempts.length === 0) {
    return (
      <Empty title={job.status === 'Pending' ? 'Waiting for a runner.' : 'It was never handed out.'}>
        {job.status === 'Pending' && <Command text={`simbatch status ${job.batch_id} ${here()}`} />}
      </Empty>
    );
  }
  return (
    <>
      {history.attempts_omitted > 0 && (
        <p className="skeleton">{history.attempts_omitted} earlier attempts are not kept.</p>
      )}
      <ol className="attempts">
        {history.attempts.map((it) => (
          <AttemptItem key={it.attempt} attempt={it} jobId={job.id} shown={job.error_message} />
        ))}
      </ol>
      <p className="small soft attempts-note">
        {history.retries} of {job.max_retries} retries used{history.losses > 0 && `, ${history.losses} runners lost`}
        {history.infrastructure_faults > 0 && `, ${history.infrastructure_faults} infrastructure faults`}.
      </p>
    </>
  );
}

/** `shown`: a message that the page shows already. */
function AttemptItem({ attempt: it, jobId, shown }: { attempt: Attempt; jobId: string; shown: string | undefined }) {
  const state = stateOfAttempt(it);
  const tookMs =
    it.started_at === undefined || it.ended_at === undefined
      ? Number.NaN
      : Date.parse(it.ended_at) - Date.parse(it.started_at);
  return (
    <li>
      <i className={`dot s-${state}`} aria-hidden="true" />
      <div>
        <div className="row">
          <strong>{it.outcome ?? state.toLowerCase()}</strong>
          {it.reason !== undefined && <span className="chip">{it.reason.replaceAll('_', ' ')}</span>}
          <span className="soft">
            <a href={hrefOf(['inspect', 'job', jobId], { attempt: String(it.attempt) })}>attempt {it.attempt}</a> on{' '}
            {it.runner_id}
          </span>
        </div>
        <div className="small soft">
          claimed <Time at={it.claimed_at} />
          {it.started_at !== undefined && (
            <>
              , started <Time at={it.started_at} />
            </>
          )}
          {it.ended_at !== undefined && (
            <>
              , ended <Time at={it.ended_at} />
            </>
          )}
          {!Number.isNaN(tookMs) && `, ran ${duration(tookMs)}`}
        </div>
        {it.message !== undefined && it.message !== shown && <pre className="message-text small">{it.message}</pre>}
      </div>
    </li>
  );
}
