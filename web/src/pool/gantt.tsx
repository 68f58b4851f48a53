/** A lane for each slot of each runner: the runs that it has executed lately and executes now. */
import { useMemo } from 'react';
import type { PoolHistory, Runner } from '../../../src/contract/types.ts';
import { usableSlots } from '../../../src/domain/scheduling.ts';
import { useRequest } from '../data/api.ts';
import { useRefresh } from '../data/use-refresh.ts';
import { Empty, Panel } from '../parts/common.tsx';
import { clock, duration } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { lanesOf, utilisation, type Bar } from './lanes.ts';

/** Runners and lanes with a row each; more are not readable. */
const MOST_RUNNERS = 20;
const MOST_LANES = 32;
/** The shown time. */
const WINDOW_MS = 600_000;
const LEAST_MS = 10_000;

export const historyPath = (runners: readonly string[]): string =>
  `/pool/history?${runners.map((it) => `runner_id=${encodeURIComponent(it)}`).join('&')}`;

export function Gantt({ runners, now }: { runners: readonly Runner[]; now: number }) {
  const shown = runners.filter((it) => it.status !== 'Offline').slice(0, MOST_RUNNERS);
  const round = useRefresh(true);
  const ids = shown.map((it) => it.id);
  const { data } = useRequest<PoolHistory>(ids.length === 0 ? undefined : historyPath(ids), round);
  const rows = useMemo(
    () => rowsOf(shown, data?.attempts ?? [], now),
    [shown.map((it) => it.current_jobs).join(), data, round],
  );
  const first = Math.min(...rows.map((it) => it.first));
  // Only the latest attempts of a runner with many short runs are known: before them nothing is drawn for any runner.
  const known = Math.max(...rows.map((it) => (it.isCut ? it.first : -Infinity)));
  const from = Math.max(now - WINDOW_MS, known, Math.min(first, now - LEAST_MS));
  if (shown.length === 0) return null;
  return (
    <Panel
      title="Slots"
      aside={<span className="small soft">the last {duration(Math.round((now - from) / 1_000) * 1_000)}</span>}
    >
      {!Number.isFinite(first) ? (
        <Empty title="No run has been executed since the coordinator started." />
      ) : (
        <div className="gantt">
          {rows.map(({ runner, lanes, first: begin }) => (
            <div key={runner.id} className="gantt-runner">
              <span className="gantt-name">
                <a className="clip" href={hrefOf(['runners', runner.id])} title={runner.name}>
                  {runner.name}
                </a>
                <span className="small soft">
                  {Math.round(100 * utilisation(lanes, Math.max(from, begin), now))} % used
                </span>
              </span>
              <span className="gantt-lanes">
                {lanes.slice(0, MOST_LANES).map((lane, at) => (
                  <Lane key={at} lane={lane} from={from} to={now} />
                ))}
                {lanes.length > MOST_LANES && (
                  <span className="small soft">and {lanes.length - MOST_LANES} more slots</span>
                )}
              </span>
            </div>
          ))}
          <div className="gantt-runner small soft" aria-hidden="true">
            <span />
            <span className="gantt-axis">
              <span>{clock(from)}</span>
              <span>now</span>
            </span>
          </div>
        </div>
      )}
    </Panel>
  );
}

interface Row {
  runner: Runner;
  lanes: Bar[][];
  /** Start of the first known attempt; infinite without one. */
  first: number;
  /** True when earlier attempts are not kept. */
  isCut: boolean;
}

/** Attempts that the coordinator keeps of each runner. */
const KEPT = 240;

function rowsOf(runners: readonly Runner[], attempts: PoolHistory['attempts'], now: number): Row[] {
  return runners.map((runner) => {
    const ended = attempts
      .filter((it) => it.runner_id === runner.id)
      .map((it): Bar => ({
        jobId: it.job_id,
        from: Date.parse(it.started_at),
        to: Date.parse(it.ended_at),
        outcome: it.outcome,
      }));
    // The start of a held run is not known here; it is not before the end of the last attempt of its lane.
    const slots = usableSlots(runner.capabilities, runner.slots_lost);
    const lanes = lanesOf(ended, slots);
    const held = runner.current_jobs.slice(0, slots);
    const idle = [...lanes]
      .sort((a, b) => (a.at(-1)?.to ?? 0) - (b.at(-1)?.to ?? 0))
      .slice(-held.length || lanes.length);
    for (const [at, jobId] of held.entries()) {
      const lane = idle[at];
      if (lane !== undefined)
        lane.push({ jobId, from: lane.at(-1)?.to ?? now - 1_000, to: Infinity, outcome: 'running' });
    }
    const first = Math.min(...lanes.flat().map((it) => it.from));
    return { runner, lanes, first, isCut: ended.length >= KEPT };
  });
}

const STATES: Readonly<Record<string, string>> = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  lost: 'Failed',
  timeout: 'Timeout',
  cancelled: 'Cancelled',
  released: 'Pending',
};

function Lane({ lane, from, to }: { lane: readonly Bar[]; from: number; to: number }) {
  const place = (time: number): number => (100 * (Math.min(Math.max(time, from), to) - from)) / (to - from);
  return (
    <span className="lane">
      {lane
        .filter((it) => it.to > from)
        .map((it) => {
          const run = Number.parseInt(it.jobId.slice(-8), 16) - 1;
          const took = it.to === Infinity ? 'is running' : `${it.outcome} after ${duration(it.to - it.from)}`;
          return (
            <a
              key={`${it.jobId} ${it.from}`}
              className={`s-${STATES[it.outcome] ?? 'Pending'}`}
              style={{ left: `${place(it.from)}%`, width: `max(2px, ${place(it.to) - place(it.from)}% - 1px)` }}
              href={hrefOf(['jobs', it.jobId])}
              title={`run #${run} ${took}`}
              aria-label={`run ${run} ${took}`}
              tabIndex={-1}
            />
          );
        })}
    </span>
  );
}
