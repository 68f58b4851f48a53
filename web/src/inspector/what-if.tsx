/** "What would DRAIN do?": any event sent to a copy of an actor in this page; the live actor never receives it. */
import { useMemo, useState } from 'react';
import type { StoredState } from '../../../machines/actor-player.ts';
import type { AnyEvent } from '../../../machines/protocol.ts';
import { shownStatus } from '../../../src/contract/enums.ts';
import { Empty } from '../parts/common.tsx';
import { clockMs } from './difference.ts';
import { Changes, WhyRefused } from './detail.tsx';
import { stepText, type Lane } from './story.ts';
import { candidatesOf, tried, type Trial } from './trial.ts';

export interface Copyable {
  lane: Lane;
  name: string;
  /** The state at the chosen step; undefined: not known there. */
  state: string | undefined;
  context: object | undefined;
  now: number;
}

export function WhatIf({ actors }: { actors: readonly Copyable[] }) {
  const [index, setIndex] = useState(0);
  const actor = actors[Math.min(index, actors.length - 1)];
  return (
    <div className="stack">
      {actors.length > 1 && (
        <label className="row">
          <span className="small soft">A copy of</span>
          <select value={index} onChange={(event) => setIndex(Number(event.target.value))}>
            {actors.map((it, at) => (
              <option key={it.name} value={at}>
                {it.name}
              </option>
            ))}
          </select>
        </label>
      )}
      {actor?.state === undefined || actor.context === undefined ? (
        <Empty
          title={`The context ${actor === undefined ? '' : `of ${actor.name} `}at this step is not known: choose a later one.`}
        />
      ) : (
        <Trials
          key={`${actor.lane.kind} ${actor.lane.id}`}
          actor={actor}
          start={{ ...actor.context, value: actor.state }}
        />
      )}
    </div>
  );
}

function Trials({ actor, start }: { actor: Copyable; start: StoredState }) {
  const { kind } = actor.lane;
  // The chosen step may follow the live actor: the copy stays as it was taken until it is taken again.
  const [taken, setTaken] = useState({ start, now: actor.now });
  const [copy, setCopy] = useState(start);
  const [trial, setTrial] = useState<Trial & { type: string }>();
  const [failure, setFailure] = useState<string>();
  const candidates = useMemo(() => candidatesOf(kind, copy, taken.now), [kind, copy, taken.now]);
  const [chosen, setChosen] = useState(0);
  const candidate = candidates[Math.min(chosen, candidates.length - 1)]!;
  const [text, setText] = useState<string>();
  const shown = text ?? JSON.stringify(candidate.event, null, 1);
  const send = (): void => {
    try {
      const event = JSON.parse(shown) as AnyEvent;
      const result = tried(kind, copy, event);
      setTrial({ ...result, type: event.type });
      setFailure(undefined);
      if (result.refusal === undefined) setCopy(result.after);
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  return (
    <>
      <p className="small soft">
        The copy is <strong>{copy.value}</strong>
        {copy === taken.start ? `, as at ${clockMs(taken.now)}` : ', after your events'}. The live actor receives
        nothing.
      </p>
      <label className="field">
        <span className="visually-hidden">Event</span>
        <select
          value={chosen}
          onChange={(event) => {
            setChosen(Number(event.target.value));
            setText(undefined);
          }}
        >
          {candidates.map((it, at) => (
            <option key={at} value={at}>
              {it.label}
            </option>
          ))}
        </select>
      </label>
      <details>
        <summary>Its members</summary>
        <textarea
          className="mono small"
          rows={6}
          value={shown}
          spellCheck={false}
          aria-label="The event as JSON"
          onChange={(event) => setText(event.target.value)}
        />
      </details>
      <div className="row">
        <button type="button" className="primary" onClick={send}>
          Send to the copy
        </button>
        <button
          type="button"
          onClick={() => {
            setTaken({ start, now: actor.now });
            setCopy(start);
            setTrial(undefined);
          }}
        >
          Copy the chosen step again
        </button>
      </div>
      {failure !== undefined && <p className="bad">{failure}</p>}
      {trial !== undefined && (
        <div role="status" aria-label="Result on the copy">
          {trial.refusal === undefined ? (
            <>
              <p>
                <span className="mono">{trial.type}</span>: <strong>{stepText(trial.from, trial.to)}</strong>
                {trial.facts.length > 0 && <span className="soft">, and emits {trial.facts.join(', ')}</span>}
              </p>
              <Changes changes={trial.changes} none="It changes no member of the context." />
            </>
          ) : (
            <>
              <p>
                <span className="mono">{trial.type}</span> is <strong>refused</strong> in {shownStatus(trial.from)}.
              </p>
              <WhyRefused state={trial.from} event={trial.type} refusal={trial.refusal} />
            </>
          )}
        </div>
      )}
    </>
  );
}
