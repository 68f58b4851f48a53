/** The selected runs of a study: how many, how many of them fail, and how to keep, share and use the selection. */
import { useMemo, useState } from 'react';
import { wilsonInterval } from '../../../src/analysis/groups/proportion.ts';
import type { Batch } from '../../../src/contract/types.ts';
import { ENDPOINT } from '../data/place.ts';
import { Ask, Failure } from '../parts/common.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Menu } from '../parts/menu.tsx';
import { count } from '../parts/time.tsx';
import { sharesOf } from '../plots/variables.ts';
import { changeQuery, go, hrefOf } from '../router.ts';
import { asPython } from './python.ts';
import type { Bench } from './state.ts';
import { keepView, removeView, useViews } from './views.ts';

interface Props {
  batch: Batch;
  bench: Bench;
  query: URLSearchParams;
  size: number;
}

export function SelectionBar({ batch, bench: { status, mask }, query, size }: Props) {
  const shares = useMemo(() => sharesOf(status, mask), [status, mask]);
  const selected = useMemo(() => (mask === undefined ? size : mask.reduce((sum, it) => sum + it, 0)), [mask, size]);
  const select = query.get('select') ?? '';
  return (
    <div className="row selection panel">
      <span className="grow" role="status">
        {mask === undefined
          ? `All ${count(size)} runs. Drag across a distribution to select some.`
          : `${count(selected)} of ${count(size)} runs selected`}
        {shares.inside.failed + shares.outside.failed > 0 && (
          <span className="small soft shares">
            {mask === undefined ? 'failed ' : 'failed inside '}
            <strong>{shareText(shares.inside)}</strong>
            {mask !== undefined && (
              <>
                {' '}
                outside <strong>{shareText(shares.outside)}</strong>
              </>
            )}
          </span>
        )}
      </span>
      {mask !== undefined && (
        <>
          <button type="button" onClick={() => changeQuery({ select: undefined })}>
            Clear the selection
          </button>
          <a className="button" href={hrefOf(['batches', batch.id, 'runs'], { select })}>
            Show these runs
          </a>
        </>
      )}
      <Views batchId={batch.id} query={query} />
      <CopyButton label="Copy link" text={() => window.location.href} />
      <CopyButton label="Copy as Python" text={() => asPython(ENDPOINT, batch.id, select)} />
    </div>
  );
}

/** A share with its 95 % interval by Wilson. */
function shareText({ failed, ended }: { failed: number; ended: number }): string {
  if (ended === 0) return 'no ended run';
  const percent = (value: number): string => String(Number((100 * value).toPrecision(value < 0.1 ? 2 : 3)));
  const [low, high] = wilsonInterval(failed, ended, 0.95);
  return `${percent(failed / ended)} % [${percent(low)} to ${percent(high)}]`;
}

/** Views by name, kept with the study. */
function Views({ batchId, query }: { batchId: string; query: URLSearchParams }) {
  const [isAsked, setAsked] = useState(false);
  const { views, error } = useViews(batchId);
  return (
    <>
      <Menu label={views.length === 0 ? 'Views' : `Views (${views.length})`}>
        {views.map((it) => (
          <span key={it.name} className="row view">
            <button
              type="button"
              className="quiet grow"
              onClick={() => go(`${hrefOf(['batches', batchId, 'explore'])}?${it.query}`)}
            >
              {it.name}
            </button>
            <button
              type="button"
              className="quiet"
              aria-label={`Remove the view ${it.name}`}
              onClick={() => void removeView(batchId, it.name)}
            >
              ✕
            </button>
          </span>
        ))}
        <button type="button" className="quiet" onClick={() => setAsked(true)}>
          Keep this view …
        </button>
      </Menu>
      <Failure what="The views could not be read or changed." detail={error} />
      {isAsked && (
        <Ask
          title="Keep this view"
          reason="Name"
          action="Keep it"
          refusal="Do not keep it"
          onAnswer={(name) => name !== undefined && void keepView(batchId, name, query.toString())}
          onClose={() => setAsked(false)}
        >
          <p>
            Selection, variables, axes and colours, kept with the study for everybody who looks at it. The link of the
            page holds all of them too.
          </p>
        </Ask>
      )}
    </>
  );
}
