/** `simbatch telemetry`: the samples of a running simulation, on the machine that executes it. */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { plural } from '../../terminal/format.ts';
import { writeLine } from '../../terminal/output.ts';

export function telemetryCommand(): Command {
  return new Command('telemetry')
    .description('copy the samples that a running run has flushed so far into a Parquet file')
    .argument('<directory>', "the run's output directory, on this machine")
    .argument('<file>', 'Parquet file to make; it must not exist')
    .action(async (directory: string, file: string) => {
      if (!existsSync(directory))
        throw new Failure(EXIT.missing, `no directory ${directory}: give a run's output directory`);
      if (existsSync(file)) throw new Failure(EXIT.cannotOpen, `cannot write ${file}: it exists; choose another name`);
      const { copyFlushed } = await import('../../../runner/telemetry/recover.ts');
      const rows = await copyFlushed(directory, file);
      if (rows === null) {
        throw new Failure(
          EXIT.missing,
          `no telemetry is being written in ${directory}: the run has sent none, or is over; then read its telemetry.parquet`,
        );
      }
      if (rows === 0) throw new Failure(EXIT.missing, `nothing is flushed in ${directory} yet: try again in a moment`);
      await writeLine(`${plural(rows, 'row')} in ${file}`);
    });
}
