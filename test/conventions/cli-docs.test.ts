/** Every command and option of the program is in its section of the page about the command line. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildProgram, COMMAND_NAMES } from '../../src/cli/program.ts';
import { packageRoot } from '../../src/base/package.ts';

describe('conventions: the page of the command line', () => {
  it('has every command in docs/cli.md', () => {
    const page = readFileSync(join(packageRoot, 'docs', 'cli.md'), 'utf8');
    expect(COMMAND_NAMES.filter((name) => !page.includes(`## simbatch ${name}\n`))).to.deep.equal([]);
  });

  it('has every subcommand and option in the section of docs/cli.md, or in docs/runner.md', async () => {
    const page = readFileSync(join(packageRoot, 'docs', 'cli.md'), 'utf8');
    const runners = readFileSync(join(packageRoot, 'docs', 'runner.md'), 'utf8');
    const shared = page.slice(0, page.indexOf('## simbatch '));
    const program = await buildProgram([], true);
    const missing = program.commands
      .filter((command) => COMMAND_NAMES.includes(command.name()))
      .flatMap((command) => {
        const name = command.name();
        const section = page.split(`## simbatch ${name}\n`)[1]?.split('\n## ')[0] ?? '';
        const text = `${shared}${section}${['runner', 'run-one', 'replay'].includes(name) ? runners : ''}`;
        const wanted = [command, ...command.commands].flatMap((part) => [
          ...(part === command ? [] : [`simbatch ${name} ${part.name()}`]),
          ...part.options.map((option) => option.long ?? option.flags),
        ]);
        return wanted.filter((it) => !text.includes(it)).map((it) => `${name}: ${it}`);
      });
    expect(missing).to.deep.equal([]);
  });
});
