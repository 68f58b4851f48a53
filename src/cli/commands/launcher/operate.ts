/** `simbatch launcher pause`, `resume` and `stop`: commands for the running launcher, through its state folder. */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { sleep, systemClock } from '../../../base/clock.ts';
import type { OperatorCommand } from '../../../launcher/loop/ports.ts';
import { runnerNameOf } from '../../../launcher/loop/observe.ts';
import type { LauncherStatus } from '../../../launcher/loop/status.ts';
import { readStatus, sendCommand } from '../../../launcher/state-folder.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { note, writeLine } from '../../terminal/output.ts';
import { configOption, stateFolderOf, stateOption, type StateFlags } from './setup.ts';

interface TargetFlags extends StateFlags {
  all?: boolean;
  reason?: string;
  now?: boolean;
}

const ALL = 'every queue';

export function pauseCommand(): Command {
  return new Command('pause')
    .description('submit no new allocations of a queue; those that live stay')
    .argument('[queue]', 'the queue')
    .option('--all', ALL)
    .option('--reason <text>', 'shown by `launcher why`')
    .addOption(configOption())
    .addOption(stateOption())
    .action(async (queue: string | undefined, flags: TargetFlags) => {
      const status = await statusOf(flags);
      const reason = flags.reason ?? 'by an operator';
      await send(flags, { type: 'pause', ...queueOf(status, queue, flags), reason });
    });
}

export function resumeCommand(): Command {
  return new Command('resume')
    .description('submit allocations of a queue again, also after failures; delays are over')
    .argument('[queue]', 'the queue')
    .option('--all', ALL)
    .addOption(configOption())
    .addOption(stateOption())
    .action(async (queue: string | undefined, flags: TargetFlags) => {
      const status = await statusOf(flags);
      await send(flags, { type: 'resume', ...queueOf(status, queue, flags) });
    });
}

export function stopCommand(): Command {
  return new Command('stop')
    .description('end an allocation, or all of a queue: its runner hands its runs back')
    .argument('[target]', 'an allocation or a queue')
    .option('--all', 'every allocation')
    .option('--now', 'as fast as the engine can; runs are reassigned when the lease of the runner ends')
    .option('--reason <text>', 'shown by `launcher log`')
    .addOption(configOption())
    .addOption(stateOption())
    .action(async (target: string | undefined, flags: TargetFlags) => {
      const status = await statusOf(flags);
      const base = {
        type: 'stop',
        immediately: flags.now === true,
        reason: flags.reason ?? 'stopped by an operator',
      } as const;
      const allocation = status.allocations.find(
        (it) => it.context.id === target || runnerNameOf(it.context) === target,
      );
      if (allocation !== undefined) await send(flags, { ...base, allocation: allocation.context.id });
      else await send(flags, { ...base, ...queueOf(status, target, flags) });
    });
}

async function statusOf(flags: TargetFlags): Promise<LauncherStatus> {
  const folder = stateFolderOf(flags);
  const status = await readStatus(folder);
  if (status !== undefined) return status;
  throw new Failure(EXIT.missing, `no launcher has run in ${folder}; name its --config or --state-dir`);
}

function queueOf({ queues }: LauncherStatus, name: string | undefined, { all }: TargetFlags): { queue?: string } {
  if (name === undefined && all === true) return {};
  const names = queues.map((it) => it.name).join(', ');
  if (name === undefined || all === true)
    throw new Failure(EXIT.usage, `name one target, or --all; the queues are ${names}`);
  if (queues.some((it) => it.name === name)) return { queue: name };
  throw new Failure(EXIT.missing, `there is no queue or allocation ${JSON.stringify(name)}; the queues are ${names}`);
}

/** A round takes seconds; without a running launcher the command waits for the next one. */
const WAIT_MS = 15_000;
const LOOK_MS = 200;

async function send(flags: TargetFlags, command: OperatorCommand): Promise<void> {
  const path = await sendCommand(stateFolderOf(flags), command, systemClock);
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += LOOK_MS) {
    if (!existsSync(path)) {
      await writeLine('done');
      return;
    }
    await sleep(systemClock, LOOK_MS);
  }
  note('note: the launcher has not taken the command yet; it does so in its next round, or when it is started');
}
