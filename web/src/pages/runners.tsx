/** The page of the pool: runners, and use of their capacity. */
import { useEffect, useRef, useState } from 'react';
import type { Runner } from '../../../src/contract/types.ts';
import { usableSlots } from '../../../src/domain/scheduling.ts';
import { usePool } from '../data/use-pool.ts';
import { Command, Empty, Failure, Panel, Waiting } from '../parts/common.tsx';
import { StatusFilter } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { RunnerTable } from './runner-table.tsx';

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
  const series = useSeries(pool.data === undefined ? undefined : [slots, held(taking)]);
  return (
    <>
      <div className="head">
        <h1 className="grow">Runners</h1>
      </div>
      <Failure what="The pool could not be read." detail={pool.error} />
      {pool.data === undefined && pool.error === undefined && <Waiting what="Reading the pool" />}
      {pool.data !== undefined && runners.length === 0 && <NoRunners />}
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
              note={` of ${count(slots)} places${elsewhere > 0 ? `; ${count(elsewhere)} more by drained or silent runners` : ''}`}
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
              <Empty title={`No runner is ${status}.`} />
            ) : (
              <RunnerTable runners={shown} now={now} />
            )}
          </section>
          <Panel title="Capacity over time" aside={<span className="small soft">since this page was opened</span>}>
            <TimeSeries
              label="Places of connected runners, and runs held, over time"
              times={series.times}
              series={[
                { name: 'Places', colour: 'pending', values: series.values[0] ?? [] },
                { name: 'Runs held', colour: 'running', values: series.values[1] ?? [], fill: true },
              ]}
              height={160}
              leastSpan={60}
            />
          </Panel>
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
        <Command text={`simbatch runner --endpoint ${window.location.origin}`} />
      </Empty>
    </section>
  );
}

export function Stat({ name, value, note = '' }: { name: string; value: string; note?: string }) {
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{note}</small>
      </dd>
    </div>
  );
}

/** Returns the time, once per second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1_000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}

const SAMPLES = 900;

/** Returns the values once per second, since the page was opened. */
function useSeries(values: number[] | undefined): { times: number[]; values: number[][] } {
  const latest = useRef(values);
  latest.current = values;
  const [series, setSeries] = useState<{ times: number[]; values: number[][] }>({ times: [], values: [] });
  useEffect(() => {
    const timer = window.setInterval(() => {
      const now = latest.current;
      if (now === undefined) return;
      setSeries((before) => ({
        times: [...before.times, Date.now() / 1_000].slice(-SAMPLES),
        values: now.map((it, at) => [...(before.values[at] ?? []), it].slice(-SAMPLES)),
      }));
    }, 1_000);
    return () => window.clearInterval(timer);
  }, []);
  return series;
}
