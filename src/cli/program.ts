/** The program: its commands, loaded when they are called, so that it starts fast, and its exit code. */
import { Command, Help, Option } from 'commander';
import { packageVersion } from '../base/package.ts';
import { bothNames, shownNames } from '../base/text/variables.ts';
import { COMMANDS } from './command-table.ts';
import { EXAMPLES } from './examples.ts';
import type { ExitCode } from './exit-codes.ts';
import { runCommandLine } from './run-command-line.ts';
import { chooseColour, COLOUR_CHOICES, type ColourChoice } from './terminal/colour.ts';

/** Names of all commands, for the test of the documentation. */
export const COMMAND_NAMES: readonly string[] = COMMANDS.map((entry) => entry.name);

/** The commands of the short help, in its order; `simbatch help --all` has the others. */
const FIRST = 'demo init try submit watch status runs run table why report serve runner'.split(' ');

/** Returns the program with the called command loaded, or all; the others have only name and summary. */
export async function buildProgram(args: readonly string[], everything = false): Promise<Command> {
  const called = args[0] === 'help' ? args[1] : args[0];
  const program = new Command('simbatch')
    .description('Coordinator for Monte Carlo simulation studies.')
    .version(packageVersion, '-V, --version')
    .showHelpAfterError(wantsJson(args) ? false : '(simbatch --help lists the commands and options)')
    .addHelpText('after', '\n`simbatch COMMAND --help`: options, examples; `simbatch help --all`: the rest.')
    .configureHelp({
      formatHelp: (command, helper) => formatHelp(command, helper, wantsAll(args)),
      optionDescription: (option) => shownNames(Help.prototype.optionDescription.call(new Help(), option)),
    })
    .configureOutput({
      outputError: (text, put) => {
        if (!wantsJson(args)) put(bothNames(text).replace(/^error: /, 'simbatch: '));
      },
    })
    .exitOverride()
    // Options after the name of a command are its own, also where the command above has the same.
    .enablePositionalOptions()
    .hook('preAction', (_, action) => chooseColour(action.opts<{ color?: ColourChoice }>().color ?? 'auto'));
  for (const entry of COMMANDS) {
    const isCalled = called === entry.name || (entry.alias !== undefined && called === entry.alias);
    const command = everything || isCalled ? await loadCommand(entry) : new Command(entry.name);
    if (entry.alias !== undefined) command.alias(entry.alias);
    // Set here and not in the command's file, so that the list is the same for every loaded command.
    program.addCommand(command.summary(entry.summary).helpGroup(entry.group).copyInheritedSettings(program));
    for (const part of command.commands) part.copyInheritedSettings(command);
  }
  if (called === 'complete') await addComplete(program);
  return program;
}

/** `simbatch help --all` and `simbatch --help --all`. */
const wantsAll = ([first = '', ...others]: readonly string[]): boolean =>
  ['help', '--help', '-h'].includes(first) && others.includes('--all');

/** The help of the program has the first commands in one group, unless all are wanted. */
function formatHelp(command: Command, helper: Help, isAll: boolean): string {
  if (command.parent === null && !isAll) {
    const named = new Map(command.commands.map((it) => [it.name(), it]));
    helper.visibleCommands = () => FIRST.map((it) => named.get(it)!);
    helper.groupItems = (all, visible, groupOf) =>
      Help.prototype.groupItems.call(helper, [], visible, (it) =>
        it instanceof Command ? 'Commands:' : groupOf(it as never),
      ) as ReturnType<typeof helper.groupItems<(typeof all)[number]>>;
  }
  return Help.prototype.formatHelp.call(helper, command, helper);
}

/** Loads a command and adds the option and the examples that all commands have. */
async function loadCommand({ name, load }: (typeof COMMANDS)[number]): Promise<Command> {
  const command = await load();
  for (const part of [command, ...command.commands]) {
    part.addOption(new Option('--color <when>', 'colours of the terminal').choices(COLOUR_CHOICES).default('auto'));
    const examples = EXAMPLES[part === command ? name : `${name} ${part.name()}`] ?? [];
    if (examples.length === 0) continue;
    const title = examples.length === 1 ? 'Example' : 'Examples';
    part.addHelpText('after', `\n${title}:\n${examples.map((it) => `  $ ${it}`).join('\n')}`);
  }
  return command;
}

/** The hidden command that completion scripts call. It loads only the command that is completed. */
async function addComplete(program: Command): Promise<void> {
  const { completeCommand } = await import('./commands/completion.ts');
  const names = COMMANDS.map(({ name, summary }) => [name, summary] as const);
  const load = async (called: string): Promise<Command | undefined> => {
    const entry = COMMANDS.find(({ name, alias }) => name === called || alias === called);
    return entry === undefined ? undefined : loadCommand(entry);
  };
  program.addCommand(completeCommand({ names, load }).copyInheritedSettings(program), { hidden: true });
}

/** True for a command line whose results are JSON: its errors are problems then. */
const wantsJson = (args: readonly string[]): boolean =>
  args.some(
    (it, at) =>
      /^(-[fo]|--(?:format|output)=)n?d?json$/.test(it) ||
      (/^(-[fo]|--format|--output)$/.test(it) && /^(nd)?json$/.test(args[at + 1] ?? '')),
  );

/** Runs one command line (without `node` and the script) and returns the exit code. */
export function run(args: readonly string[]): Promise<ExitCode> {
  return runCommandLine(
    'simbatch',
    async () => {
      const program = await buildProgram(args);
      if (args.length === 0) program.help({ error: true });
      if (wantsAll(args)) program.help();
      await program.parseAsync(args, { from: 'user' });
    },
    wantsJson(args),
  );
}
