/** The page of one runner: its machine, its slots, the runs that it holds and has executed lately, its errors. */
import { useMemo } from 'react';
import type { Job, PoolHistory, Runner } from '../../../src/contract/types.ts';
import { decisiveLine } from '../../../src/domain/runs/failure-groups.ts';
import { useRequest } from '../data/api.ts';
import { usePool } from '../data/use-pool.ts';
import { useRefresh } from '../data/use-refresh.ts';
import { Empty, Failure, Panel, Waiting } from '../parts/common.tsx';
import { Stat } from '../parts/stat.tsx';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { duration, Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { Gantt, historyPath } from './gantt.tsx';
import { useNow } from './page.tsx';
import { RunnerTable } from './runner-table.tsx';

export function RunnerPage({ runnerId }: { runnerId: string }) {
  const pool = usePool();
  const now = useNow() + (pool.data?.clockOffsetMs ?? 0);
  const runner = pool.data?.runners.get(runnerId);
  if (pool.error !== undefined) return <Failure what="The pool could not be read." detail={pool.error} />;
  if (pool.data === undefined) return <Waiting what="Reading the runner" />;
  if (runner === undefined) {
    return (
      <section className="panel">
        <Empty title={`No runner "${runnerId}" is registered.`}>
          <a href={hrefOf(['runners'])}>Show the pool</a>
        </Empty>
      </section>
    );
  }
  return (
    <>
      <div className="head">
        <div className="grow row title">
          <h1>{runner.name}</h1>
          <State status={runner.status} />
          {runner.name !== runner.id && <span className="mono soft">{runner.id}</span>}
          <span className="soft">{runner.tags.join(' · ')}</span>
        </div>
        <a className="button" href={hrefOf(['inspect', 'runner', runner.id])}>
          Inspect
        </a>
      </div>
      <section className="panel" aria-label="State and actions">
        <RunnerTable runners={[runner]} now={now} />
      </section>
      <Figures runner={runner} now={now} />
      <Gantt runners={[runner]} now={now} />
      <Latest runner={runner} />
    </>
  );
}

/** The figures that the table above does not have; a runner may report none of them. */
function Figures({ runner, now }: { runner: Runner; now: number }) {
  const { capabilities: able, disk_free_bytes: free, clock_offset_secs: ahead, allocation, ends_at: endsAt } = runner;
  const figures: [name: string, value: string][] = [];
  if (free !== undefined) figures.push(['Free for artifacts', `${Number((free / 1024 ** 3).toPrecision(3))} GiB`]);
  if (ahead !== undefined) figures.push(['Clock', `${ahead} s ahead`]);
  if (able.python_version !== undefined) figures.push(['Python', able.python_version]);
  if (allocation !== undefined) figures.push(['Allocation', allocation]);
  if (endsAt !== undefined) figures.push(['Machine ends in', duration(Math.max(0, Date.parse(endsAt) - now))]);
  if (figures.length === 0) return null;
  return (
    <dl className="stats">
      {figures.map(([name, value]) => (
        <Stat key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

const SHOWN = 30;

function Latest({ runner }: { runner: Runner }) {
  const round = useRefresh(true);
  const { data } = useRequest<PoolHistory>(historyPath([runner.id]), round);
  const latest = useMemo(() => data?.attempts.toReversed() ?? [], [data]);
  if (latest.length === 0) return null;
  const failed = latest.filter((it) => it.outcome !== 'completed').length;
  return (
    <Panel title={`Latest attempts: ${failed} of ${latest.length} did not complete`} flush>
      <Table
        label="Latest attempts"
        columns={['Run', 'Outcome', { name: 'Ended', late: true }, { name: 'Took', right: true }, 'Error']}
      >
        {[...latest]
          .sort((a, b) => Number(a.outcome === 'completed') - Number(b.outcome === 'completed'))
          .slice(0, SHOWN)
          .map((it) => (
            <tr key={`${it.job_id} ${it.attempt}`}>
              <td className="nowrap">
                <a href={hrefOf(['jobs', it.job_id])}>#{Number.parseInt(it.job_id.slice(-8), 16) - 1}</a>
                {it.attempt > 1 && <span className="small soft"> attempt {it.attempt}</span>}
              </td>
              <td>{it.outcome}</td>
              <td className="narrow-hide">
                <Time at={it.ended_at} />
              </td>
              <td className="right nowrap">{duration(Date.parse(it.ended_at) - Date.parse(it.started_at))}</td>
              <td className="message">{it.outcome === 'completed' ? '' : <ErrorOf jobId={it.job_id} />}</td>
            </tr>
          ))}
      </Table>
    </Panel>
  );
}

function ErrorOf({ jobId }: { jobId: string }) {
  const { data } = useRequest<Job>(`/jobs/${jobId}`);
  return <span className="bad">{data?.error_message === undefined ? '' : decisiveLine(data.error_message)}</span>;
}
