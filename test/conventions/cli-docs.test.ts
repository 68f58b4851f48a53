/** Every command, subcommand and option of the program is in the page of the commands; a test of the made pages compares its text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildProgram, COMMAND_NAMES } from '../../src/cli/program.ts';
import { packageRoot } from '../../src/base/package.ts';

describe('conventions: the page of the commands', () => {
  it('has a section of every command, with its subcommands and options', async () => {
    const page = readFileSync(join(packageRoot, 'docs', 'cli-reference.md'), 'utf8');
    const head = page.slice(0, page.indexOf('\n## '));
    const program = await buildProgram([], true);
    const missing = program.commands
      .filter((command) => COMMAND_NAMES.includes(command.name()))
      .flatMap((command) => {
        const section = page.split(`\n## simbatch ${command.name()}\n`)[1]?.split('\n## ')[0] ?? '';
        const names = command.commands.map((part) => `\n### simbatch ${command.name()} ${part.name()}\n`);
        const options = [command, ...command.commands].flatMap((part) =>
          part.options.filter((it) => !it.hidden).map((it) => it.long ?? it.flags),
        );
        return [...names, ...options].filter((it) => !`${head}${section}`.includes(it));
      });
    expect(missing.filter((it) => !['--format', '--file', '--output'].includes(it))).to.deep.equal([]);
  });
});
