/** `simbatch selftest`: checks on this machine that killed processes change no result. */
import type { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { EXIT } from '../exit-codes.ts';
import { integerBetween } from '../options.ts';
import { OutputCommand } from '../output-command.ts';
import { isPassed, reportJson, reportText } from '../selftest/report.ts';
import { selftest } from '../selftest/selftest.ts';
import { note, outputWidth, writeJson, writeLine } from '../terminal/output.ts';
import { WorkProgress } from '../progress/work-progress.ts';

interface Flags {
  quick?: true;
  kills?: number;
  seed?: number;
  dir: string;
  keep?: true;
  format: string;
}

const DEFAULT = { kills: 60, runs: 120 };
/** The size of a quick selftest, which kills at every point once. */
const QUICK = { kills: 19, runs: 16 };
const MAX_KILLS = 10_000;
const MAX_SEED = 2 ** 32 - 1;

export function selftestCommand(): Command {
  return new OutputCommand('selftest')
    .description(
      'Executes a small study on this machine, undisturbed and then with coordinator, runners and simulations killed at named points; compares all results bit by bit, verifies the data directory and measures the disk.',
    )
    .option('--quick', `${QUICK.kills} kills, each point once: about 30 s of processor time`)
    .option('--kills <n>', `number of kills (default ${DEFAULT.kills})`, integerBetween(1, MAX_KILLS))
    .option('--seed <n>', 'seed of the kills (default: drawn and printed)', integerBetween(0, MAX_SEED))
    .option('--dir <dir>', 'where its folder is created; put it on the disk of the data directory', '.')
    .option('--keep', 'keep the folder')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const size = flags.quick === true ? QUICK : DEFAULT;
  const seed = flags.seed ?? Buffer.from(systemClock.random(4)).readUInt32BE();
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const bar = new WorkProgress();
  note(`seed of the kills: ${seed}`);
  try {
    const report = await selftest({
      dir: flags.dir,
      kills: flags.kills ?? size.kills,
      runs: size.runs,
      seed,
      keep: flags.keep === true,
      signal: interrupted.signal,
      progress: (phase, done, total) => bar.show(phase.padEnd(11), done, total),
    });
    bar.end();
    if (!isPassed(report)) process.exitCode = EXIT.failed;
    if (flags.format === 'json') return await writeJson(reportJson(report));
    await writeLine(reportText(report, outputWidth()));
    if (report.isKept) await writeLine(`folder: ${report.folder}`);
  } finally {
    bar.end();
    for (const signal of signals) process.off(signal, onSignal);
  }
}
