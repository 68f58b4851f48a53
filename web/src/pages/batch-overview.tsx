/** The course of a batch: how its runs ended over time, and what went wrong in those that failed. */
import { useDeferredValue, useMemo } from 'react';
import { groupFailures } from '../../../src/domain/failure-groups.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { STATUS_CODE } from '../data/run-columns.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Command, Empty, Panel } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { isFailure } from '../plots/variables.ts';
import { hrefOf } from '../router.ts';

const SLOTS = 240;

export function BatchOverview({ table }: { table: RunTable }) {
  const version = useDeferredValue(useTableVersion(table));
  const course = useMemo(() => courseOf(table), [table, version]);
  if (course === undefined) {
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
            times={course.times}
            series={[{ name: 'Runs ended per minute', colour: 'running', values: course.perMinute, fill: true }]}
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
  perMinute: number[];
}

/** Cut into equal slots from the first start to the last end; undefined while nothing has ended. */
function courseOf(table: RunTable): Course | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (let run = 0; run < table.size; run += 1) {
    const ended = table.ended[run]!;
    if (Number.isNaN(ended) || table.status[run] === STATUS_CODE.Cancelled) continue;
    if (ended > to) to = ended;
    const started = table.started[run]!;
    if (started < from) from = started;
    if (ended < from) from = ended;
  }
  if (to === -Infinity) return undefined;
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
  const perMinute = completed.map((it, slot) => ((it + failed[slot]!) * 60_000) / slotMs);
  for (let slot = 1; slot <= slots; slot += 1) {
    completed[slot]! += completed[slot - 1]!;
    failed[slot]! += failed[slot - 1]!;
  }
  return { times: completed.map((_, slot) => (from + slot * slotMs) / 1_000), completed, failed, perMinute };
}

const GROUPS = 30;
const RUNS = 8;

function Failures({ table, version }: { table: RunTable; version: number }) {
  const groups = useMemo(() => groupFailures(failuresOf(table)), [table, version]);
  const total = groups.reduce((sum, it) => sum + it.runs.length, 0);
  return (
    <Panel
      title={groups.length === 0 ? 'Failures' : `Failures: ${count(total)} runs, ${count(groups.length)} kinds`}
      flush
    >
      {groups.length === 0 ? (
        <Empty title="No run has failed." />
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Failures by message">
          <table>
            <thead>
              <tr>
                <th className="right">Runs</th>
                <th>Message, without what varies</th>
                <th>Such as</th>
              </tr>
            </thead>
            <tbody>
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
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function* failuresOf(table: RunTable): Iterable<[number, string]> {
  const failed = [...table.errors].filter(([run]) => isFailure(table.status[run]!));
  yield* failed.sort(([a], [b]) => a - b);
}
