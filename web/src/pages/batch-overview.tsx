/** The course of a batch: how its runs ended over time, and what went wrong in those that failed. */
import { useDeferredValue, useMemo } from 'react';
import { groupFailures } from '../../../src/domain/failure-groups.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { STATUS_CODE } from '../data/run-columns.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Command, Empty, Panel } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { count, duration } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { isFailure } from '../plots/variables.ts';
import { hrefOf } from '../router.ts';

const SLOTS = 240;

export function BatchOverview({ table }: { table: RunTable }) {
  const version = useDeferredValue(useTableVersion(table));
  const course = useMemo(() => courseOf(table), [table, version]);
  const pace = useMemo(() => paceOf(table), [table, version]);
  if (course === undefined || pace === undefined) {
    return (
      <section className="panel">
        {table.isLoaded ? (
          <Empty title="No run has ended yet.">
            <p>Runs are handed out as soon as a runner that takes this simulation has room. To start one here:</p>
            <Command text={`simbatch runner --endpoint ${window.location.origin}`} />
            <p>Why nothing runs, if there are runners already:</p>
            <Command text={`simbatch status ${table.batchId}`} />
          </Empty>
        ) : (
          <Empty title="Reading the runs …" />
        )}
      </section>
    );
  }
  return (
    <>
      <div className="columns">
        <Panel title="Progress">
          <TimeSeries
            label="Runs completed and failed, over time"
            times={course.times}
            series={[
              { name: 'Completed', colour: 'completed', values: course.completed, fill: true },
              { name: 'Failed or timed out', colour: 'failed', values: course.failed },
            ]}
          />
        </Panel>
        <Panel title="Throughput">
          <TimeSeries
            label="Runs ended per minute, over time"
            times={pace.times}
            series={[
              {
                name: `Runs ended per minute, each step ${duration(pace.stepMs)}`,
                colour: 'running',
                values: pace.perMinute,
                fill: true,
                steps: true,
              },
            ]}
          />
        </Panel>
      </div>
      <Failures table={table} version={version} />
    </>
  );
}

interface Course {
  times: number[];
  completed: number[];
  failed: number[];
}

interface Span {
  from: number;
  to: number;
  /** How many runs ended in it. */
  ended: number;
}

/** From the first start to the last end; undefined while nothing has ended. */
function spanOf(table: RunTable): Span | undefined {
  let ends = 0;
  let from = Infinity;
  let to = -Infinity;
  for (let run = 0; run < table.size; run += 1) {
    const ended = table.ended[run]!;
    if (Number.isNaN(ended) || table.status[run] === STATUS_CODE.Cancelled) continue;
    ends += 1;
    if (ended > to) to = ended;
    const started = table.started[run]!;
    if (started < from) from = started;
    if (ended < from) from = ended;
  }
  return ends === 0 ? undefined : { from, to, ended: ends };
}

/** How many have ended up to each time, in equal slots. */
function courseOf(table: RunTable): Course | undefined {
  const span = spanOf(table);
  if (span === undefined) return undefined;
  const { from, to } = span;
  const slotMs = Math.max(250, Math.ceil((to - from + 1) / SLOTS / 250) * 250);
  const slots = Math.floor((to - from) / slotMs) + 1;
  const completed = Array.from({ length: slots + 1 }, () => 0);
  const failed = Array.from({ length: slots + 1 }, () => 0);
  for (let run = 0; run < table.size; run += 1) {
    const ended = table.ended[run]!;
    if (Number.isNaN(ended)) continue;
    const slot = Math.floor((ended - from) / slotMs) + 1;
    if (table.status[run] === STATUS_CODE.Completed) completed[slot]! += 1;
    else if (isFailure(table.status[run]!)) failed[slot]! += 1;
  }
  for (let slot = 1; slot <= slots; slot += 1) {
    completed[slot]! += completed[slot - 1]!;
    failed[slot]! += failed[slot - 1]!;
  }
  return { times: completed.map((_, slot) => (from + slot * slotMs) / 1_000), completed, failed };
}

interface Pace {
  times: number[];
  perMinute: number[];
  stepMs: number;
}

/** Few ends in a step make spikes of single runs; more steps than this cannot be told apart. */
const ENDS_PER_STEP = 8;
const MOST_STEPS = 120;
const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400].map(
  (secs) => secs * 1_000,
);

/** How many ended per minute, in steps of a round length that hold some ends each. */
function paceOf(table: RunTable): Pace | undefined {
  const span = spanOf(table);
  if (span === undefined) return undefined;
  const { from, to, ended } = span;
  const tookMs = Math.max(to - from, 1_000);
  const leastMs = Math.max((tookMs * ENDS_PER_STEP) / ended, tookMs / MOST_STEPS);
  const stepMs = Math.min(tookMs, STEPS_MS.find((it) => it >= leastMs) ?? leastMs);
  // A last step that has only begun says little about the pace: it waits until it is half over.
  const steps = Math.max(1, Math.round(tookMs / stepMs));
  const ends = new Float64Array(steps);
  for (let run = 0; run < table.size; run += 1) {
    const at = Math.floor((table.ended[run]! - from) / stepMs);
    if (table.status[run] !== STATUS_CODE.Cancelled && at < steps) ends[at]! += 1;
  }
  const perMinute = Array.from(ends, (it, at) => (it * 60_000) / Math.min(stepMs, tookMs - at * stepMs));
  const times = perMinute.map((_, at) => (from + at * stepMs) / 1_000);
  // A step is drawn from its beginning: the last one needs an end.
  times.push((from + Math.min(steps * stepMs, tookMs)) / 1_000);
  perMinute.push(perMinute.at(-1)!);
  return { times, perMinute, stepMs };
}

const GROUPS = 30;
const RUNS = 8;

function Failures({ table, version }: { table: RunTable; version: number }) {
  const groups = useMemo(() => groupFailures(failuresOf(table)), [table, version]);
  const total = groups.reduce((sum, it) => sum + it.runs.length, 0);
  return (
    <Panel title={groups.length === 0 ? 'Failures' : `Failures: ${count(total)} runs, $X`} flush>
      {groups.length === 0 ? (
        <Empty title="No run has failed." />
      ) : (
        <Table
          label="Failures by message"
          columns={[{ name: 'Runs', right: true }, 'Message, without what varies', 'Such as']}
        >
          {groups.slice(0, GROUPS).map((group) => (
            <tr key={group.pattern}>
              <td className="right">
                <strong>{count(group.runs.length)}</strong>
              </td>
              <td className="message">
                <a
                  href={hrefOf(['batches', table.batchId, 'runs'], {
                    status: 'Failed,Timeout',
                    message: group.pattern,
                  })}
                  title={group.example}
                >
                  {group.pattern}
                </a>
              </td>
              <td className="mono nowrap inline">
                {group.runs.slice(0, RUNS).map((run) => (
                  <a key={run} href={hrefOf(['jobs', jobId(table.batchId, run)])}>
                    #{run}{' '}
                  </a>
                ))}
                {group.runs.length > RUNS && <span className="soft">…</span>}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

function* failuresOf(table: RunTable): Iterable<[number, string]> {
  const failed = [...table.errors].filter(([run]) => isFailure(table.status[run]!));
  yield* failed.sort(([a], [b]) => a - b);
}
