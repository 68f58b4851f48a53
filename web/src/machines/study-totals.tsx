/** The totals of one study for the statechart of the job: transitions and times in states, from the histories of its ended runs. */
import type { Batch, BatchStatusResponse, StudyTransitions } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';
import { useAnswer } from '../data/use-answer.ts';
import { useRefresh } from '../data/use-refresh.ts';
import { count, Time } from '../parts/time.tsx';
import { changeQuery } from '../router.ts';

/** Studies to choose from; any other one can be in the address. */
const LISTED = 50;

interface StudyTotals {
  /** Runs by state. */
  counts: Record<string, number> | undefined;
  answer: StudyTransitions | undefined;
  error: string | undefined;
}

export function useTotals(study: string | undefined): StudyTotals {
  const round = useRefresh(study !== undefined);
  const path = study === undefined ? undefined : `/batches/${encodeURIComponent(study)}`;
  const progress = useRequest<BatchStatusResponse>(path, round);
  const answer = useAnswer<StudyTransitions>(progress.data, 'transitions');
  return {
    counts: progress.data?.jobs_by_status,
    answer: answer.data,
    error: progress.error?.message ?? answer.error?.message,
  };
}

/** Numbers by `from|event|to`, as the drawing has them. */
export const flowOf = (answer: StudyTransitions | undefined): Record<string, number> =>
  Object.fromEntries((answer?.transitions ?? []).map((it) => [`${it.from}|${it.event}|${it.to}`, it.count]));

/** Mean seconds in each state. */
export const timesOf = (answer: StudyTransitions | undefined): Record<string, number> | undefined =>
  answer && Object.fromEntries(answer.states.map((it) => [it.state, it.mean_secs]));

/** The period and the runs that the totals cover. */
export function Totals({ of: answer }: { of: StudyTransitions }) {
  const { from, to, of, n_used: used, omitted_attempts: omitted, excluded } = answer;
  return (
    <p className="small soft totals" role="status">
      Totals of {used === of ? `all ${count(of)} runs` : `the ${count(used)} of ${count(of)} runs that have ended`}
      {from !== null && to !== null && (
        <>
          , from <Time at={from} /> to <Time at={to} />
        </>
      )}
      .{(excluded['open'] ?? 0) > 0 && ` ${count(excluded['open']!)} open runs are not counted yet.`}
      {omitted > 0 && ` ${count(omitted)} older attempts are no longer recorded and not counted.`}
    </p>
  );
}

export function ChooseStudy({ study }: { study: string | undefined }) {
  const { data: listed = [] } = useRequest<Batch[]>(`/batches?limit=${LISTED}`);
  const isListed = study === undefined || listed.some((it) => it.id === study);
  return (
    <label className="row choose">
      <span className="small soft">Numbers of</span>
      <select value={study ?? ''} onChange={(event) => changeQuery({ study: event.target.value || undefined })}>
        <option value="">all studies, live rates</option>
        {!isListed && <option value={study}>{study}</option>}
        {listed.map((it) => (
          <option key={it.id} value={it.id}>
            {it.name}, {it.id.slice(0, 8)}
          </option>
        ))}
      </select>
    </label>
  );
}
