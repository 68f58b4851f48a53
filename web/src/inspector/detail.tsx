/** One event: the difference that it made, or why it was refused; and the whole event and context. */
import { shownStatus } from '../../../src/contract/enums.ts';
import { Empty } from '../parts/common.tsx';
import { clockMs, differenceOf, valueText, type Change } from './difference.ts';
import { refusalOf, type Refusal } from './refusal.ts';
import { stepText, type StoryEvent } from './story.ts';

export function Changes({ changes, none }: { changes: readonly Change[]; none: string }) {
  if (changes.length === 0) return <p className="soft small">{none}</p>;
  return (
    <div className="scroll">
      <table className="context-changes">
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((it) => (
            <tr key={it.path}>
              <th scope="row" className="mono small">
                {it.path}
              </th>
              <td className="mono small removed">{valueText(it.path, it.before)}</td>
              <td className="mono small added">{valueText(it.path, it.after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function EventDetail({ event: it }: { event: StoryEvent | undefined }) {
  if (it === undefined) return <Empty title="Reading …" />;
  return (
    <div className="stack">
      <p>
        <strong className="mono">{it.type}</strong> <span className="soft">{clockMs(it.now)}</span>
        {it.result === 'taken' && it.from !== undefined && it.to !== undefined && ` ${stepText(it.from, it.to)}`}
        {it.result === 'refused' && ` was refused in ${shownStatus(it.from ?? '')}`}
        {it.times > 1 && `, ${it.times} times in a row; this is the last of them`}
      </p>
      {it.detail !== undefined && <p>{it.detail}</p>}
      {it.result === 'refused' && it.event !== undefined && it.before !== undefined && (
        <WhyRefused
          state={it.from ?? ''}
          event={it.type}
          refusal={refusalOf(it.lane.kind, it.from ?? '', it.before, it.event)}
        />
      )}
      {it.result === 'taken' &&
        (it.before === undefined ? (
          <p className="soft small">
            {it.event === undefined ? 'The first known state.' : 'The context before it is not known.'}
          </p>
        ) : (
          <Changes changes={differenceOf(it.before, it.after)} none="It changed no member of the context." />
        ))}
      {it.result === 'note' && <p className="soft small">A note of the coordinator: the event itself is not kept.</p>}
      {it.after !== undefined && (
        <details>
          <summary>Event and whole context</summary>
          <pre className="source" tabIndex={0}>
            {JSON.stringify({ event: it.event, context: it.after }, null, 1)}
          </pre>
        </details>
      )}
    </div>
  );
}

/** The guards of a refused event, with the values that they read. */
export function WhyRefused({ state, event, refusal }: { state: string; event: string; refusal: Refusal }) {
  if (refusal.guards.length === 0) {
    const { takenIn } = refusal;
    return (
      <p>
        {shownStatus(state)} has no transition for {event}
        {takenIn.length === 0
          ? ', as no state of this machine has.'
          : `; it is taken in ${takenIn.map(shownStatus).join(', ')}.`}
      </p>
    );
  }
  return (
    <ul className="guards">
      {refusal.guards.map((it, index) => (
        <li key={index}>
          <span className="mono">{it.guard}</span> is <strong>{it.holds ? 'true' : 'false'}</strong>
          {it.to !== undefined && <span className="soft"> (to {shownStatus(it.to)})</span>}
          <ul className="readings">
            {it.readings.map(({ path, value }) => (
              <li key={path} className="mono small">
                {path} = {valueText(path, value)}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}
