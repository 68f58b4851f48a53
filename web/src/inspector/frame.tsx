/** The frame of the inspector: sequence, charts at the instant, log, and one event with its difference, refusals and trials. */
import { compact } from 'virtual:diagrams';
import { useCallback, useState, type ReactNode } from 'react';
import { DiagramView } from '../machines/diagram.tsx';
import { State } from '../parts/status.tsx';
import { EventDetail } from './detail.tsx';
import { Log } from './log.tsx';
import { Player } from './player.tsx';
import { RefusedList } from './refused-list.tsx';
import { Sequence, type LinkedBar, type Row } from './sequence.tsx';
import { contextAt, opening, sameLane, stateAt, stepText, type Lane, type StoryEvent } from './story.ts';
import { WhatIf } from './what-if.tsx';

/** An actor whose statechart is shown. */
export interface Shown {
  lane: Lane;
  name: string;
}

interface Props {
  head: ReactNode;
  rows: readonly Row[];
  bars: readonly LinkedBar[];
  events: readonly StoryEvent[];
  actors: readonly Shown[];
  since: number | undefined;
  /** The attempt at whose end the page opens. */
  attempt?: number | undefined;
  /** A further tab beside the event, first of all. */
  list?: { title: string; content: ReactNode } | undefined;
}

export function Inspector({ head, rows, bars, events: live, actors, since, attempt, list }: Props) {
  const [position, setPosition] = useState<number>();
  const [held, setHeld] = useState<readonly StoryEvent[]>();
  const [follows, setFollows] = useState(false);
  const events = held ?? live;
  const first = follows ? events.length - 1 : opening(events, attempt, actors[0]?.lane);
  const at = Math.min(position ?? first, events.length - 1);
  const move = useCallback((to: number | undefined) => {
    setPosition(to);
    setFollows(to === undefined);
  }, []);
  return (
    <div className="inspector">
      <div className="inspector-head">
        {head}
        <Player events={events} at={at} onMove={move} />
      </div>
      <Sequence rows={rows} bars={bars} events={events} at={at} onMove={move} />
      <div className="inspector-columns">
        <div className="charts">
          {actors.map((it) => (
            <Chart key={`${it.lane.kind} ${it.lane.id}`} shown={it} events={events} at={at} />
          ))}
        </div>
        <Log
          events={events}
          at={at}
          onMove={move}
          isPaused={held !== undefined}
          onPause={(isPaused) => setHeld(isPaused ? live : undefined)}
        />
        <Side events={events} at={at} actors={actors} since={since} list={list} onMove={move} />
      </div>
    </div>
  );
}

/** The statechart of an actor, with its state and last transition at the chosen step. */
function Chart({ shown: { lane, name }, events, at }: { shown: Shown; events: readonly StoryEvent[]; at: number }) {
  const diagram = compact.find((it) => it.kind === lane.kind)!;
  const state = stateAt(events, at, lane);
  const event = events[at];
  const isOwn = event !== undefined && sameLane(event.lane, lane);
  const { from, to } = event ?? {};
  const taken =
    isOwn && event.result === 'taken' && from !== undefined && to !== undefined
      ? { from, event: event.type, to }
      : undefined;
  return (
    <section className="panel chart" aria-label={`Statechart of ${name}`}>
      <header className="row">
        <h2 className="grow clip">{name}</h2>
        {state?.to === undefined ? (
          <span className="small soft">not known at this step</span>
        ) : (
          <State status={state.to} />
        )}
      </header>
      <div className="scroll canvas" tabIndex={0} role="region" aria-label={`Statechart of ${name}, scrollable`}>
        <DiagramView diagram={diagram} flow={{}} lit={state?.to} taken={taken} isCompact />
      </div>
      <p className="small soft clip">
        {taken === undefined ? 'No transition at this step.' : `${taken.event}: ${stepText(taken.from, taken.to)}`}
      </p>
    </section>
  );
}

interface SideProps extends Pick<Props, 'events' | 'actors' | 'since' | 'list'> {
  at: number;
  onMove: (at: number) => void;
}

function Side({ events, at, actors, since, list, onMove }: SideProps) {
  const [tab, setTab] = useState<string>();
  const refused = events.filter((it) => it.result === 'refused').length;
  const now = events[at]?.now ?? 0;
  const copies = actors.map(({ lane, name }) => {
    const known = contextAt(events, at, lane);
    return { lane, name, state: known?.to ?? known?.from, context: known?.after, now };
  });
  const tabs: [name: string, content: () => ReactNode][] = [
    ...(list === undefined ? [] : [[list.title, () => list.content] satisfies [string, () => ReactNode]]),
    ['This event', () => <EventDetail event={events[at]} />],
    [`Refused (${refused})`, () => <RefusedList events={events} since={since} onMove={onMove} />],
    ['What would …?', () => <WhatIf actors={copies} />],
  ];
  const chosen = tabs.find(([name]) => name.split(' (')[0] === tab) ?? tabs[0]!;
  return (
    <section className="panel side">
      <div className="side-tabs" role="tablist" aria-label="About the chosen step">
        {tabs.map(([name]) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={name === chosen[0]}
            className="quiet"
            onClick={() => setTab(name.split(' (')[0])}
          >
            {name}
          </button>
        ))}
      </div>
      <div className="side-content" role="tabpanel" tabIndex={0} aria-label={chosen[0]}>
        {chosen[1]()}
      </div>
    </section>
  );
}
