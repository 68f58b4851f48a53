/** All runs of a study in a virtual table; filter and order are in the address. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { normalizeMessage, decisiveLine } from '../../../src/domain/failure-groups.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Empty } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { count, duration, figure, Time } from '../parts/time.tsx';
import { isFailure, readRanges, selectedRuns, variablesOf, type Variable } from '../plots/variables.ts';
import { changeQuery, hrefOf } from '../router.ts';

/** A column of the table. Numeric columns are sortable; `value` is NaN where it is missing. */
interface Column {
  key: string;
  title: string;
  width: string;
  value?: (run: number) => number;
}

const SHOWN_VARIABLES = 8;

export function BatchRuns({ table, query }: { table: RunTable; query: URLSearchParams }) {
  const version = useTableVersion(table);
  const variables = useMemo(() => variablesOf(table), [table, table.valuesVersion]);
  const columns = useMemo(() => columnsOf(table, variables), [table, variables]);
  const filter = query.toString();
  const sort = query.get('sort') ?? 'run';
  // The parameters of a run do not change: their order is computed once.
  const age = sort.replace('-', '').startsWith('p.') ? 0 : Math.floor(version / CHANGES_PER_ORDER);
  const names = columns.map((it) => it.key).join();
  const order = useMemo(() => orderOf(table, sort, columns), [table, sort, names, age, table.isLoaded]);
  const runs = useMemo(() => runsWanted(table, query, order, variables), [table, version, filter, order, variables]);
  const hasFailures = useMemo(() => runs.some((run) => isFailure(table.status[run]!)), [runs, table]);
  return (
    <section className="panel" aria-label="Runs">
      <Filters query={query} shown={runs.length} total={table.size} />
      {runs.length === 0 ? (
        <Empty title={table.isLoaded ? 'No run matches.' : 'Reading the runs …'}>
          {table.isLoaded && <p>Choose other states, or clear the filters.</p>}
        </Empty>
      ) : (
        <Rows table={table} runs={runs} columns={columns} query={query} hasFailures={hasFailures} />
      )}
    </section>
  );
}

function columnsOf(table: RunTable, variables: readonly Variable[]): Column[] {
  const shown = variables.filter((it) => it.key !== 'o.execution_secs').slice(0, SHOWN_VARIABLES);
  return [
    { key: 'run', title: 'Run', width: '84px', value: (run) => run },
    { key: 'status', title: 'State', width: '112px' },
    { key: 'runner', title: 'Runner', width: '130px' },
    { key: 'started', title: 'Started', width: '118px', value: (run) => table.started[run]! },
    { key: 'took', title: 'Took', width: '82px', value: (run) => table.ended[run]! - table.started[run]! },
    { key: 'retries', title: 'Retries', width: '76px', value: (run) => table.retries[run]! },
    ...shown.map((it): Column => ({
      key: it.key,
      title: it.label,
      width: `${Math.max(92, it.label.length * 8 + 34)}px`,
      value: (run) => it.values[run]!,
    })),
  ];
}

/** Number of changes of the table (0.4 s apart) that share one order by a changing value: sorting all runs takes time. */
const CHANGES_PER_ORDER = 8;

/** Returns all runs in the chosen order; undefined means by number. Runs without the value are last in both directions. */
function orderOf(table: RunTable, sort: string, columns: readonly Column[]): Uint32Array | undefined {
  const isDown = sort.startsWith('-');
  const value = columns.find((it) => it.key === sort.replace('-', ''))?.value;
  if (value === undefined || sort === 'run') return undefined;
  const keys = new Float64Array(table.size);
  for (let run = 0; run < table.size; run += 1) {
    const key = value(run);
    keys[run] = Number.isNaN(key) ? Infinity : isDown ? -key : key;
  }
  return Uint32Array.from(keys, (_, run) => run).sort((a, b) =>
    keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b,
  );
}

/** Returns the runs that match the query, in the given order. */
function runsWanted(
  table: RunTable,
  query: URLSearchParams,
  order: Uint32Array | undefined,
  variables: readonly Variable[],
): Uint32Array {
  const statuses = listOf(query.get('status'));
  const codes = JOB_STATUSES.map((it) => statuses.length === 0 || statuses.includes(it));
  const mask = selectedRuns(table.size, variables, readRanges(query.get('select')));
  const message = query.get('message');
  const runner = query.get('runner');
  const wanted = new Uint32Array(table.size);
  let length = 0;
  for (let at = 0; at < table.size; at += 1) {
    const run = order === undefined ? at : order[at]!;
    if (!codes[table.status[run]!] || (mask !== undefined && mask[run] === 0)) continue;
    if (runner !== null && table.runners.get(run) !== runner) continue;
    if (message !== null && normalizeMessage(table.errors.get(run) ?? '') !== message) continue;
    wanted[length] = run;
    length += 1;
  }
  return wanted.subarray(0, length);
}

const listOf = (text: string | null): string[] => (text === null || text === '' ? [] : text.split(','));

function Filters({ query, shown, total }: { query: URLSearchParams; shown: number; total: number }) {
  const statuses = listOf(query.get('status'));
  const toggle = (status: string): void => {
    const next = statuses.includes(status) ? statuses.filter((it) => it !== status) : [...statuses, status];
    changeQuery({ status: next.join(',') });
  };
  const rest = [
    ['message', 'Message'],
    ['runner', 'Runner'],
    ['select', 'Selected'],
  ].flatMap(([name, title]) =>
    query.get(name!) === null ? [] : [{ name: name!, title: title!, value: query.get(name!)! }],
  );
  return (
    <header>
      <span className="grow" role="status">
        {shown === total ? `${count(total)} runs` : `${count(shown)} of ${count(total)} runs`}
      </span>
      {rest.map((it) => (
        <button
          key={it.name}
          type="button"
          className="chip clip filter"
          aria-pressed="true"
          title={it.value}
          onClick={() => changeQuery({ [it.name]: undefined })}
        >
          {it.title}: {it.value} ✕
        </button>
      ))}
      <div className="row" role="group" aria-label="Only runs that are">
        {JOB_STATUSES.map((it) => (
          <button
            key={it}
            type="button"
            className="chip"
            aria-pressed={statuses.includes(it)}
            onClick={() => toggle(it)}
          >
            <i className={`dot s-${it}`} aria-hidden="true" />
            {it}
          </button>
        ))}
      </div>
    </header>
  );
}

interface RowsProps {
  table: RunTable;
  runs: Uint32Array;
  columns: Column[];
  query: URLSearchParams;
  hasFailures: boolean;
}

const ROW = 34;

function Rows({ table, runs, columns, query, hasFailures }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const widths = columns.map((it) => it.width);
  if (hasFailures) widths.splice(3, 0, '400px');
  const gridTemplateColumns = widths.join(' ');
  const shownColumns = hasFailures
    ? [...columns.slice(0, 3), { key: 'error', title: 'Error', width: '' }, ...columns.slice(3)]
    : columns;
  return (
    <div ref={scroller} className="grid" role="table" aria-label="Runs" aria-rowcount={runs.length + 1} tabIndex={0}>
      <div className="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns }}>
        {shownColumns.map((it) => (
          <HeadCell key={it.key} column={it} sort={query.get('sort') ?? 'run'} />
        ))}
      </div>
      <div className="grid-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const run = runs[item.index]!;
          return (
            <div
              key={item.key}
              className="grid-row"
              role="row"
              aria-rowindex={item.index + 2}
              style={{ gridTemplateColumns, height: ROW, transform: `translateY(${item.start}px)` }}
            >
              {shownColumns.map((it) => (
                <Cell key={it.key} column={it} run={run} table={table} />
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function HeadCell({ column, sort }: { column: Column; sort: string }) {
  const { key, title, value } = column;
  if (value === undefined) return <div role="columnheader">{title}</div>;
  const isSorted = sort.replace('-', '') === key;
  const isDown = isSorted && sort.startsWith('-');
  const next = isSorted ? (isDown ? undefined : `-${key}`) : key;
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : 'none'}
      className={key === 'run' || key === 'started' ? '' : 'right'}
    >
      <button
        type="button"
        className="quiet sort"
        title={`Sort by ${title}`}
        onClick={() => changeQuery({ sort: next })}
      >
        <span className="clip">{title}</span>
        {isSorted && <span aria-hidden="true">{isDown ? '▼' : '▲'}</span>}
      </button>
    </div>
  );
}

function Cell({ column, run, table }: { column: Column; run: number; table: RunTable }) {
  switch (column.key) {
    case 'run':
      return (
        <div role="cell">
          <a href={hrefOf(['jobs', jobId(table.batchId, table.runAt(run))])}>#{table.runAt(run)}</a>
        </div>
      );
    case 'status':
      return (
        <div role="cell">
          <State status={JOB_STATUSES[table.status[run]!] ?? ''} />
        </div>
      );
    case 'runner': {
      const runner = table.runners.get(run);
      return (
        <div role="cell" className="clip" title={runner}>
          {runner ?? <span className="soft">–</span>}
        </div>
      );
    }
    case 'error': {
      const error = table.errors.get(run);
      return (
        <div role="cell" className="clip bad" title={error}>
          {error === undefined ? '' : decisiveLine(error)}
        </div>
      );
    }
    case 'started':
      return (
        <div role="cell">
          <Time at={table.started[run]} />
        </div>
      );
    case 'took':
      return (
        <div role="cell" className="right">
          {duration(table.ended[run]! - table.started[run]!)}
        </div>
      );
    default:
      return (
        <div role="cell" className="right">
          {figure(column.value?.(run))}
        </div>
      );
  }
}
