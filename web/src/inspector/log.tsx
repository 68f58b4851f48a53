/** The log of a story: times in ms, filtered by kind, heartbeats as one, paused, with a jump to the errors. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { shownStatus } from '../../../src/contract/enums.ts';
import { Empty } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { clockMs } from './difference.ts';
import { isError, logRows, nextError, type StoryEvent } from './story.ts';

const NAMES: Readonly<Record<string, string>> = {
  job: 'run',
  batch: 'study',
  runner: 'runner',
  supervisor: 'supervisor',
  notification: 'notification',
};

interface Props {
  events: readonly StoryEvent[];
  at: number;
  onMove: (at: number | undefined) => void;
  /** The log does not follow new events. */
  isPaused: boolean;
  onPause: (isPaused: boolean) => void;
}

export function Log({ events, at, onMove, isPaused, onPause }: Props) {
  const [kind, setKind] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const kinds = useMemo(() => [...new Set(events.map((it) => it.lane.kind as string))], [events]);
  const rows = useMemo(
    () =>
      logRows(events, (it) =>
        kind === '' ? true : kind === 'refused' ? it.result === 'refused' : it.lane.kind === kind,
      ),
    [events, kind],
  );
  const error = nextError(events, at);
  useEffect(() => {
    // The list scrolls alone: on a phone the page would leave its top.
    const row = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (row == null || list.current === null) return;
    const above = row.getBoundingClientRect().top - list.current.getBoundingClientRect().top;
    const below = above + row.offsetHeight - list.current.clientHeight;
    if (above < 0) list.current.scrollTop += above;
    else if (below > 0) list.current.scrollTop += below;
  }, [at]);
  const zero = events[0]?.now ?? 0;
  return (
    <section className="panel log" aria-label="Log">
      <header className="row">
        <h2 className="grow">Log</h2>
        <label>
          <span className="visually-hidden">Kind of events</span>
          <select value={kind} onChange={(event) => setKind(event.target.value)}>
            <option value="">all events</option>
            {kinds.map((it) => (
              <option key={it} value={it}>
                of the {NAMES[it]}
              </option>
            ))}
            <option value="refused">refused</option>
          </select>
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => onPause(!isPaused)}>
          {isPaused ? 'Follow' : 'Pause'}
        </button>
        <button type="button" disabled={error === undefined} onClick={() => onMove(error)}>
          Next error
        </button>
      </header>
      {rows.length === 0 && <Empty title="No such event." />}
      <ol className="log-rows" ref={list} tabIndex={0} aria-label="Events">
        {rows.map((row) => (
          <li
            key={row.at}
            aria-current={row.at === at ? 'step' : undefined}
            className={isError(row.event) ? 'bad-row' : ''}
          >
            <button type="button" className="quiet" onClick={() => onMove(row.at)}>
              <span className="mono small" title={`+${count(row.event.now - zero)} ms`}>
                {clockMs(row.event.now)}
              </span>
              <span className="small soft">{NAMES[row.event.lane.kind]}</span>
              <span className="mono clip">
                {row.event.type}
                {row.times > 1 && <span className="soft"> × {count(row.times)}</span>}
              </span>
              <span className="small soft clip" title={resultOf(row.event)}>
                {resultOf(row.event)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function resultOf({ result, from, to, detail }: StoryEvent): string {
  if (result === 'refused') return `refused in ${shownStatus(from ?? '')}`;
  if (result === 'note') return detail ?? (to === undefined ? '' : `→ ${shownStatus(to)}`);
  const name = shownStatus(to ?? '');
  if (from === undefined) return name;
  return from === to ? `stays ${name}` : `→ ${name}`;
}
