/** `simbatch demo`: runs the example study with a coordinator and two runners of its own, and shows the result. */
import { Command } from 'commander';
import { DEFAULT_RUNS, demo } from '../demo/demo.ts';
import { integerBetween } from '../options.ts';

/** More runs than this take hours on one machine. */
const MAX_RUNS = 999_999;

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Starts a coordinator on a temporary store and two runners, flies the sounding-rocket example and prints a summary. Artifacts and results are written to output/ in the current directory; no process is left.',
    )
    .argument(
      '[runs]',
      `number of runs (default ${DEFAULT_RUNS}: about half a minute on two cores)`,
      integerBetween(1, MAX_RUNS),
    )
    .action(async (runs: number | undefined) => {
      process.exitCode = await demo(runs);
    });
}
