/** The help of every command: readable by itself, in 80 columns, with an example. */
import { expect } from 'chai';
import type { Command } from 'commander';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { buildProgram } from '../../src/cli/program.ts';

/** The help as it is printed, with the examples. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (piece) => (text += piece), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return text;
}

describe('cli: help', () => {
  it('lists every command with its summary in 80 columns', async () => {
    const text = helpOf(await buildProgram(['help', '--all']));
    for (const { name, summary } of COMMANDS) {
      expect(text).to.match(new RegExp(`^ {2}${name}(\\|| )`, 'm'));
      expect(text.replaceAll(/\s+/g, ' ')).to.include(summary);
    }
    expect(text.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
  });

  it('begins with the commands of every day, in 24 lines of 80 columns', async () => {
    const text = helpOf(await buildProgram(['--help'])).trimEnd();
    expect(text.split('\n')).to.have.length(24);
    expect(text).to.match(/\n {2}submit .*\n {2}watch /);
    expect(text).not.to.include('repair');
    expect(text.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
  });

  it('has for each command a description, its arguments and options, an example, and no line beyond 80 columns', async () => {
    const { commands } = await buildProgram([], true);
    expect(commands).to.have.length(COMMANDS.length);
    const faults: string[] = [];
    for (const command of commands) {
      for (const part of [command, ...command.commands]) {
        const path = part === command ? command.name() : `${command.name()} ${part.name()}`;
        const text = helpOf(part);
        const insist = (isTrue: boolean, fault: string): void => {
          if (!isTrue) faults.push(`${path}: ${fault}`);
        };
        insist(part.description().length > 10, 'no description');
        insist(
          new RegExp(`\nExamples?:\n( {2}\\$ .*simbatch ${path.replace('table', '(table|results)')}.*\n)+`).test(text),
          'no example',
        );
        insist(!text.split('\n').some((line) => line.length > 80), 'a line of more than 80 columns');
        for (const argument of part.registeredArguments)
          insist(argument.description.length > 2, `the argument ${argument.name()} has no description`);
        for (const option of part.options) insist(option.description.length > 2, `${option.flags} has no description`);
        insist(text.includes('--color'), '--color is missing');
      }
    }
    expect(faults).to.deep.equal([]);
  });
});
