/** `simbatch launcher why`: the last decisions, from the state folder of the launcher, or without one from the coordinator. */
import type { Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import { formatDuration } from '../../../domain/durations.ts';
import { readStatus } from '../../../launcher/state-folder.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { connect, DEFAULT_ENDPOINT, endpointOption } from '../../options.ts';
import { OutputCommand } from '../../output-command.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { printable } from '../../terminal/format.ts';
import { configOption, stateFolderOf, stateOption } from './setup.ts';
import { noteState, type ShowFlags } from './show.ts';

interface WhyFlags extends ShowFlags {
  endpoint?: string;
}

interface Decisions {
  queues: readonly { name: string; blocked: string | null; why: readonly string[] }[];
  unserved: readonly { code: string; message: string }[];
}

export function whyCommand(): Command {
  return new OutputCommand('why')
    .description(
      'the reasons of the last decision of each queue; the coordinator is asked where there is no state folder',
    )
    .argument('[queue]', 'one queue')
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(endpointOption())
    .action(showWhy);
}

async function showWhy(name: string | undefined, flags: WhyFlags): Promise<void> {
  const { queues, unserved } = (await ofStateFolder(flags)) ?? (await ofCoordinator(flags));
  const shown = queues.filter((it) => name === undefined || it.name === name || it.name.endsWith(`/${name}`));
  if (shown.length === 0) {
    throw new Failure(
      EXIT.missing,
      `there is no queue ${JSON.stringify(name)}; the queues are ${queues.map((it) => it.name).join(', ')}`,
    );
  }
  if (flags.format === 'json') {
    await writeJson({ queues: shown, unserved });
    return;
  }
  for (const { name: queue, why } of shown) for (const it of why) await writeLine(`${queue}: ${printable(it)}`);
  for (const { code, message } of unserved) await writeLine(`${code}: ${printable(message)}`);
}

async function ofStateFolder(flags: WhyFlags): Promise<Decisions | undefined> {
  const status = await readStatus(stateFolderOf(flags));
  if (status === undefined) return undefined;
  noteState(status);
  const queues = status.queues.map((it) => ({ name: it.name, blocked: it.blocked ?? null, why: it.why }));
  return { queues, unserved: status.unserved };
}

/** The last reports of all launchers. A queue is `launcher/queue` where several report. */
async function ofCoordinator(flags: WhyFlags): Promise<Decisions> {
  const { launchers } = await (await connect(flags)).launching.launchers();
  if (launchers.length === 0) {
    throw new Failure(
      EXIT.missing,
      `no launcher has run in ${stateFolderOf(flags)}, and none has reported to ${flags.endpoint ?? DEFAULT_ENDPOINT} since it was started; ` +
        'start one with `simbatch launcher run`, or name its --config, --state-dir or --endpoint',
    );
  }
  for (const { launcher, current, reported_at: at, problems } of launchers) {
    const ageMs = systemClock.now() - Date.parse(at);
    if (!current) {
      note(
        `note: the last report of the launcher ${printable(launcher)} was ${formatDuration(ageMs)} ago; it does not run, or cannot reach the coordinator`,
      );
    }
    for (const it of problems) note(`note: ${printable(it)}`);
  }
  const prefixOf = (launcher: string): string => (launchers.length > 1 ? `${printable(launcher)}/` : '');
  return {
    queues: launchers.flatMap((it) =>
      it.queues.map(({ name, blocked, why }) => ({
        name: `${prefixOf(it.launcher)}${name}`,
        blocked: blocked ?? null,
        why,
      })),
    ),
    unserved: launchers.flatMap((it) => (it.current ? it.unserved : [])),
  };
}
