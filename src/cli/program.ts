/** The program: one table of commands. Only the command that is called is loaded, so that the program starts fast. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../package.ts';
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
    name: 'serve',
    group: SERVE,
    summary: 'start the coordinator',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  {
    name: 'runner',
    group: SERVE,
    summary: 'execute jobs on this machine',
    load: async () => (await import('./runner.ts')).runnerCommand(),
  },
  {
    name: 'run-one',
    group: SERVE,
    summary: 'execute one run configuration here, without a coordinator',
    load: async () => (await import('./run-one.ts')).runOneCommand(),
  },
  {
    name: 'replay',
    group: SERVE,
    summary: 'execute a run of a batch again, here',
    load: async () => (await import('./replay.ts')).replayCommand(),
  },
  {
    name: 'backup',
    group: SERVE,
    summary: 'copy all data of a running coordinator into a file',
    load: async () => (await import('./backup.ts')).backupCommand(),
  },
  {
    name: 'restore',
    group: SERVE,
    summary: 'make a data directory from a backup',
    load: async () => (await import('./backup.ts')).restoreCommand(),
  },
  {
    name: 'token',
    group: SERVE,
    summary: 'create, list and revoke access tokens',
    load: async () => (await import('./token.ts')).tokenCommand(),
  },
  {
    name: 'submit',
    group: STUDY,
    summary: 'check and submit a study',
    load: async () => (await import('./submit.ts')).submitCommand(),
  },
  {
    name: 'watch',
    group: STUDY,
    summary: 'follow a batch to its end',
    load: async () => (await import('./watch.ts')).watchCommand(),
  },
  {
    name: 'status',
    group: STUDY,
    summary: 'how a batch stands, and why it is not running',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  {
    name: 'batches',
    group: STUDY,
    summary: 'list batches',
    load: async () => (await import('./batches.ts')).batchesCommand(),
  },
  { name: 'jobs', group: STUDY, summary: 'list jobs', load: async () => (await import('./jobs.ts')).jobsCommand() },
  {
    name: 'job',
    group: STUDY,
    summary: 'one job: parameters, attempts, result',
    load: async () => (await import('./job.ts')).jobCommand(),
  },
  {
    name: 'results',
    group: STUDY,
    summary: 'results of a batch, or their statistics',
    load: async () => (await import('./results.ts')).resultsCommand(),
  },
  {
    name: 'cancel',
    group: STUDY,
    summary: 'cancel a batch or a job',
    load: async () => (await import('./cancel.ts')).cancelCommand(),
  },
  {
    name: 'delete',
    group: STUDY,
    summary: 'delete a batch that has ended, with its results',
    load: async () => (await import('./cancel.ts')).deleteCommand(),
  },
  {
    name: 'sample',
    group: STUDY,
    summary: 'the parameters of every run of a study file',
    load: async () => (await import('./sample.ts')).sampleCommand(),
  },
  {
    name: 'runners',
    group: POOL,
    summary: 'list runners',
    load: async () => (await import('./runners.ts')).runnersCommand(),
  },
  {
    name: 'drain',
    group: POOL,
    summary: 'let a runner take no new jobs',
    load: async () => (await import('./runners.ts')).drainCommand(),
  },
  {
    name: 'forget',
    group: POOL,
    summary: 'forget a runner that is gone',
    load: async () => (await import('./runners.ts')).forgetCommand(),
  },
  {
    name: 'resume',
    group: POOL,
    summary: 'let a drained runner take jobs again',
    load: async () => (await import('./runners.ts')).resumeCommand(),
  },
  {
    name: 'snapshot',
    group: KEEP,
    summary: 'export, inspect, replay and import what a coordinator holds',
    load: async () => (await import('./snapshot.ts')).snapshotCommand(),
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
  if (everything) (await import('./completion.ts')).addCompletion(program);
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
