/** Steps through a story: first, back, play, forth, latest, with a speed. */
import { useEffect, useState } from 'react';
import { delayMs, type StoryEvent } from './story.ts';

interface Props {
  events: readonly StoryEvent[];
  at: number;
  onMove: (at: number | undefined) => void;
}

const SPEEDS = [0.1, 1, 10, 100, 1_000] as const;

export function Player({ events, at, onMove }: Props) {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(1);
  const last = events.length - 1;
  const gap = (events[at + 1]?.now ?? 0) - (events[at]?.now ?? 0);
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (at >= last) {
      setPlaying(false);
      return undefined;
    }
    const timer = window.setTimeout(() => onMove(at + 1), delayMs(gap, speed));
    return () => window.clearTimeout(timer);
  }, [isPlaying, at, last, gap, speed, onMove]);
  const play = (): void => {
    if (!isPlaying && at >= last) onMove(0);
    setPlaying(!isPlaying);
  };
  return (
    <div className="row player" role="group" aria-label="Steps">
      <button type="button" disabled={at <= 0} onClick={() => onMove(0)} aria-label="First step">
        |◀
      </button>
      <button type="button" disabled={at <= 0} onClick={() => onMove(at - 1)} aria-label="Back one step">
        ◀
      </button>
      <button type="button" disabled={last < 1} onClick={play} aria-label={isPlaying ? 'Stop' : 'Play'}>
        {isPlaying ? '❚❚' : '▶ Play'}
      </button>
      <button type="button" disabled={at >= last} onClick={() => onMove(at + 1)} aria-label="Forth one step">
        ▶
      </button>
      <button type="button" disabled={at >= last} onClick={() => onMove(undefined)} aria-label="Latest step">
        ▶|
      </button>
      <label>
        <span className="visually-hidden">Speed</span>
        <select value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((it) => (
            <option key={it} value={it}>
              {it} ×
            </option>
          ))}
        </select>
      </label>
      <span className="small soft nowrap" role="status">
        Step {Math.max(at, 0)} of {Math.max(last, 0)}
      </span>
    </div>
  );
}
