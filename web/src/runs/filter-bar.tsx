/** The filters of the table of runs: a condition in the filter language, states, and the others as chips. */
import { useEffect, useRef, useState } from 'react';
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import { count } from '../parts/time.tsx';
import { changeQuery } from '../router.ts';

interface Props {
  query: URLSearchParams;
  counts: Readonly<Record<string, number>>;
  statuses: readonly string[];
  /** Why the filter cannot be used. */
  error: string | undefined;
}

const OTHERS = [
  ['message', 'Message'],
  ['runner', 'Runner'],
  ['select', 'Selected'],
] as const;

export function FilterBar({ query, counts, statuses, error }: Props) {
  const toggle = (status: string): void => {
    const next = statuses.includes(status) ? statuses.filter((it) => it !== status) : [...statuses, status];
    changeQuery({ status: next.join(',') });
  };
  return (
    <header className="filters">
      <Condition text={query.get('where') ?? ''} error={error} />
      {OTHERS.map(([name, title]) => {
        const value = query.get(name);
        return value === null || value === '' ? null : (
          <button
            key={name}
            type="button"
            className="chip clip filter"
            aria-pressed="true"
            title={value}
            onClick={() => changeQuery({ [name]: undefined })}
          >
            {title}: {value} ✕
          </button>
        );
      })}
      <div className="row" role="group" aria-label="Only runs that are">
        {JOB_STATUSES.filter((it) => (counts[it] ?? 0) > 0 || statuses.includes(it)).map((it) => (
          <button
            key={it}
            type="button"
            className="chip"
            aria-pressed={statuses.includes(it)}
            onClick={() => toggle(it)}
          >
            <i className={`dot s-${it}`} aria-hidden="true" />
            {it} <span className="soft">{count(counts[it] ?? 0)}</span>
          </button>
        ))}
      </div>
    </header>
  );
}

/** The condition as typed; it is applied on Enter and when the input is left. */
function Condition({ text, error }: { text: string; error: string | undefined }) {
  const [typed, setTyped] = useState(text);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(text), [text]);
  const apply = (): void => {
    if (typed.trim() !== text) changeQuery({ where: typed.trim() });
  };
  return (
    <div className="condition">
      <input
        ref={input}
        type="search"
        data-filter
        aria-label="Filter"
        aria-invalid={error !== undefined}
        aria-describedby="filter-help"
        placeholder="Filter, such as  wind_speed_mps > 7 and state:failed"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          // The cross of a search field clears it at once.
          if (event.target.value === '') changeQuery({ where: undefined });
        }}
        onBlur={apply}
        onKeyDown={(event) => event.key === 'Enter' && apply()}
      />
      <span id="filter-help" className={error === undefined ? 'visually-hidden' : 'fault'} role="status">
        {error ??
          'Names of parameters and outputs, = != < <= > >=, and, or, not, in (a, b), is null; state:failed, runner:NAME, class:NAME'}
      </span>
    </div>
  );
}
