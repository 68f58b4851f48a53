/** The page of all commands and options, made from the definitions of the program. */
import { type Command, Help } from 'commander';
import { shownNames } from '../../../src/base/text/variables.ts';
import { COMMANDS } from '../../../src/cli/command-table.ts';
import { EXAMPLES } from '../../../src/cli/examples.ts';
import { buildProgram } from '../../../src/cli/program.ts';

const HEAD = `# The commands and their options

For everyone at a terminal: after it you can look up every command, argument and option.

Made from the definitions of the program by \`npm run reference\`; \`simbatch help COMMAND\` prints the same. [cli.md](cli.md) has exit codes, formats, names and what
the options do not say. Every command has \`--color\`, and those that call a coordinator \`--endpoint\`; \`-o FILE\` writes to a file what \`-f FORMAT\` prints;
\`--output NAME\` is the argument \`output\` by name.
`;

/** Options of every command, which the head of the page explains. */
const SHARED = new Set(['--color', '--endpoint', '--format', '--file', '--output']);

/** Returns the text of docs/cli-reference.md. */
export async function commandPage(): Promise<string> {
  const program = await buildProgram([], true);
  const named = new Map(program.commands.map((it) => [it.name(), it]));
  const sections = COMMANDS.map(({ name, alias }) => sectionOf(named.get(name)!, name, alias));
  return [HEAD, ...sections].join('\n');
}

/** A command and its subcommands; arguments and options that all of these have are in one table before them. */
function sectionOf(command: Command, name: string, alias?: string): string {
  const tables = command.commands.map(rowsOf);
  const common = tables.length < 2 ? [] : tables[0]!.filter((it) => tables.every((rows) => rows.includes(it)));
  const parts = command.commands.map((it) => bodyOf(it, `${name} ${it.name()}`, '###', '', common));
  const shared = common.length === 0 ? [] : ['All of its commands have', '', ...tableOf(common)];
  return [bodyOf(command, name, '##', alias), ...(shared.length === 0 ? [] : [shared.join('\n')]), ...parts].join('\n');
}

function bodyOf(
  command: Command,
  name: string,
  heading: string,
  alias = '',
  elsewhere: readonly string[] = [],
): string {
  const aliases = alias === '' ? '' : ` Alias: \`${alias}\`.`;
  const examples = EXAMPLES[name] ?? [];
  return [
    `${heading} simbatch ${name}`,
    '',
    `\`${helpOf(command).commandUsage(command)}\`: ${closed(escaped(command.description()))}${formatsOf(command)}${aliases}`,
    '',
    ...tableOf(rowsOf(command).filter((it) => !elsewhere.includes(it))),
    ...(examples.length === 0 ? [] : ['```', ...examples.map((it) => `$ ${it}`), '```', '']),
  ].join('\n');
}

/** The help of a command as the program configures it, which shows the public names of variables. */
function helpOf(command: Command): Help {
  const help = command.createHelp();
  help.optionDescription = (option) => shownNames(Help.prototype.optionDescription.call(help, option));
  return help;
}

function rowsOf(command: Command): string[] {
  const help = helpOf(command);
  return [
    ...help.visibleArguments(command).map((it) => row(help.argumentTerm(it), help.argumentDescription(it))),
    ...help
      .visibleOptions(command)
      .filter((it) => it.long !== '--help' && !SHARED.has(it.long ?? ''))
      .map((it) => row(help.optionTerm(it), help.optionDescription(it))),
  ];
}

const tableOf = (rows: readonly string[]): string[] =>
  rows.length === 0 ? [] : ['| argument or option | meaning |', '| --- | --- |', ...rows, ''];

const row = (term: string, text: string): string => `| \`${term.replaceAll('|', '\\|')}\` | ${escaped(text)} |`;

/** The values of `--format`, of a command that has it. */
function formatsOf(command: Command): string {
  const formats = command.options.find((it) => it.long === '--format')?.argChoices ?? [];
  return formats.length === 0 ? '' : ` Formats: ${formats.join(', ')}.`;
}

const closed = (text: string): string => (text.endsWith('.') ? text : `${text}.`);

/** The text for a cell of a table on one line; outside of code an angle bracket would begin an element. */
const escaped = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .replace(/`[^`]*`|</g, (it) => (it === '<' ? '&lt;' : it));
