/** "Why did this not happen?": the refused events of a story, with the guards that were false. */
import { Empty } from '../parts/common.tsx';
import { clockMs } from './difference.ts';
import { WhyRefused } from './detail.tsx';
import { refusalOf } from './refusal.ts';
import type { StoryEvent } from './story.ts';

interface Props {
  events: readonly StoryEvent[];
  /** Refusals are kept since then. */
  since: number | undefined;
  onMove: (at: number) => void;
}

export function RefusedList({ events, since, onMove }: Props) {
  const refused = events.flatMap((event, at) => (event.result === 'refused' ? [{ event, at }] : [])).toReversed();
  return (
    <div className="stack">
      {refused.length === 0 && <Empty title="No event was refused." />}
      {refused.map(({ event: it, at }) => (
        <div key={at}>
          <button type="button" className="quiet" onClick={() => onMove(at)}>
            <span className="mono">{it.type}</span> <span className="soft small">{clockMs(it.now)}</span>
            {it.times > 1 && <span className="soft small"> × {it.times}</span>}
          </button>
          {it.event !== undefined && it.before !== undefined && (
            <WhyRefused
              state={it.from ?? ''}
              event={it.type}
              refusal={refusalOf(it.lane.kind, it.from ?? '', it.before, it.event)}
            />
          )}
        </div>
      ))}
      {since !== undefined && (
        <p className="small soft">
          The coordinator keeps the latest 12 refused events of an actor in memory, since its start at{' '}
          {new Date(since).toLocaleString()}. For an event that nothing sent: try it on a copy beside.
        </p>
      )}
    </div>
  );
}
