/** A table that scrolls by itself where it is wider than the page, and the choice of a state above a list. */
import type { ReactNode } from 'react';
import { changeQuery } from '../router.ts';

export interface Column {
  name: string;
  /** Numbers, whose ends stand below each other. */
  right?: boolean;
  /** Buttons need no visible name over them; a screen reader does. */
  hidden?: boolean;
}

interface TableProps {
  label: string;
  /** A text alone is a name. */
  columns: readonly (string | Column)[];
  className?: string;
  /** The rows. */
  children: ReactNode;
}

export const ACTIONS: Column = { name: 'Actions', hidden: true };

export function Table({ label, columns, className, children }: TableProps) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}>
      <table className={className}>
        <thead>
          <tr>
            {columns
              .map((it) => (typeof it === 'string' ? { name: it } : it))
              .map(({ name, right = false, hidden = false }: Column) => (
                <th key={name} className={right ? 'right' : undefined}>
                  {hidden ? <span className="visually-hidden">{name}</span> : name}
                </th>
              ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** One state or all, kept in the address as `status`. */
export function StatusFilter({
  label,
  statuses,
  current,
}: {
  label: string;
  statuses: readonly string[];
  current: string;
}) {
  return (
    <div className="row" role="group" aria-label={label}>
      {statuses.map((it) => (
        <button
          key={it}
          type="button"
          className="chip"
          aria-pressed={current === it}
          onClick={() => changeQuery({ status: current === it ? undefined : it })}
        >
          <i className={`dot s-${it}`} aria-hidden="true" />
          {it}
        </button>
      ))}
    </div>
  );
}
