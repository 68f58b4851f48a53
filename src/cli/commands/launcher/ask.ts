/** `simbatch launcher check` and `script`: what the engines would say, and what they would get. Nothing is started. */
import { Command } from 'commander';
import type { LauncherConfig, QueueConfig } from '../../../launcher/config/types.ts';
import type { AllocationRequest, Engine } from '../../../launcher/engine.ts';
import { requestOf } from '../../../launcher/request.ts';
import { EXIT } from '../../exit-codes.ts';
import { endpointOption } from '../../options.ts';
import { write, writeLine } from '../../terminal/output.ts';
import { printable } from '../../terminal/format.ts';
import { configOption, launcherSetup, queueNamed, stateOption, type LauncherFlags } from './setup.ts';

/** The id in scripts and checks, which belongs to no allocation. */
const EXAMPLE_ID = 'example00000';

const exampleRequest = (config: LauncherConfig, queue: QueueConfig): AllocationRequest =>
  requestOf(config, queue, { id: EXAMPLE_ID, token: undefined, need: undefined, isKept: false });

export function checkCommand(): Command {
  return new Command('check')
    .description('ask each engine whether it would accept an allocation of its queues; nothing is started')
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(endpointOption())
    .action(check);
}

async function check(flags: LauncherFlags): Promise<void> {
  const { config, engines } = await launcherSetup(flags);
  for (const engine of new Set(engines.values())) {
    const queues = config.queues.filter((it) => engines.get(it.name) === engine);
    const results = await engine.check(queues.map((it) => exampleRequest(config, it)));
    for (const { queue, isFault, message } of results) {
      await writeLine(`${isFault ? 'fault' : 'ok   '} ${queue}: ${printable(message)}`);
      if (isFault) process.exitCode = EXIT.failed;
    }
  }
}

export function scriptCommand(): Command {
  return new Command('script')
    .description('print the script or manifest that a queue hands to its engine, without the token')
    .argument('<queue>', 'a queue of the configuration')
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(endpointOption())
    .action(script);
}

async function script(name: string, flags: LauncherFlags): Promise<void> {
  const { config, engines } = await launcherSetup(flags);
  const queue = queueNamed(config, name);
  await write((engines.get(name) as Engine).script(exampleRequest(config, queue)));
}
