/** `simbatch runner` as a program of its own, for tests that start and kill real runner processes. */
import { Command } from 'commander';
import { runnerCommand } from '../../src/cli/runner.ts';

try {
  await new Command('simbatch').addCommand(runnerCommand()).parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
