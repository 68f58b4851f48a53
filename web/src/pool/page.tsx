/** The page of the pool: its runners, a lane for each of their slots, and the use of its capacity. */
import { useEffect, useState } from 'react';
import { shownStatus } from '../../../src/contract/enums.ts';
import type { Runner } from '../../../src/contract/types.ts';
import { usableSlots } from '../../../src/domain/scheduling.ts';
import { usePool } from '../data/use-pool.ts';
import { Command, Empty, Failure, Waiting } from '../parts/common.tsx';
import { here } from '../parts/here.ts';
import { Stat } from '../parts/stat.tsx';
import { StatusFilter } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';
import { Budgets } from './budgets.tsx';
import { Capacity } from './capacity.tsx';
import { Gantt } from './gantt.tsx';
import { RunnerTable } from './runner-table.tsx';
import { SiteResources } from './site-resources.tsx';

export function RunnersPage({ query }: { query: URLSearchParams }) {
  const pool = usePool();
  const now = useNow() + (pool.data?.clockOffsetMs ?? 0);
  const runners = [...(pool.data?.runners.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
  const status = query.get('status') ?? '';
  const shown = runners.filter((it) => status === '' || it.status === status);
  const held = (it: Runner[]): number => it.reduce((sum, runner) => sum + runner.current_jobs.length, 0);
  const taking = runners.filter((it) => it.status === 'Idle' || it.status === 'Busy');
  const slots = taking.reduce((sum, it) => sum + usableSlots(it.capabilities, it.slots_lost), 0);
  // Drained and silent runners hold runs but offer no slots: their runs do not count as used capacity.
  const elsewhere = held(runners) - held(taking);
  return (
    <>
      <div className="head">
        <h1 className="grow">Pool</h1>
      </div>
      <Failure what="The pool could not be read." detail={pool.error} />
      {pool.data === undefined && pool.error === undefined && <Waiting what="Reading the pool" />}
      {pool.data !== undefined && runners.length === 0 && <NoRunners />}
      <Budgets />
      <SiteResources pools={pool.data?.siteResources ?? []} />
      {runners.length > 0 && (
        <>
          <dl className="stats">
            <Stat
              name="Connected"
              value={count(runners.filter((it) => it.status !== 'Offline').length)}
              note={` of ${count(runners.length)}`}
            />
            <Stat
              name="Runs held"
              value={count(held(taking))}
              note={` of ${count(slots)} slots${elsewhere > 0 ? `; ${count(elsewhere)} more by drained or silent runners` : ''}`}
            />
            <Stat name="Drained" value={count(runners.filter((it) => it.status === 'Maintenance').length)} />
            <Stat name="Offline" value={count(runners.filter((it) => it.status === 'Offline').length)} />
          </dl>
          <section className="panel" aria-label="Pool">
            <header>
              <h2 className="grow">Pool</h2>
              <StatusFilter
                label="Only runners that are"
                statuses={['Idle', 'Busy', 'Maintenance', 'Offline']}
                current={status}
              />
            </header>
            {shown.length === 0 ? (
              <Empty title={`No runner is ${shownStatus(status)}.`} />
            ) : (
              <RunnerTable runners={shown} now={now} />
            )}
          </section>
          <Gantt runners={shown} now={now} />
          <Capacity slots={slots} busy={held(taking)} />
        </>
      )}
    </>
  );
}

function NoRunners() {
  return (
    <section className="panel">
      <Empty title="No runner has registered yet.">
        <p>Start one on each machine with free cores:</p>
        <Command text={`simbatch runner ${here()}`} />
      </Empty>
    </section>
  );
}

/** Returns the time, once per second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1_000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
