/** The pool: who is there, what each holds, and taking a runner out of service and back. */
import { useEffect, useRef, useState } from 'react';
import type { Runner, RunnerListResponse } from '../../../src/domain/types.ts';
import { post } from '../data/api.ts';
import { useTopic, type FeedMessage } from '../data/live.ts';
import { Ask, Command, Empty, Failure, Panel, Waiting } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { count, duration, Time } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { changeQuery, hrefOf } from '../router.ts';

interface Pool {
  runners: Map<string, Runner>;
  /** The coordinator's clock less this browser's, in ms. */
  clockOffsetMs: number;
}

function merge(before: Pool | undefined, message: FeedMessage & { type: 'snapshot' | 'delta' }): Pool {
  const { runners, forgotten = [], now } = message.data as RunnerListResponse & { forgotten?: string[]; now: number };
  const all = message.type === 'snapshot' ? new Map<string, Runner>() : new Map(before?.runners);
  for (const id of forgotten) all.delete(id);
  for (const it of runners) all.set(it.id, it);
  return { runners: all, clockOffsetMs: now - Date.now() };
}

export function RunnersPage({ query }: { query: URLSearchParams }) {
  const pool = useTopic('pool', merge);
  const now = useNow() + (pool.data?.clockOffsetMs ?? 0);
  const runners = [...(pool.data?.runners.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
  const status = query.get('status') ?? '';
  const shown = runners.filter((it) => status === '' || it.status === status);
  const held = (it: Runner[]): number => it.reduce((sum, runner) => sum + runner.current_jobs.length, 0);
  const slots = runners
    .filter((it) => it.status === 'Idle' || it.status === 'Busy')
    .reduce((sum, it) => sum + it.capabilities.max_concurrent_jobs, 0);
  const series = useSeries(pool.data === undefined ? undefined : [slots, held(runners)]);
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
            <Stat name="Runs held" value={count(held(runners))} note={` of ${count(slots)} places`} />
            <Stat name="Drained" value={count(runners.filter((it) => it.status === 'Maintenance').length)} />
            <Stat name="Offline" value={count(runners.filter((it) => it.status === 'Offline').length)} />
          </dl>
          <section className="panel" aria-label="Pool">
            <header>
              <h2 className="grow">Pool</h2>
              <div className="row" role="group" aria-label="Only runners that are">
                {['Idle', 'Busy', 'Maintenance', 'Offline'].map((it) => (
                  <button
                    key={it}
                    type="button"
                    className="chip"
                    aria-pressed={status === it}
                    onClick={() => changeQuery({ status: status === it ? undefined : it })}
                  >
                    <i className={`dot s-${it}`} aria-hidden="true" />
                    {it}
                  </button>
                ))}
              </div>
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
        <p>Start one on each machine that has cores to give:</p>
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

/** The time, once a second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1_000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}

const SAMPLES = 900;

/** The values once a second, since the page was opened. */
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

function RunnerTable({ runners, now }: { runners: Runner[]; now: number }) {
  const [asked, setAsked] = useState<Runner>();
  const [failure, setFailure] = useState<{ what: string; detail: string }>();
  const say = (runner: Runner, what: 'drain' | 'resume', reason?: string): void => {
    setFailure(undefined);
    const query = reason === undefined ? '' : `?reason=${encodeURIComponent(reason)}`;
    post(`/runners/${encodeURIComponent(runner.id)}/${what}${query}`).catch((error: Error) =>
      setFailure({ what: `${runner.id} was not ${what === 'drain' ? 'drained' : 'resumed'}.`, detail: error.message }),
    );
  };
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Table of runners">
      {failure !== undefined && <Failure {...failure} />}
      <table>
        <thead>
          <tr>
            <th>Runner</th>
            <th>State</th>
            <th>Holds</th>
            <th className="right">Heartbeat</th>
            <th className="right">Completed</th>
            <th className="right">Failed</th>
            <th>Resources</th>
            <th>Registered</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runners.map((it) => (
            <RunnerRow
              key={it.id}
              runner={it}
              now={now}
              onDrain={setAsked}
              onResume={(runner) => say(runner, 'resume')}
            />
          ))}
        </tbody>
      </table>
      {asked !== undefined && (
        <Ask
          title={`Drain ${asked.id}?`}
          reason="Why (shown to others)"
          action="Drain"
          onAnswer={(reason) => say(asked, 'drain', reason)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            It takes no new runs; the {asked.current_jobs.length} it holds go on to their end. It stays drained over
            restarts until it is resumed.
          </p>
        </Ask>
      )}
    </div>
  );
}

interface RowProps {
  runner: Runner;
  now: number;
  onDrain: (runner: Runner) => void;
  onResume: (runner: Runner) => void;
}

function RunnerRow({ runner, now, onDrain, onResume }: RowProps) {
  const { capabilities: able, current_jobs: held } = runner;
  const isDrained = runner.status === 'Maintenance' || runner.drain_reason !== undefined;
  return (
    <tr>
      <td>
        <a href={hrefOf(['machines', 'runner', runner.id])}>
          <strong>{runner.name}</strong>
        </a>
        {runner.name !== runner.id && <div className="small soft mono">{runner.id}</div>}
        {runner.tags.length > 0 && <div className="small soft">{runner.tags.join(' · ')}</div>}
      </td>
      <td>
        <State status={runner.status} />
        {runner.drain_reason !== undefined && <div className="small soft">{runner.drain_reason}</div>}
      </td>
      <td>
        <div className="nowrap">
          {held.length} of {able.max_concurrent_jobs}
        </div>
        <div className="small mono inline">
          {held.slice(0, 4).map((id) => (
            <a key={id} href={hrefOf(['jobs', id])} title={id}>
              #{Number.parseInt(id.slice(-8), 16) - 1}{' '}
            </a>
          ))}
          {held.length > 4 && <span className="soft">+{held.length - 4}</span>}
        </div>
      </td>
      <td className="right nowrap">{duration(Math.max(0, now - Date.parse(runner.last_heartbeat)))} ago</td>
      <td className="right">{count(runner.total_jobs_completed)}</td>
      <td className="right">{count(runner.total_jobs_failed)}</td>
      <td className="small">
        {able.cpu_cores > 0 ? `${able.cpu_cores} cores` : 'any cores'},{' '}
        {able.memory_gb > 0 ? `${able.memory_gb} GB` : 'any memory'}
        {able.gpu_available && ', GPU'}
        <div className="soft">{able.supported_simulation_types.join(', ') || 'any simulation'}</div>
      </td>
      <td>
        <Time at={runner.registered_at} />
      </td>
      <td className="right">
        {isDrained ? (
          <button type="button" onClick={() => onResume(runner)}>
            Resume<span className="visually-hidden"> {runner.id}</span>
          </button>
        ) : (
          <button type="button" onClick={() => onDrain(runner)}>
            Drain<span className="visually-hidden"> {runner.id}</span>
          </button>
        )}
      </td>
    </tr>
  );
}
