/** A table that scrolls where it is wider than the page, and the state filter of a list. */
import type { ReactNode } from 'react';
import { shownStatus } from '../../../src/contract/enums.ts';
import { meaningOf } from '../../../src/base/text/lexicon.ts';
import { changeQuery } from '../router.ts';

export interface Column {
  name: string;
  /** Right-aligned, for numbers. */
  right?: boolean;
  /** For screen readers only: a column of buttons needs no visible heading. */
  hidden?: boolean;
  /** Left out on a narrow screen; its cells have the class `narrow-hide`. */
  late?: boolean;
}

interface TableProps {
  label: string;
  /** A string is a column with this name. */
  columns: readonly (string | Column)[];
  className?: string;
  /** The rows of the table. */
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
              .map(({ name, right = false, hidden = false, late = false }: Column) => (
                <th
                  key={name}
                  title={meaningOf(name)}
                  className={[right ? 'right' : '', late ? 'narrow-hide' : ''].join(' ').trim() || undefined}
                >
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

/** Selection of one state or all, kept in the address as `status`. */
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
          {shownStatus(it)}
        </button>
      ))}
    </div>
  );
}
