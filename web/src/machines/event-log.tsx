/** The latest events of a machine, equal ones in a row as one. */
import { Empty } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { count, Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { grouped, type Event } from './event-groups.ts';

interface EventLogProps {
  kind: string;
  events: readonly Event[];
}

export function EventLog({ kind, events }: EventLogProps) {
  if (events.length === 0) return <Empty title="Nothing has happened since this page was opened." />;
  return (
    <div className="scroll events" tabIndex={0} role="log" aria-live="off" aria-label="Latest events">
      <table>
        <tbody>
          {grouped(events).map((it, at, all) => (
            <tr key={`${it.now}${it.id}${all.length - at}`}>
              <td className="small">
                <Time at={it.now} />
              </td>
              <td className="mono">
                {it.event === '' ? 'created' : it.event}
                {it.times > 1 && <span className="soft"> × {count(it.times)}</span>}
              </td>
              <td className="small">
                {it.from === it.to ? <span className="soft">in {it.to}</span> : <State status={it.to} />}
              </td>
              <td className="mono small inline">
                <a href={hrefOf(['inspect', kind, it.id])} title={it.id}>
                  {kind === 'runner' ? it.id : `…${it.id.slice(-12)}`}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
