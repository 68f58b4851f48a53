/** The page of reference: the statecharts of all machines, with their live rates, or the totals of one study. */
import diagrams from 'virtual:diagrams';
import { useEffect, useState } from 'react';
import type { DataMessage, LauncherListResponse, MachineData } from '../../../src/contract/types.ts';
import { batchIdOf } from '../../../src/domain/ids.ts';
import { useRequest } from '../data/api.ts';
import { useRefresh } from '../data/use-refresh.ts';
import { useTopic } from '../data/live.ts';
import type { Diagram } from '../../diagrams/types.ts';
import { DiagramView } from '../machines/diagram.tsx';
import { EventLog } from '../machines/event-log.tsx';
import { DiagramLegend, StateList } from '../machines/legend.tsx';
import { ChooseStudy, flowOf, timesOf, Totals, useTotals } from '../machines/study-totals.tsx';
import { Failure, Panel } from '../parts/common.tsx';
import { go, hrefOf } from '../router.ts';
import { Allocations } from './allocations.tsx';
import { Attempts } from './attempts.tsx';

interface Activity {
  counts: Record<string, number>;
  /** Counts of the last seconds, newest last. */
  windows: { at: number; flow: Record<string, number> }[];
  events: MachineData['events'];
}

const LINES = 60;
const WINDOW_MS = 5_000;

function merge(before: Activity | undefined, message: DataMessage<MachineData>): Activity {
  const { counts, flow, events } = message.data;
  const at = Date.now();
  const old = message.type === 'snapshot' ? [] : (before?.windows ?? []).filter((it) => at - it.at < WINDOW_MS);
  return {
    counts,
    windows: [...old, { at, flow }],
    events: [...(message.type === 'snapshot' ? [] : (before?.events ?? [])), ...events].slice(-LINES),
  };
}

const TITLES = {
  job: 'Run',
  batch: 'Study',
  runner: 'Runner',
  notification: 'Notification',
  supervisor: 'Supervisor',
  attempt: 'Attempt',
  allocation: 'Allocation',
} as const;

interface PageProps {
  kind: string;
  /** The study whose totals the chart of the run shows. */
  study: string | undefined;
}

export default function MachinesPage({ kind, study }: PageProps) {
  const round = useRefresh(true);
  const launchers = useRequest<LauncherListResponse>('/launchers', round).data?.launchers ?? [];
  // Without a launcher there are no allocations.
  const charts = diagrams.filter((it) => it.kind !== 'allocation' || launchers.length > 0 || kind === 'allocation');
  const diagram = diagrams.find((it) => it.kind === kind) ?? diagrams[0]!;
  return (
    <>
      <div className="head">
        <h1 className="grow">Statecharts</h1>
        <label className="row">
          <span className="small soft">Chart of the</span>
          <select value={diagram.kind} onChange={(event) => go(hrefOf(['machines', event.target.value]))}>
            {charts.map((it) => (
              <option key={it.kind} value={it.kind}>
                {TITLES[it.kind]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {diagram.kind === 'allocation' ? (
        <Allocations diagram={diagram} launchers={launchers} />
      ) : diagram.kind === 'attempt' ? (
        <Attempts diagram={diagram} />
      ) : (
        <Machine key={diagram.kind} diagram={diagram} study={diagram.kind === 'job' ? study : undefined} />
      )}
    </>
  );
}

/** A machine of the coordinator, with its live feed. */
function Machine({ diagram, study }: { diagram: Diagram; study: string | undefined }) {
  const { kind } = diagram;
  const live = useTopic(`machine/${kind}`, merge);
  const rates = useRates(live.data?.windows);
  const totals = useTotals(study);
  const counts = (study === undefined ? live.data?.counts : totals.counts) ?? {};
  const events = live.data?.events ?? [];
  return (
    <>
      <Failure what="The machine could not be watched." detail={live.error} />
      <section className="panel" aria-label={`Statechart of the ${kind}`}>
        {kind === 'job' && <ChooseStudy study={study} />}
        <Failure what="The study could not be read." detail={totals.error} />
        {study !== undefined && totals.answer !== undefined && <Totals of={totals.answer} />}
        <div className="scroll canvas" tabIndex={0} role="region" aria-label={`Statechart of the ${kind}, scrollable`}>
          <DiagramView
            diagram={diagram}
            counts={counts}
            flow={study === undefined ? rates : flowOf(totals.answer)}
            unit={study === undefined ? 'rate' : 'total'}
            times={timesOf(totals.answer)}
          />
        </div>
        <DiagramLegend diagram={diagram} shows={study === undefined ? 'live' : 'totals'} />
      </section>
      <Panel title={`States of the ${kind}`} flush>
        <StateList diagram={diagram} counts={counts} totals={totals.answer} />
      </Panel>
      <Panel title={study === undefined ? 'Latest events' : 'Latest events of this study'} flush>
        <EventLog
          kind={kind}
          events={study === undefined ? events : events.filter((it) => batchIdOf(it.id) === study)}
        />
      </Panel>
    </>
  );
}

/** Returns events per second over the last seconds; falls to zero without events. */
function useRates(windows: Activity['windows'] | undefined): Record<string, number> {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = window.setInterval(() => tick((it) => it + 1), 1_000);
    return () => window.clearInterval(timer);
  }, []);
  const now = Date.now();
  const sums: Record<string, number> = {};
  for (const { at, flow } of windows ?? []) {
    if (now - at > WINDOW_MS) continue;
    for (const [transition, times] of Object.entries(flow))
      sums[transition] = (sums[transition] ?? 0) + times / (WINDOW_MS / 1_000);
  }
  return sums;
}
