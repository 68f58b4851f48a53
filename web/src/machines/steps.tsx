/** Steps through the events of an actor: back, forward, to any point, with its data there. */
import { Empty } from '../parts/common.tsx';
import { Time } from '../parts/time.tsx';
import type { ReplayStep } from './replay.ts';

interface Props {
  title?: string;
  steps: ReplayStep[];
  at: number;
  onMove: (at: number | undefined) => void;
  onClose?: () => void;
}

export function StepThrough({ title, steps, at, onMove, onClose }: Props) {
  const step = steps[at];
  if (step === undefined) return <Empty title="Reading …" />;
  const isLast = at === steps.length - 1;
  const content = (
    <div className="steps">
      <div className="row">
        <button type="button" disabled={at === 0} onClick={() => onMove(0)} aria-label="First step">
          First
        </button>
        <button type="button" disabled={at === 0} onClick={() => onMove(at - 1)} aria-label="Back one step">
          ◀ Back
        </button>
        <button type="button" disabled={isLast} onClick={() => onMove(at + 1)} aria-label="Forth one step">
          Forth ▶
        </button>
        <button type="button" disabled={isLast} onClick={() => onMove(undefined)} aria-label="Latest step">
          Latest
        </button>
        <span className="small soft" role="status">
          Step {at} of {steps.length - 1}: {step.to}
        </span>
      </div>
      <input
        type="range"
        min={0}
        max={Math.max(steps.length - 1, 1)}
        value={at}
        onChange={(event) => onMove(Number(event.target.value))}
        aria-label="Step"
      />
      <ol className="step-list" tabIndex={0} aria-label="Steps">
        {steps.map((it, index) => (
          <li key={index} aria-current={index === at ? 'step' : undefined}>
            <button type="button" className="quiet" onClick={() => onMove(index)}>
              <span className="mono">{it.event?.type ?? 'as it was'}</span>
              <span className="soft small">
                {it.taken ? (it.from === it.to ? `stays ${it.to}` : `→ ${it.to}`) : `not taken in ${it.to}`}{' '}
                {it.now !== undefined && <Time at={it.now} />}
              </span>
            </button>
          </li>
        ))}
      </ol>
      <details>
        <summary>Event and data at this step</summary>
        <pre className="source" tabIndex={0}>
          {JSON.stringify({ event: step.event, context: step.context }, null, 1)}
        </pre>
      </details>
    </div>
  );
  if (title === undefined) return content;
  return (
    <section className="panel">
      <header>
        <h2 className="grow clip">{title}</h2>
        {onClose !== undefined && (
          <button type="button" onClick={onClose}>
            Close
          </button>
        )}
      </header>
      {content}
    </section>
  );
}
