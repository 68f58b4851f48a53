/** The telemetry of a running run as it comes: asked for every second while the page is visible, with the limits of conditions. */
import { useEffect, useState } from 'react';
import type { BatchSubmission, Job, LiveTelemetry as View } from '../../../src/contract/types.ts';
import { request } from '../data/api.ts';
import { Empty, Panel, Waiting } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { livePlot, notesOf, startOf } from './live-plot.ts';

const EVERY_MS = 1_000;
/** Pause after a refusal: the run may have just begun, or its runner may come back. */
const AGAIN_MS = 3_000;

interface Live {
  view?: View;
  /** Why there is no newer view. */
  problem?: Error;
}

/** Asks again and again while `isAsked` and the page is visible. */
function useLive(jobId: string, isAsked: boolean): Live {
  const [live, setLive] = useState<Live>({});
  useEffect(() => setLive({}), [jobId]);
  useEffect(() => {
    if (!isAsked) return undefined;
    const abort = new AbortController();
    let timer: number | undefined;
    let isDue = true;
    const ask = async (): Promise<void> => {
      if (!isDue || document.hidden) return;
      isDue = false;
      let waitMs = EVERY_MS;
      try {
        const { data } = await request<View>(`/jobs/${jobId}/telemetry/live`, { signal: abort.signal });
        if (!abort.signal.aborted) setLive({ view: data });
      } catch (error) {
        if (abort.signal.aborted) return;
        setLive((before) => ({ ...before, problem: error as Error }));
        waitMs = AGAIN_MS;
      }
      timer = window.setTimeout(() => {
        isDue = true;
        void ask();
      }, waitMs);
    };
    const look = (): void => void ask();
    document.addEventListener('visibilitychange', look);
    look();
    return () => {
      abort.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [jobId, isAsked]);
  return live;
}

/** The live telemetry of a run; empty for a run that was not running while this page was open. */
export function LiveTelemetry({ job, submission }: { job: Job; submission: BatchSubmission | undefined }) {
  const isRunning = job.status === 'Running';
  const isKept = submission?.config.telemetry.live === true;
  const { view, problem } = useLive(job.id, isRunning && isKept);
  if (view === undefined) {
    if (!isRunning || submission === undefined) return null;
    if (!isKept) {
      return (
        <Panel title="Live telemetry">
          <p className="soft">
            The study does not keep it: submit it with <code>live: true</code> in <code>telemetry</code>.
          </p>
        </Panel>
      );
    }
    return (
      <Panel title="Live telemetry">
        {problem === undefined ? <Waiting what="Reading the telemetry" /> : <p className="soft">{problem.message}</p>}
      </Panel>
    );
  }
  const { variables, conditions } = view;
  const drawn = variables.reduce((sum, it) => sum + it.values.length, 0);
  const came = variables.reduce((sum, it) => sum + it.samples, 0);
  const start = startOf(variables);
  return (
    <Panel
      title="Live telemetry"
      aside={
        <span
          className="soft small"
          title="Every point is a sample; the least and the greatest of each span of time are drawn"
        >
          down-sampled live view, {count(drawn)} of {count(came)} values
        </span>
      }
    >
      <div className="stack">
        {!isRunning && <p className="soft">The run is no longer running: this is the last view of it.</p>}
        {isRunning && problem !== undefined && <p className="soft">No newer view: {problem.message}</p>}
        {notesOf(view).map((it) => (
          <p key={it} className="soft small">
            {it}
          </p>
        ))}
        {variables.length === 0 && <Empty title="The simulation has sent no telemetry yet." />}
        {variables.map((it) => {
          const { times, series, notes } = livePlot(it, conditions, start);
          return (
            <div key={it.name}>
              {times.length > 0 && (
                <TimeSeries
                  label={`${it.name} over the time of the run, in seconds, live`}
                  times={times}
                  across="seconds"
                  height={140}
                  series={series}
                />
              )}
              <p className="soft small">
                {times.length === 0 && `${it.name}: `}
                {notes.join(' ')}
              </p>
            </div>
          );
        })}
      </div>
    </Panel>
  );
}
