/** `simbatch run-one`: executes one run configuration on this machine under the runner's contract, without reporting. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { loadStudy } from '../../study/check-study.ts';
import { executeLocally, localCommand } from './local-run.ts';
import type { LocalOptions } from './local-run.ts';

export function runOneCommand(): Command {
  return localCommand('run-one', 'execute one run on this machine as a runner would, without a coordinator')
    .argument('<run_config>', 'run configuration file (JSON: run_id, parameters, metadata)')
    .option('--study <file>', 'study whose telemetry, early termination, environment and time limit apply')
    .action(async (file: string, options: LocalOptions & { study?: string }) => {
      const { readRunConfig } = await import('../../../runner/local-run.ts');
      const runConfig = readRunConfig(readFileSync(file, 'utf8'), file);
      const study = options.study === undefined ? undefined : await loadStudy(options.study);
      await executeLocally(runConfig, study?.submission, options);
    });
}
