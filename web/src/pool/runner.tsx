/** The page of one runner: its machine, its slots, the runs that it holds and has executed lately, its errors. */
import { useMemo } from 'react';
import type { Job, PoolHistory, Runner } from '../../../src/contract/types.ts';
import { decisiveLine } from '../../../src/domain/failure-groups.ts';
import { usableSlots } from '../../../src/domain/scheduling.ts';
import { useRequest } from '../data/api.ts';
import { usePool } from '../data/use-pool.ts';
import { useRounds } from '../data/use-rounds.ts';
import { Empty, Failure, Panel, Waiting } from '../parts/common.tsx';
import { Stat } from '../parts/stat.tsx';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { count, duration, Time } from '../parts/time.tsx';
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
        <a className="button" href={hrefOf(['machines', 'runner', runner.id])}>
          Its states
        </a>
      </div>
      <Figures runner={runner} now={now} />
      <section className="panel" aria-label="State and actions">
        <RunnerTable runners={[runner]} now={now} />
      </section>
      <Gantt runners={[runner]} now={now} />
      <Latest runner={runner} />
    </>
  );
}

function Figures({ runner, now }: { runner: Runner; now: number }) {
  const { capabilities: able } = runner;
  const slots = usableSlots(able, runner.slots_lost);
  return (
    <dl className="stats">
      <Stat
        name="Slots used"
        value={`${Math.min(slots, runner.current_jobs.length)} of ${slots}`}
        note={runner.slots_lost === undefined ? '' : `, ${runner.slots_lost} lost`}
      />
      <Stat name="Heartbeat" value={`${duration(Math.max(0, now - Date.parse(runner.last_heartbeat)))} ago`} />
      <Stat name="Completed runs" value={count(runner.total_jobs_completed)} />
      <Stat name="Failed attempts" value={count(runner.total_jobs_failed)} />
      <Stat
        name="Machine"
        value={able.cpu_cores > 0 ? `${able.cpu_cores} cores` : 'any cores'}
        note={`${able.memory_gb > 0 ? `, ${able.memory_gb} GB` : ''}${able.gpu_available ? ', GPU' : ''}`}
      />
      {runner.disk_free_bytes !== undefined && (
        <Stat name="Free for artifacts" value={`${Number((runner.disk_free_bytes / 1024 ** 3).toPrecision(3))} GiB`} />
      )}
      {runner.clock_offset_secs !== undefined && (
        <Stat name="Clock" value={`${runner.clock_offset_secs} s`} note=" ahead" />
      )}
      {able.python_version !== undefined && <Stat name="Python" value={able.python_version} />}
      {runner.allocation !== undefined && <Stat name="Allocation" value={runner.allocation} />}
      {runner.ends_at !== undefined && (
        <Stat name="Machine ends in" value={duration(Math.max(0, Date.parse(runner.ends_at) - now))} />
      )}
    </dl>
  );
}

const SHOWN = 30;

function Latest({ runner }: { runner: Runner }) {
  const round = useRounds(true);
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
