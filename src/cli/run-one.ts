/** `simbatch run-one`: executes one run configuration here under the runner's contract, reporting nothing. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { readRunConfig } from '../runner/run-one.ts';
import { executeLocally, withLocalOptions } from './local-run.ts';
import type { LocalOptions } from './local-run.ts';

export function runOneCommand(): Command {
  const command = new Command('run-one')
    .description('execute one run on this machine as a runner would, without a coordinator')
    .argument('<run_config>', 'run configuration file (JSON: run_id, parameters, metadata)');
  return withLocalOptions(command).action(async (file: string, options: LocalOptions) => {
    await executeLocally(readRunConfig(readFileSync(file, 'utf8'), file), undefined, options);
  });
}
