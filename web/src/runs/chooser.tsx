/** The choice of columns of the table of runs, kept in the address. */
import { useState } from 'react';
import { Menu } from '../parts/menu.tsx';
import { changeQuery } from '../router.ts';
import { PINNED, type Column } from './columns.ts';

const GROUPS = ['Run', 'Parameters', 'Outputs'] as const;

export function ColumnChooser({ columns, shown }: { columns: readonly Column[]; shown: readonly Column[] }) {
  const [search, setSearch] = useState('');
  const keys = shown.map((it) => it.key);
  const set = (next: readonly string[]): void =>
    changeQuery({ columns: next.filter((key) => !PINNED.includes(key)).join(',') });
  const toggle = (key: string): void => set(keys.includes(key) ? keys.filter((it) => it !== key) : [...keys, key]);
  return (
    <Menu label={`Columns (${shown.length})`} stays>
      <div className="chooser">
        <input
          type="search"
          aria-label="Search columns"
          placeholder="Search columns"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        {GROUPS.map((group) => {
          const some = columns.filter(
            (it) =>
              it.group === group &&
              !PINNED.includes(it.key) &&
              it.title.toLowerCase().includes(search.trim().toLowerCase()),
          );
          return some.length === 0 ? null : (
            <fieldset key={group}>
              <legend>{group}</legend>
              {some.map((it) => (
                <label key={it.key} className="row">
                  <input type="checkbox" checked={keys.includes(it.key)} onChange={() => toggle(it.key)} />
                  <span>{it.title}</span>
                </label>
              ))}
            </fieldset>
          );
        })}
        <button type="button" className="quiet" onClick={() => changeQuery({ columns: undefined })}>
          The usual columns
        </button>
      </div>
    </Menu>
  );
}
