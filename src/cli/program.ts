/** The program: its commands, loaded when they are called, so that it starts fast, and its exit code. */
import { Command, Option } from 'commander';
import { packageVersion } from '../base/package.ts';
import { COMMANDS } from './command-table.ts';
import type { ExitCode } from './exit-codes.ts';
import { runCommandLine } from './run-command-line.ts';
import { chooseColour, COLOUR_CHOICES, type ColourChoice } from './terminal/colour.ts';

/** Called by completion scripts; both need every command. */
const COMPLETION = new Set(['completion', 'complete']);

/** Names of all commands, for the test of the documentation. */
export const COMMAND_NAMES: readonly string[] = [...COMMANDS.map((entry) => entry.name), 'completion'];

/** Returns the program with the called command loaded; the others have only name and summary. */
export async function buildProgram(args: readonly string[]): Promise<Command> {
  const called = args[0] === 'help' ? args[1] : args[0];
  const everything = COMPLETION.has(called ?? '');
  const program = new Command('simbatch')
    .description('Coordinator for Monte Carlo simulation studies.')
    .version(packageVersion, '-V, --version')
    .showHelpAfterError(wantsJson(args) ? false : '(simbatch --help lists the commands and options)')
    .configureOutput({
      outputError: (text, put) => {
        if (!wantsJson(args)) put(text.replace(/^error: /, 'simbatch: '));
      },
    })
    .exitOverride()
    .hook('preAction', (_, action) => chooseColour(action.opts<{ color?: ColourChoice }>().color ?? 'auto'));
  for (const entry of COMMANDS) {
    const isCalled = called === entry.name || (entry.alias !== undefined && called === entry.alias);
    const command = everything || isCalled ? await entry.load() : new Command(entry.name);
    if (entry.alias !== undefined) command.alias(entry.alias);
    // Set here and not in the command's file, so that the list is the same for every loaded command.
    program.addCommand(command.summary(entry.summary).helpGroup(entry.group).copyInheritedSettings(program));
    for (const part of command.commands) part.copyInheritedSettings(command);
    for (const part of command.commands.length > 0 ? [command, ...command.commands] : [command])
      part.addOption(new Option('--color <when>', 'colours of the terminal').choices(COLOUR_CHOICES).default('auto'));
  }
  if (everything) (await import('./commands/completion.ts')).addCompletion(program);
  else
    program
      .command('completion')
      .argument('<shell>')
      .summary('completion script for bash, zsh or fish')
      .helpGroup('Shell:');
  return program;
}

/** Returns the arguments of `complete -- COMMAND ...` with an alias replaced by the command's name, which completion knows. */
function withoutAlias(args: readonly string[]): string[] {
  const at = args.indexOf('--') + 1;
  return args.map((it, index) => (index === at ? (COMMANDS.find(({ alias }) => alias === it)?.name ?? it) : it));
}

/** True for a command line whose results are JSON: its errors are problems then. */
const wantsJson = (args: readonly string[]): boolean =>
  args.some(
    (it, at) =>
      /^(-o|--output=)n?d?json$/.test(it) || (/^(-o|--output)$/.test(it) && /^(nd)?json$/.test(args[at + 1] ?? '')),
  );

/** Runs one command line (without `node` and the script) and returns the exit code. */
export function run(args: readonly string[]): Promise<ExitCode> {
  return runCommandLine(
    'simbatch',
    async () => {
      const program = await buildProgram(args);
      if (args.length === 0) program.help({ error: true });
      await program.parseAsync(args[0] === 'complete' ? withoutAlias(args) : args, { from: 'user' });
    },
    wantsJson(args),
  );
}
