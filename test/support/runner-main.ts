/** The runner's commands as a program, for tests that start and kill real runner processes. */
import { Command } from 'commander';
import { replayCommand } from '../../src/cli/commands/runs/replay.ts';
import { runOneCommand } from '../../src/cli/commands/runs/run-one.ts';
import { runnerCommand } from '../../src/cli/commands/pool/runner.ts';

try {
  const program = new Command('simbatch').addCommand(runnerCommand());
  await program.addCommand(runOneCommand()).addCommand(replayCommand()).parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
