/** The machines: their statecharts, their live rates, and one actor step by step. */
import diagrams from 'virtual:diagrams';
import { useEffect, useState } from 'react';
import type { DataMessage, MachineData } from '../../../src/contract/types.ts';
import { batchIdOf } from '../../../src/domain/ids.ts';
import { useTopic } from '../data/live.ts';
import type { Diagram } from '../../diagrams/types.ts';
import { DiagramView } from '../machines/diagram.tsx';
import { EventLog } from '../machines/event-log.tsx';
import { DiagramLegend, StateList } from '../machines/legend.tsx';
import { readRecording, type ReplayStep } from '../machines/replay.ts';
import { StepThrough } from '../machines/steps.tsx';
import { ChooseStudy, flowOf, timesOf, Totals, useTotals } from '../machines/study-totals.tsx';
import { useActor } from '../machines/use-actor.ts';
import { Empty, Failure, Panel } from '../parts/common.tsx';
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
  job: 'Job',
  batch: 'Batch',
  runner: 'Runner',
  notification: 'Notification',
  supervisor: 'Supervisor',
  attempt: 'Attempt',
  allocation: 'Allocation',
} as const;

interface PageProps {
  kind: string;
  actor: string | undefined;
  /** The study whose totals the job machine shows. */
  study: string | undefined;
}

export default function MachinesPage({ kind, actor, study }: PageProps) {
  const diagram = diagrams.find((it) => it.kind === kind) ?? diagrams[0]!;
  const [recording, setRecording] = useState<Recording>();
  return (
    <>
      <div className="head">
        <h1 className="grow">Machines</h1>
        <OpenRecording onOpen={(it) => (setRecording(it), go(hrefOf(['machines', it.kind])))} />
      </div>
      <nav className="tabs" aria-label="Machines">
        {diagrams.map((it) => (
          <a
            key={it.kind}
            href={hrefOf(['machines', it.kind])}
            aria-current={it.kind === diagram.kind ? 'page' : undefined}
          >
            {TITLES[it.kind]}
          </a>
        ))}
      </nav>
      {diagram.kind === 'allocation' ? (
        <Allocations diagram={diagram} actor={actor} />
      ) : diagram.kind === 'attempt' ? (
        <Attempts diagram={diagram} />
      ) : (
        <Machine
          diagram={diagram}
          actor={actor}
          study={diagram.kind === 'job' ? study : undefined}
          recording={recording}
          onClose={() => setRecording(undefined)}
        />
      )}
    </>
  );
}

interface Recording {
  kind: string;
  name: string;
  steps: ReplayStep[];
}

interface MachineProps {
  diagram: Diagram;
  actor: string | undefined;
  study: string | undefined;
  recording: Recording | undefined;
  onClose: () => void;
}

/** A machine of the coordinator, with its live feed. */
function Machine({ diagram, actor: chosen, study, recording, onClose }: MachineProps) {
  const { kind } = diagram;
  // There is one supervisor.
  const actor = kind === 'supervisor' ? kind : chosen;
  const live = useTopic(`machine/${kind}`, merge);
  const story = useActor(kind, actor);
  const opened = recording?.kind === kind ? recording : undefined;
  const shown = opened?.steps ?? story.steps;
  const [position, setPosition] = useState<number>();
  const at = Math.min(position ?? shown.length - 1, shown.length - 1);
  useEffect(() => setPosition(undefined), [actor, kind, recording]);
  const step = shown[at];
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
            lit={step?.to}
            taken={
              step?.event === undefined || !step.taken
                ? undefined
                : { from: step.from ?? '', event: step.event.type, to: step.to }
            }
          />
        </div>
        <DiagramLegend diagram={diagram} shows={study === undefined ? 'live' : 'totals'} />
      </section>
      <div className="columns">
        {opened !== undefined ? (
          <StepThrough title={opened.name} steps={shown} at={at} onMove={setPosition} onClose={onClose} />
        ) : (
          <Panel title={actor === undefined ? `One ${diagram.kind}` : <span className="mono">{actor}</span>} flush>
            {kind !== 'supervisor' && <ChooseActor kind={diagram.kind} actor={actor} study={study} />}
            <Failure what={`This ${diagram.kind} could not be read.`} detail={story.error} />
            {actor === undefined ? (
              <Empty title={`Choose a ${diagram.kind}: type its id, or pick an event beside.`}>
                Its state is then lit above, and its events can be stepped through.
              </Empty>
            ) : (
              story.error === undefined && <StepThrough steps={shown} at={at} onMove={setPosition} />
            )}
          </Panel>
        )}
        <Panel title={study === undefined ? 'Latest events' : 'Latest events of this study'} flush>
          <EventLog
            kind={diagram.kind}
            study={study}
            events={study === undefined ? events : events.filter((it) => batchIdOf(it.id) === study)}
          />
        </Panel>
      </div>
      <Panel title={`States of the ${kind}`} flush>
        <StateList diagram={diagram} counts={counts} totals={totals.answer} />
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

function ChooseActor({ kind, actor, study }: { kind: string; actor: string | undefined; study: string | undefined }) {
  return (
    <form
      className="row choose"
      onSubmit={(event) => {
        event.preventDefault();
        const id = new FormData(event.currentTarget).get('id') as string;
        go(hrefOf(id.trim() === '' ? ['machines', kind] : ['machines', kind, id.trim()], { study }));
      }}
    >
      <label className="grow">
        <span className="visually-hidden">Id of a {kind}</span>
        <input key={actor} name="id" className="mono" defaultValue={actor} placeholder={`Id of a ${kind}`} />
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

function OpenRecording({ onOpen }: { onOpen: (recording: Recording) => void }) {
  const [failure, setFailure] = useState<string>();
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      onOpen({ ...readRecording(await file.text()), name: file.name });
      setFailure(undefined);
    } catch (error) {
      setFailure(`${file.name}: ${(error as Error).message}`);
    }
  };
  return (
    <>
      <Failure what="The recording could not be opened." detail={failure} />
      <label className="button">
        Open a recording …
        <input
          className="visually-hidden"
          type="file"
          accept=".json"
          onChange={(event) => void open(event.target.files?.[0])}
        />
      </label>
    </>
  );
}
