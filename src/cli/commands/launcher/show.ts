/** `simbatch launcher status` and `log`: the state of the launcher after its last round. */
import type { Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import { formatDuration } from '../../../domain/durations.ts';
import { isLive } from '../../../launcher/decision/usage.ts';
import { runnerNameOf } from '../../../launcher/loop/observe.ts';
import type { LauncherStatus, QueueStatus } from '../../../launcher/loop/status.ts';
import { readStatus } from '../../../launcher/state-folder.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { OutputCommand } from '../../output-command.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { plural, printable } from '../../terminal/format.ts';
import { renderTable } from '../../terminal/table.ts';
import { configOption, stateFolderOf, stateOption, type StateFlags } from './setup.ts';

export interface ShowFlags extends StateFlags {
  format: string;
}

export function statusCommand(): Command {
  return new OutputCommand('status')
    .description('queues and live allocations')
    .addOption(configOption())
    .addOption(stateOption())
    .action(showStatus);
}

export function logCommand(): Command {
  return new OutputCommand('log')
    .description('the states of an allocation, with times and reasons')
    .argument('<allocation>', 'its id, the beginning of its id, or its name in the API')
    .addOption(configOption())
    .addOption(stateOption())
    .action(showLog);
}

async function lastStatus(flags: ShowFlags): Promise<LauncherStatus> {
  const folder = stateFolderOf(flags);
  const status = await readStatus(folder);
  if (status === undefined) {
    throw new Failure(
      EXIT.missing,
      `no launcher has run in ${folder}; start one with \`simbatch launcher run\`, or name its --config or --state-dir`,
    );
  }
  noteState(status);
  return status;
}

/** Says on the standard error that the launcher does not run, and its problems. */
export function noteState(status: LauncherStatus): void {
  const ageMs = systemClock.now() - Date.parse(status.at);
  if (ageMs > Math.max(30_000, 3_000 * status.pollSeconds)) {
    note(`note: the last round was ${formatDuration(ageMs)} ago; the launcher does not run`);
  }
  for (const it of status.problems) note(`note: ${printable(it)}`);
}

async function showStatus(flags: ShowFlags): Promise<void> {
  const status = await lastStatus(flags);
  if (flags.format === 'json') {
    await writeJson(status);
    return;
  }
  const counts = (it: QueueStatus): string =>
    Object.entries(it.counts)
      .map(([state, count]) => `${String(count)} ${state}`)
      .join(', ') || '-';
  const queues = status.queues.map((it) => [
    it.name,
    it.engine,
    counts(it),
    String(it.max),
    printable(it.blocked ?? '-'),
  ]);
  await writeLine(
    renderTable(
      [
        { name: 'queue' },
        { name: 'engine' },
        { name: 'allocations' },
        { name: 'max', align: 'right' },
        { name: 'blocked' },
      ],
      queues,
    ),
  );
  const live = status.allocations.filter(isLive);
  if (live.length > 0) {
    const rows = live.map(({ value, context: c }) => [
      runnerNameOf(c),
      value,
      c.handle ?? '-',
      String(c.runs),
      printable(c.reason ?? '-'),
    ]);
    await writeLine();
    await writeLine(
      renderTable(
        [
          { name: 'allocation' },
          { name: 'state' },
          { name: 'in the engine' },
          { name: 'runs', align: 'right' },
          { name: 'reason' },
        ],
        rows,
      ),
    );
  }
  const { core_hours: hours, core_hours_last_day: day } = status.usage;
  await writeLine();
  await writeLine(
    `core hours: ${String(hours)}, of the last 24 hours ${String(day)}; live allocations count with their whole lifetime`,
  );
}

async function showLog(wanted: string, flags: ShowFlags): Promise<void> {
  const { allocations } = await lastStatus(flags);
  const found = allocations.filter((it) => it.context.id.startsWith(wanted) || runnerNameOf(it.context) === wanted);
  const [record] = found;
  if (record === undefined || found.length > 1) {
    const why = record === undefined ? 'there is no allocation' : `${plural(found.length, 'allocation')} begin with`;
    throw new Failure(
      EXIT.missing,
      `${why} ${JSON.stringify(wanted)}; \`simbatch launcher status\` lists the live ones`,
    );
  }
  if (flags.format === 'json') {
    await writeJson(record);
    return;
  }
  const rows = record.history.map(({ atMs, to, event, reason }) => [
    new Date(atMs).toISOString(),
    to,
    event,
    printable(reason ?? '-'),
  ]);
  await writeLine(`${runnerNameOf(record.context)}: ${record.value}`);
  await writeLine(renderTable([{ name: 'time' }, { name: 'state' }, { name: 'event' }, { name: 'reason' }], rows));
}
