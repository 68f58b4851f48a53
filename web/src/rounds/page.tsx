/** The rounds of an adaptive study in pages, each with its runs by state and a link to them. */
import type { BatchStatusResponse, Round } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Empty, Failure, Panel, Waiting } from '../parts/common.tsx';
import { StatusBar } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { count, Time } from '../parts/time.tsx';
import { changeQuery, hrefOf } from '../router.ts';
import { countsBetween, hasOpenRuns, whereOfRounds } from './bands.ts';

const PER_PAGE = 50;

interface Props {
  progress: BatchStatusResponse;
  table: RunTable;
  query: URLSearchParams;
}

export function Rounds({ progress: { batch }, table, query }: Props) {
  useTableVersion(table);
  const { rounds = 0, budget = 0 } = batch;
  const pages = Math.max(1, Math.ceil(rounds / PER_PAGE));
  // Without a choice the page has the latest rounds.
  const asked = Number(query.get('page') ?? pages);
  const page = Number.isInteger(asked) ? Math.min(Math.max(asked, 1), pages) : pages;
  const from = (page - 1) * PER_PAGE;
  const shown = Math.min(rounds, from + PER_PAGE);
  const { data, error } = useRequest<Round[]>(
    rounds === 0 ? undefined : `/batches/${batch.id}/rounds?from=${from}&limit=${PER_PAGE}`,
    shown,
  );
  return (
    <Panel title={`Rounds (${count(rounds)})`} aside={<Pages page={page} pages={pages} />} flush>
      <Failure what="The rounds could not be read." detail={error?.message} />
      {rounds === 0 && <Empty title="No round was appended yet." />}
      {rounds > 0 && data === undefined && error === undefined && <Waiting what="Reading the rounds" />}
      {data !== undefined && (
        <Table
          label="Rounds"
          className="cards"
          columns={['Round', 'Key', 'Runs', 'By state', { name: 'Ended', right: true }, 'Appended']}
        >
          {data.toReversed().map((it) => (
            <Row key={it.round} batchId={batch.id} round={it} table={table} />
          ))}
        </Table>
      )}
      <p className="table-note small soft">
        {count(batch.total_jobs)} of {count(budget)} runs of the budget are used.
      </p>
      {data?.[0]?.source === 'rare-event/1' && (
        <p className="table-note small soft">
          The coordinator appends these rounds to estimate a rare violation (experimental): the{' '}
          <a href={hrefOf(['batches', batch.id, 'overview'])}>overview</a> has its probability and bounds.
        </p>
      )}
    </Panel>
  );
}

function Row({ batchId, round: it, table }: { batchId: string; round: Round; table: RunTable }) {
  const counts = countsBetween(table.status, it.first_run_id, it.first_run_id + it.count);
  const open = counts.Pending + counts.Claimed + counts.Running;
  const where = whereOfRounds({ from: it.round, to: it.round });
  return (
    <tr aria-current={hasOpenRuns(counts) ? 'true' : undefined}>
      <td data-label="Round">
        <a href={hrefOf(['batches', batchId, 'runs'], { where })}>
          <strong>{count(it.round)}</strong>
        </a>
      </td>
      <td data-label="Key">
        <span className="mono">{it.key ?? '–'}</span>
        {it.label !== null && <div className="small soft">{it.label}</div>}
        {it.note !== null && (
          <div className="small soft clip note-text" title={it.note}>
            {it.note}
          </div>
        )}
      </td>
      <td className="nowrap" data-label="Runs">
        {count(it.count)} <span className="soft mono">#{it.run_ids}</span>
      </td>
      <td className="wide">
        <StatusBar batchId={batchId} counts={counts} where={where} />
      </td>
      <td className="right nowrap" data-label="Ended">
        {open === 0 ? 'all' : `${count(it.count - open)} of ${count(it.count)}`}
      </td>
      <td data-label="Appended">
        <Time at={it.appended_at} />
      </td>
    </tr>
  );
}

function Pages({ page, pages }: { page: number; pages: number }) {
  if (pages === 1) return null;
  const to = (it: number): void => changeQuery({ page: String(it) });
  return (
    <span className="row" role="group" aria-label="Pages">
      <button type="button" className="quiet" disabled={page === 1} onClick={() => to(1)}>
        First
      </button>
      <button type="button" className="quiet" disabled={page === 1} onClick={() => to(page - 1)}>
        Earlier
      </button>
      <span className="small soft">
        page {count(page)} of {count(pages)}
      </span>
      <button type="button" className="quiet" disabled={page === pages} onClick={() => to(page + 1)}>
        Later
      </button>
      <button
        type="button"
        className="quiet"
        disabled={page === pages}
        onClick={() => changeQuery({ page: undefined })}
      >
        Latest
      </button>
    </span>
  );
}
