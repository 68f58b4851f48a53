/** The program: one table of commands. Only the command that is called is loaded, so that the program starts fast. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../base/package.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

interface Entry {
  name: string;
  /** As in the list of commands; the command itself says more. */
  summary: string;
  group: string;
  load: () => Promise<Command>;
}

const SERVE = 'Coordinator and runners:';
const STUDY = 'Studies:';
const KEEP = 'Keeping and explaining:';
const POOL = 'Runner pool:';
const SHELL = 'Shell:';

const COMMANDS: readonly Entry[] = [
  {
    name: 'demo',
    group: SERVE,
    summary: 'run the example study here: coordinator, runners, result',
    load: async () => (await import('./commands/demo.ts')).demoCommand(),
  },
  {
    name: 'serve',
    group: SERVE,
    summary: 'start the coordinator',
    load: async () => (await import('./commands/server/serve.ts')).serveCommand(),
  },
  {
    name: 'runner',
    group: SERVE,
    summary: 'execute jobs on this machine',
    load: async () => (await import('./commands/pool/runner.ts')).runnerCommand(),
  },
  {
    name: 'run-one',
    group: SERVE,
    summary: 'execute one run configuration here, without a coordinator',
    load: async () => (await import('./commands/runs/run-one.ts')).runOneCommand(),
  },
  {
    name: 'replay',
    group: SERVE,
    summary: 'execute a run of a batch again, here',
    load: async () => (await import('./commands/runs/replay.ts')).replayCommand(),
  },
  {
    name: 'backup',
    group: SERVE,
    summary: 'copy all data of a running coordinator into a file',
    load: async () => (await import('./commands/server/backup.ts')).backupCommand(),
  },
  {
    name: 'restore',
    group: SERVE,
    summary: 'make a data directory from a backup',
    load: async () => (await import('./commands/server/backup.ts')).restoreCommand(),
  },
  {
    name: 'verify',
    group: SERVE,
    summary: 'check a whole data directory',
    load: async () => (await import('./commands/server/verify.ts')).verifyCommand(),
  },
  {
    name: 'repair',
    group: SERVE,
    summary: 'save what is whole of a damaged data directory',
    load: async () => (await import('./commands/server/verify.ts')).repairCommand(),
  },
  {
    name: 'token',
    group: SERVE,
    summary: 'create, list and revoke access tokens',
    load: async () => (await import('./commands/server/token.ts')).tokenCommand(),
  },
  {
    name: 'submit',
    group: STUDY,
    summary: 'check and submit a study',
    load: async () => (await import('./commands/studies/submit.ts')).submitCommand(),
  },
  {
    name: 'watch',
    group: STUDY,
    summary: 'follow a batch to its end',
    load: async () => (await import('./commands/studies/watch.ts')).watchCommand(),
  },
  {
    name: 'status',
    group: STUDY,
    summary: 'how a batch stands, and why it is not running',
    load: async () => (await import('./commands/studies/status.ts')).statusCommand(),
  },
  {
    name: 'batches',
    group: STUDY,
    summary: 'list batches',
    load: async () => (await import('./commands/studies/batches.ts')).batchesCommand(),
  },
  {
    name: 'jobs',
    group: STUDY,
    summary: 'list jobs',
    load: async () => (await import('./commands/runs/runs.ts')).jobsCommand(),
  },
  {
    name: 'job',
    group: STUDY,
    summary: 'one job: parameters, attempts, result',
    load: async () => (await import('./commands/runs/run.ts')).jobCommand(),
  },
  {
    name: 'results',
    group: STUDY,
    summary: 'results of a batch, or their statistics',
    load: async () => (await import('./commands/runs/results.ts')).resultsCommand(),
  },
  {
    name: 'cancel',
    group: STUDY,
    summary: 'cancel a batch or a job',
    load: async () => (await import('./commands/studies/cancel.ts')).cancelCommand(),
  },
  {
    name: 'delete',
    group: STUDY,
    summary: 'delete a batch that has ended, with its results',
    load: async () => (await import('./commands/studies/cancel.ts')).deleteCommand(),
  },
  {
    name: 'sample',
    group: STUDY,
    summary: 'the parameters of every run of a study file',
    load: async () => (await import('./commands/studies/sample.ts')).sampleCommand(),
  },
  {
    name: 'runners',
    group: POOL,
    summary: 'list runners',
    load: async () => (await import('./commands/pool/runners.ts')).runnersCommand(),
  },
  {
    name: 'drain',
    group: POOL,
    summary: 'let a runner take no new jobs',
    load: async () => (await import('./commands/pool/runners.ts')).drainCommand(),
  },
  {
    name: 'forget',
    group: POOL,
    summary: 'forget a runner that is gone',
    load: async () => (await import('./commands/pool/runners.ts')).forgetCommand(),
  },
  {
    name: 'resume',
    group: POOL,
    summary: 'let a drained runner take jobs again',
    load: async () => (await import('./commands/pool/runners.ts')).resumeCommand(),
  },
  {
    name: 'snapshot',
    group: KEEP,
    summary: 'export, inspect, replay and import what a coordinator holds',
    load: async () => (await import('./commands/server/snapshot.ts')).snapshotCommand(),
  },
];

/** Called by the scripts of `completion`, not by people; both need every command. */
const COMPLETION = new Set(['completion', 'complete']);

/** The names of all commands, for the documentation's test. */
export const COMMAND_NAMES: readonly string[] = [...COMMANDS.map((entry) => entry.name), 'completion'];

/** The program with the command that `args` call; the others are there by name and summary. */
export async function buildProgram(args: readonly string[]): Promise<Command> {
  const called = args[0] === 'help' ? args[1] : args[0];
  const everything = COMPLETION.has(called ?? '');
  const program = new Command('simbatch')
    .description('Coordinator for Monte Carlo simulation studies.')
    .version(packageVersion, '-V, --version')
    .showHelpAfterError('(simbatch --help lists the commands and options)')
    .configureOutput({ outputError: (text, put) => put(text.replace(/^error: /, 'simbatch: ')) })
    .exitOverride();
  for (const entry of COMMANDS) {
    const command = everything || entry.name === called ? await entry.load() : new Command(entry.name);
    // Set here and not in the command's own file, so that the list reads the same whichever command is loaded.
    program.addCommand(command.summary(entry.summary).helpGroup(entry.group).copyInheritedSettings(program));
    for (const part of command.commands) part.copyInheritedSettings(command);
  }
  if (everything) (await import('./commands/completion.ts')).addCompletion(program);
  else
    program
      .command('completion')
      .argument('<shell>')
      .summary('completion script for bash, zsh or fish')
      .helpGroup(SHELL);
  return program;
}

/** Runs one command line (without `node` and the script) and returns the exit code. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  try {
    const program = await buildProgram(args);
    if (args.length === 0) program.help({ error: true });
    await program.parseAsync(args, { from: 'user' });
    return (process.exitCode ?? EXIT.ok) as ExitCode;
  } catch (error) {
    // Commander has printed its line, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { describeFailure } = await import('./failure.ts');
    const { exitCode, lines } = describeFailure(error, process.env['SVC_DEBUG'] !== undefined);
    const [first = 'failed', ...rest] = lines;
    process.stderr.write(`${[`simbatch: ${first}`, ...rest].join('\n')}\n`);
    return exitCode;
  }
}
