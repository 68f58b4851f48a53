/** The machines: their statecharts, their live rates, and one actor step by step. */
import diagrams from 'virtual:diagrams';
import { useEffect, useMemo, useState } from 'react';
import type { DataMessage, Job, JobHistory, MachineData } from '../../../src/contract/types.ts';
import { request } from '../data/api.ts';
import { useTopic, useTopicListener } from '../data/live.ts';
import type { Diagram } from '../../diagrams/types.ts';
import { DiagramView } from '../machines/diagram.tsx';
import { readRecording, replayJob, type ReplayStep } from '../machines/replay.ts';
import { DiagramLegend, EventLog } from '../machines/event-log.tsx';
import { StepThrough } from '../machines/steps.tsx';
import { Empty, Failure, Panel } from '../parts/common.tsx';
import { go, hrefOf } from '../router.ts';
import { Allocations } from './allocations.tsx';

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
  supervisor: 'Supervisor',
  allocation: 'Allocation',
} as const;

export default function MachinesPage({ kind, actor }: { kind: string; actor: string | undefined }) {
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
      ) : (
        <Machine diagram={diagram} actor={actor} recording={recording} onClose={() => setRecording(undefined)} />
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
  recording: Recording | undefined;
  onClose: () => void;
}

/** A machine of the coordinator, with its live feed. */
function Machine({ diagram, actor, recording, onClose }: MachineProps) {
  const { kind } = diagram;
  const live = useTopic(`machine/${kind}`, merge);
  const story = useActor(kind, actor);
  const opened = recording?.kind === kind ? recording : undefined;
  const shown = opened?.steps ?? story.steps;
  const [position, setPosition] = useState<number>();
  const at = Math.min(position ?? shown.length - 1, shown.length - 1);
  useEffect(() => setPosition(undefined), [actor, kind, recording]);
  const step = shown[at];
  const flow = useRates(live.data?.windows);
  return (
    <>
      <Failure what="The machine could not be watched." detail={live.error} />
      <section className="panel" aria-label={`Statechart of the ${diagram.kind}`}>
        <div
          className="scroll canvas"
          tabIndex={0}
          role="region"
          aria-label={`Statechart of the ${diagram.kind}, scrollable`}
        >
          <DiagramView
            diagram={diagram}
            counts={live.data?.counts ?? {}}
            flow={flow}
            lit={step?.to}
            taken={
              step?.event === undefined || !step.taken
                ? undefined
                : { from: step.from ?? '', event: step.event.type, to: step.to }
            }
          />
        </div>
        <DiagramLegend kind={kind} />
      </section>
      <div className="columns">
        {opened !== undefined ? (
          <StepThrough title={opened.name} steps={shown} at={at} onMove={setPosition} onClose={onClose} />
        ) : diagram.kind === 'supervisor' ? null : (
          <Panel title={actor === undefined ? `One ${diagram.kind}` : <span className="mono">{actor}</span>} flush>
            <ChooseActor kind={diagram.kind} actor={actor} />
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
        <Panel title="Latest events" flush>
          <EventLog kind={diagram.kind} events={live.data?.events ?? []} />
        </Panel>
      </div>
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

interface ActorState {
  steps: ReplayStep[];
  error: string | undefined;
}

const NO_STEPS: ReplayStep[] = [];

/** The known events of an actor: the whole history of a job, or the events from now on of others. */
function useActor(kind: string, actor: string | undefined): ActorState {
  const [state, setState] = useState<ActorState & { topic: string }>();
  const topic: `machine/${string}/${string}` | undefined =
    actor === undefined || kind === 'supervisor' ? undefined : `machine/${kind}/${actor}`;
  useTopicListener(topic, (message) => {
    if (message.type === 'error') setState({ steps: NO_STEPS, error: message.detail, topic: topic! });
    else if (message.type === 'resumed') return;
    else if ('value' in message.data) {
      const { value, context, now } = message.data;
      const present: ReplayStep = { event: undefined, from: undefined, to: value, context, now, taken: true };
      setState({ steps: [present], error: undefined, topic: topic! });
      if (kind === 'job')
        void past(actor!).then(
          (steps) =>
            setState((it) => (it?.topic === topic ? { ...it!, steps: [...steps, ...it!.steps.slice(1)] } : it)),
          () => {},
        );
    } else {
      const received = message.data.steps.map(({ event, from, ...it }): ReplayStep => ({
        event,
        from,
        ...it,
        taken: true,
      }));
      setState((it) => (it?.topic === topic ? { ...it!, steps: [...it!.steps, ...received].slice(-500) } : it));
    }
  });
  return useMemo(
    () => (state?.topic === topic && state !== undefined ? state : { steps: NO_STEPS, error: undefined }),
    [state, topic],
  );
}

async function past(jobId: string): Promise<ReplayStep[]> {
  const [job, history] = await Promise.all([
    request<Job>(`/jobs/${jobId}`),
    request<JobHistory>(`/jobs/${jobId}/history`),
  ]);
  return replayJob(job.data, history.data);
}

function ChooseActor({ kind, actor }: { kind: string; actor: string | undefined }) {
  return (
    <form
      className="row choose"
      onSubmit={(event) => {
        event.preventDefault();
        const id = new FormData(event.currentTarget).get('id') as string;
        go(hrefOf(id.trim() === '' ? ['machines', kind] : ['machines', kind, id.trim()]));
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
