/** `simbatch runners`, `drain`, `resume` and `forget`: the pool. */
import { Command } from 'commander';
import { RUNNER_STATUSES, shownStatus } from '../../../contract/enums.ts';
import type { Runner, RunnerListResponse, RunnerStatus } from '../../../contract/types.ts';
import { poolText, useText } from '../../../domain/counted/counts.ts';
import { shortCode } from '../../../domain/code-name.ts';
import { formatDuration, formatTimestamp, plural, printable } from '../../terminal/format.ts';
import { statusOption, clientCommand, connect, texts, type ClientFlags } from '../../options.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { statusTone } from '../../terminal/colour.ts';
import { each, emptyList, LIST_FORMATS, type ListColumn, printList } from '../../terminal/list.ts';
import { writeJson, writeLine } from '../../terminal/output.ts';
import { systemClock } from '../../../base/clock.ts';

interface RunnersFlags extends ClientFlags {
  status?: RunnerStatus[];
  tag?: string[];
}

// A capacity of 0 is undeclared.
const declared = (amount: number): number | undefined => (amount === 0 ? undefined : amount);
const sinceHeartbeat = (it: Runner, nowMs: number): number => Math.max(0, nowMs - Date.parse(it.last_heartbeat)) / 1000;

/** The keys of columns that lists have where a runner has a value. */
const OCCASIONAL = ['resources', 'drained_because'];

/** The columns of these runners in lists; `nowMs`: relative times are relative to it. */
export const runnerColumns = (runners: readonly Runner[], nowMs: number): ListColumn<Runner>[] =>
  allColumns(nowMs).filter((it) => !OCCASIONAL.includes(it.key) || runners.some((runner) => it.value(runner) !== ''));

const allColumns = (nowMs: number): ListColumn<Runner>[] => [
  { name: 'runner', key: 'runner', value: ({ id }) => id, shrink: 16 },
  { name: 'name', key: 'name', value: ({ name }) => name, wide: true },
  {
    name: 'status',
    key: 'status',
    value: ({ status }) => status,
    cell: ({ status }) => shownStatus(status),
    tone: statusTone,
  },
  { name: 'slots', key: 'slots', align: 'right', value: slotsOf },
  { name: 'cores', key: 'cores', align: 'right', value: (it) => declared(it.capabilities.cpu_cores), wide: true },
  {
    name: 'memory GB',
    key: 'memory_gb',
    align: 'right',
    value: (it) => declared(it.capabilities.memory_gb),
    wide: true,
  },
  { name: 'resources', key: 'resources', value: resourcesOf, shrink: 10, rank: 2 },
  {
    name: 'simulations',
    key: 'simulations',
    value: (it) => it.capabilities.supported_simulation_types.join(',') || '*',
    shrink: 12,
    rank: 2,
  },
  { name: 'completed', key: 'completed', align: 'right', value: (it) => it.total_jobs_completed, rank: 3 },
  { name: 'failed', key: 'failed', align: 'right', value: (it) => it.total_jobs_failed, rank: 1 },
  {
    name: 'heartbeat',
    key: 'last_heartbeat',
    value: (it) => it.last_heartbeat,
    cell: (it) => `${formatDuration(sinceHeartbeat(it, nowMs))} ago`,
  },
  { name: 'code', key: 'code', value: codeOf, shrink: 12, wide: true },
  { name: 'tags', key: 'tags', value: (it) => it.tags.join(','), wide: true },
  { name: 'allocation', key: 'allocation', value: (it) => it.allocation, wide: true },
  { name: 'drained because', key: 'drained_because', value: drainOf, shrink: 12 },
];

export function runnersCommand(): Command {
  return clientCommand('runners', 'list the runners of the pool', LIST_FORMATS)
    .addOption(statusOption(RUNNER_STATUSES, shownStatus))
    .option('--tag <tags>', 'only those with one of these tags', texts)
    .action(async (flags: RunnersFlags) => {
      const client = await connect(flags);
      const pool = await client.runners({ status: flags.status ?? [], tag: flags.tag ?? [] });
      const filters = { '--status': flags.status, '--tag': flags.tag };
      // The answer of the coordinator has the sums of the pool beside the list.
      if (flags.format === 'json') return writeJson(pool);
      const count = await printList(flags.format, each(pool.runners), {
        columns: runnerColumns(pool.runners, systemClock.now()),
        nameOf: ({ id }) => id,
        none: emptyList({ plural: 'runners', remedy: 'start one with `simbatch runner`', filters }),
      });
      if (count > 0) await writeLine(poolLine(pool));
      if (flags.format === 'table' || flags.format === 'wide')
        for (const it of pool.site_resources ?? []) await writeLine(poolText(it));
      return undefined;
    });
}

/** `2 connected, 0 offline, room for 2 runs at a time`. */
export const poolLine = (pool: RunnerListResponse): string =>
  `${pool.active_runners} connected, ${pool.offline_runners} offline, room for ${plural(pool.total_capacity, 'run')} at a time`;

/** `3/4`, with the jobs that wait for a slot, the slots that are lost and why it leaves: `4/4 (2 wait)`. */
function slotsOf({ current_jobs, capabilities, slots_lost, leaving }: Runner): string {
  const slots = capabilities.max_concurrent_jobs;
  const waiting = Math.max(0, current_jobs.length - slots);
  const notes = [
    ...(waiting > 0 ? [`${waiting} wait`] : []),
    ...(slots_lost === undefined ? [] : [`${slots_lost} lost`]),
    ...(leaving === undefined ? [] : [`leaving: ${leaving}`]),
  ];
  return `${current_jobs.length - waiting}/${slots}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
}

/** `1/2 gpu, 0/2 comsol`: in use and there. */
const resourcesOf = (it: Runner): string => useText(it.capabilities.resources, it.resources_used);

/** The codes of its engines, and `+` after one with changes since its commit: `rocket 9f3c12ab34cd+`. */
function codeOf({ engines = [] }: Runner): string {
  const known = engines.filter(({ image }) => image === undefined);
  return known
    .map(
      ({ name, code }) =>
        `${name} ${code === undefined ? '?' : shortCode(code.digest)}${code?.git?.dirty === true ? '+' : ''}`,
    )
    .join(', ');
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

export function drainCommand(): Command {
  return clientCommand('drain', 'stop new work for a runner; its active runs complete', ['table', 'json', 'name'])
    .argument('<runner>', 'runner id')
    .option('--reason <text>', 'the reason, shown with the runner')
    .option('--until <time>', 'resume by itself: a time (2026-11-22T06:00:00Z), or after 30m, 8h or 2d', untilOption)
    .action(async (runnerId: string, flags: ClientFlags & { reason?: string; until?: string }) => {
      const client = await connect(flags);
      return showRunner(await client.drain(runnerId, flags.reason, flags.until), flags);
    });
}

export function forgetCommand(): Command {
  return clientCommand('forget', 'forget a runner that is Offline and holds no runs', ['table', 'json', 'name'])
    .argument('<runner>', 'runner id')
    .option(...YES_OPTION)
    .action(async (runnerId: string, flags: ClientFlags & { yes?: boolean }) => {
      const client = await connect(flags);
      const { status } = await client.runner(runnerId);
      // A connected runner is refused by the coordinator.
      if (status === 'Offline') await confirm(`forget runner ${printable(runnerId)}, which is Offline`, flags.yes);
      const runner = await client.forgetRunner(runnerId);
      if (flags.format === 'json') return writeJson(runner);
      return writeLine(flags.format === 'name' ? printable(runner.id) : `${printable(runner.id)} was forgotten`);
    });
}

/** Prints the state of a runner. */
export async function showRunner(runner: Runner, flags: ClientFlags): Promise<void> {
  if (flags.format === 'json') return writeJson(runner);
  if (flags.format === 'name') return writeLine(runner.id);
  const held = runner.current_jobs.length;
  await writeLine(
    `${printable(runner.id)} is ${shownStatus(runner.status)}${held === 0 ? '' : `, ${plural(held, 'run')} still running`}`,
  );
}
