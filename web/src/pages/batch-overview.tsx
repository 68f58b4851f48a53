/** Overview of a study: its runs over time, and the failures by pattern. */
import { useDeferredValue, useMemo } from 'react';
import { groupFailures } from '../../../src/domain/failure-groups.ts';
import { jobId } from '../../../src/domain/ids.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Command, Empty, Panel } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { count, duration } from '../parts/time.tsx';
import { courseOf, paceOf } from '../plots/course.ts';
import { TimeSeries } from '../plots/time-series.tsx';
import { isFailure } from '../plots/variables.ts';
import { hrefOf } from '../router.ts';

export function BatchOverview({ table }: { table: RunTable }) {
  const version = useDeferredValue(useTableVersion(table));
  const course = useMemo(() => courseOf(table), [table, version]);
  const pace = useMemo(() => paceOf(table), [table, version]);
  if (course === undefined || pace === undefined) {
    return (
      <section className="panel">
        {table.isLoaded ? (
          <Empty title="No run has ended yet.">
            <p>Runs start as soon as a runner that supports this simulation has a free slot. To start one here:</p>
            <Command text={`simbatch runner --endpoint ${window.location.origin}`} />
            <p>Why nothing runs although runners are connected:</p>
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

const GROUPS = 30;
const RUNS = 8;

function Failures({ table, version }: { table: RunTable; version: number }) {
  const groups = useMemo(() => groupFailures(failuresOf(table)), [table, version]);
  const total = groups.reduce((sum, it) => sum + it.runs.length, 0);
  const several = (number: number, what: string): string => `${count(number)} ${what}${number === 1 ? '' : 's'}`;
  const sum = `Failures: ${several(total, 'run')}, ${several(groups.length, 'kind')}`;
  return (
    <Panel title={groups.length === 0 ? 'Failures' : sum} flush>
      {groups.length === 0 ? (
        <Empty title="No run has failed." />
      ) : (
        <Table label="Failures by message" columns={[{ name: 'Runs', right: true }, 'Message pattern', 'Example']}>
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
