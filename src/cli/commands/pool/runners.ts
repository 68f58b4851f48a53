/** `simbatch runners`, `drain`, `resume` and `forget`: the pool. */
import { Command } from 'commander';
import { RUNNER_STATUSES } from '../../../contract/enums.ts';
import type { Runner, RunnerStatus } from '../../../contract/types.ts';
import { formatDuration, formatTimestamp, plural, printable } from '../../terminal/format.ts';
import { statusOption, clientCommand, connect, texts, type ClientFlags } from '../../options.ts';
import { emptyList } from '../../terminal/empty-list.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { renderTable, type Column } from '../../terminal/table.ts';
import { systemClock } from '../../../base/clock.ts';

interface RunnersFlags extends ClientFlags {
  status?: RunnerStatus[];
  tag?: string[];
}

const COLUMNS: readonly Column[] = [
  { name: 'runner' },
  { name: 'name' },
  { name: 'status' },
  { name: 'jobs', align: 'right' },
  { name: 'cores', align: 'right' },
  { name: 'memory GB', align: 'right' },
  { name: 'simulations' },
  { name: 'completed', align: 'right' },
  { name: 'failed', align: 'right' },
  { name: 'heartbeat' },
  { name: 'drained because' },
];

export function runnersCommand(): Command {
  return clientCommand('runners', 'list the runners of the pool')
    .addOption(statusOption(RUNNER_STATUSES))
    .option('--tag <tags>', 'only those with one of these tags', texts)
    .action(async (flags: RunnersFlags) => {
      const client = await connect(flags);
      const pool = await client.runners({ status: flags.status ?? [], tag: flags.tag ?? [] });
      if (flags.output === 'json') return writeJson(pool);
      if (pool.runners.length === 0) {
        const filters = { '--status': flags.status, '--tag': flags.tag };
        return note(emptyList({ plural: 'runners', remedy: 'start one with `simbatch runner`', filters }));
      }
      const now = systemClock.now();
      await writeLine(
        renderTable(
          COLUMNS,
          pool.runners.map((runner) => row(runner, now)),
        ),
      );
      await writeLine(
        `${pool.active_runners} connected, ${pool.offline_runners} offline, room for ${plural(pool.total_capacity, 'job')} at a time`,
      );
    });
}

/** `3/4`, with the jobs that wait for a slot and the slots that are lost: `4/4 (2 wait)`. */
function slotsOf({ current_jobs, capabilities, slots_lost }: Runner): string {
  const slots = capabilities.max_concurrent_jobs;
  const waiting = Math.max(0, current_jobs.length - slots);
  const notes = [
    ...(waiting > 0 ? [`${waiting} wait`] : []),
    ...(slots_lost === undefined ? [] : [`${slots_lost} lost`]),
  ];
  return `${current_jobs.length - waiting}/${slots}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
}

/** `new disk (until 2026-11-22 06:00:00)`. */
function drainOf({ drain_reason: reason = '', drained_until: until }: Runner): string {
  return until === undefined ? reason : `${reason} (until ${formatTimestamp(until)})`.trimStart();
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as it is, or one after a duration such as `8h`; the coordinator refuses anything else. */
function untilOption(text: string): string {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (amount === undefined) return text;
  return new Date(systemClock.now() + Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]).toISOString();
}

function row(runner: Runner, now: number): (string | number)[] {
  const { capabilities: can } = runner;
  // A capacity of 0 is undeclared.
  const declared = (amount: number): string | number => (amount === 0 ? '-' : amount);
  return [
    runner.id,
    runner.name,
    runner.status,
    slotsOf(runner),
    declared(can.cpu_cores),
    declared(can.memory_gb),
    can.supported_simulation_types.join(',') || '*',
    runner.total_jobs_completed,
    runner.total_jobs_failed,
    `${formatDuration(Math.max(0, now - Date.parse(runner.last_heartbeat)) / 1000)} ago`,
    drainOf(runner),
  ];
}

export function drainCommand(): Command {
  return clientCommand('drain', 'stop new work for a runner; its active runs complete')
    .argument('<runner>', 'runner id')
    .option('--reason <text>', 'the reason, shown with the runner')
    .option('--until <time>', 'resume by itself: a time (2026-11-22T06:00:00Z), or after 30m, 8h or 2d', untilOption)
    .action(async (runnerId: string, flags: ClientFlags & { reason?: string; until?: string }) => {
      const client = await connect(flags);
      return showRunner(await client.drain(runnerId, flags.reason, flags.until), flags);
    });
}

export function forgetCommand(): Command {
  return clientCommand('forget', 'forget a runner that is Offline and holds no jobs')
    .argument('<runner>', 'runner id')
    .action(async (runnerId: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const runner = await client.forgetRunner(runnerId);
      if (flags.output === 'json') return writeJson(runner);
      return writeLine(`${printable(runner.id)} was forgotten`);
    });
}

/** Prints the state of a runner. */
export async function showRunner(runner: Runner, flags: ClientFlags): Promise<void> {
  if (flags.output === 'json') return writeJson(runner);
  const held = runner.current_jobs.length;
  await writeLine(
    `${printable(runner.id)} is ${runner.status}${held === 0 ? '' : `, ${plural(held, 'job')} still running`}`,
  );
}
