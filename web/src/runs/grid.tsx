/** The virtual table of runs: pinned run and state, headers that sort and brush, rows that the feed keeps up to date. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type KeyboardEvent } from 'react';
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { StudyDistributions } from '../../../src/contract/types.ts';
import { decisiveLine } from '../../../src/domain/runs/failure-groups.ts';
import { jobId } from '../../../src/domain/ids.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { State } from '../parts/status.tsx';
import { duration, figure, Time } from '../parts/time.tsx';
import type { Ranges } from '../plots/variables.ts';
import { go, hrefOf } from '../router.ts';
import type { Column } from './columns.ts';
import { HeadCell } from './head-cell.tsx';
import type { Row } from './use-rows.ts';

const ROW = 34;
const HEAD = 66;
const CHECK = 34;

interface Props {
  table: RunTable;
  rows: readonly Row[];
  matched: number;
  columns: readonly Column[];
  sort: string;
  distributions: StudyDistributions | undefined;
  ranges: Ranges;
  picked: ReadonlySet<number>;
  onPick: (picked: ReadonlySet<number>) => void;
  onMore: () => void;
}

export function Grid(props: Props) {
  const { table, rows, matched, columns, sort, distributions, ranges, picked, onPick, onMore } = props;
  useTableVersion(table);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length < matched && last >= rows.length - 40) onMore();
  }, [last, rows.length, matched, onMore]);
  const gridTemplateColumns = `${CHECK}px ${columns.map((it) => `${it.width}px`).join(' ')}`;
  const toggle = (run: number): void => {
    const next = new Set(picked);
    if (!next.delete(run)) next.add(run);
    onPick(next);
  };
  return (
    <div
      ref={scroller}
      className="grid"
      role="table"
      aria-label="Runs"
      aria-rowcount={matched + 1}
      tabIndex={0}
      onKeyDown={moveWithKeys}
    >
      <div className="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns, height: HEAD }}>
        <div role="columnheader">
          <span className="visually-hidden">Selected</span>
        </div>
        {columns.map((it) => (
          <HeadCell key={it.key} column={it} sort={sort} distributions={distributions} ranges={ranges} />
        ))}
      </div>
      <div className="grid-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index]!;
          const run = row['run_id'] as number;
          return (
            <div
              key={item.key}
              className={picked.has(run) ? 'grid-row picked' : 'grid-row'}
              role="row"
              aria-rowindex={item.index + 2}
              style={{ gridTemplateColumns, height: ROW, transform: `translateY(${item.start}px)` }}
              onDoubleClick={() => go(hrefOf(['jobs', jobId(table.batchId, run)]))}
            >
              <div role="cell">
                <input
                  type="checkbox"
                  aria-label={`Select run ${run}`}
                  checked={picked.has(run)}
                  onChange={() => toggle(run)}
                />
              </div>
              {columns.map((it) => (
                <Cell key={it.key} column={it} run={run} row={row} table={table} />
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** `j` and `k` move between the runs, as the arrow keys do in a list; Enter opens the run that has the focus. */
function moveWithKeys(event: KeyboardEvent<HTMLDivElement>): void {
  if (event.key !== 'j' && event.key !== 'k') return;
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>('a[data-run]')].sort(
    (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
  );
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const next = links[at === -1 ? 0 : at + (event.key === 'j' ? 1 : -1)];
  next?.focus();
  event.preventDefault();
}

interface CellProps {
  column: Column;
  run: number;
  row: Row;
  table: RunTable;
}

/** The value of a row, or a newer one from the feed. */
function valueOf({ column, run, row, table }: CellProps): unknown {
  const at = table.rowOf(run);
  if (table.live[at] !== 1) return row[column.name];
  switch (column.key) {
    case 'state':
      return JOB_STATUSES[table.status[at]!];
    case 'error':
      return table.errors.get(at) ?? null;
    case 'runner':
      return table.runners.get(at) ?? null;
    case 'started':
      return table.started[at];
    case 'ended':
      return table.ended[at];
    default: {
      if (column.group !== 'Outputs') return row[column.name];
      const value = table.outputs.get(column.key.slice(2))?.[at];
      return value === undefined || Number.isNaN(value) ? row[column.name] : value;
    }
  }
}

function Cell(props: CellProps) {
  const { column, run, table } = props;
  const value = valueOf(props);
  switch (column.kind) {
    case 'run':
      return (
        <div role="cell" className="pinned">
          <a data-run href={hrefOf(['jobs', jobId(table.batchId, run)])}>
            #{run}
          </a>
        </div>
      );
    case 'state':
      return (
        <div role="cell">
          <State status={String(value)} />
        </div>
      );
    case 'error': {
      const text = typeof value === 'string' ? value : '';
      return (
        <div role="cell" className="clip bad" title={text}>
          {text === '' ? '' : decisiveLine(text)}
        </div>
      );
    }
    case 'time': {
      const at = value === null || value === undefined ? undefined : new Date(value as string | number).getTime();
      return (
        <div role="cell">
          <Time at={at} />
        </div>
      );
    }
    case 'seconds':
      return (
        <div role="cell" className="right">
          {typeof value === 'number' ? duration(value * 1_000) : <Missing />}
        </div>
      );
    case 'text':
      return (
        <div role="cell" className="clip" title={asText(value)}>
          {value === null || value === undefined ? <Missing /> : asText(value)}
        </div>
      );
    case 'number':
      return typeof value === 'number' ? (
        <div role="cell" className="right" title={String(value)}>
          {figure(value)}
        </div>
      ) : (
        <div role="cell" className="right clip" title={asText(value)}>
          {value === null || value === undefined ? <Missing /> : asText(value)}
        </div>
      );
  }
}

const Missing = () => <span className="soft">–</span>;

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);
