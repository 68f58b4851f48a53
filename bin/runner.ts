#!/usr/bin/env node
/** The program of the runner kit: `simbatch runner` alone, as it runs where only Node is installed. */
import { packageVersion } from '../src/base/package.ts';
import { Command, Help } from 'commander';
import { filesPushCommand } from '../src/cli/commands/files/push.ts';
import { runnerCommand } from '../src/cli/commands/pool/runner.ts';
import { runCommandLine } from '../src/cli/run-command-line.ts';
import { bothNames, shownNames } from '../src/base/text/variables.ts';
import { endQuietlyOnClosedPipe } from '../src/cli/terminal/output.ts';

endQuietlyOnClosedPipe();
const name = 'simbatch-runner';
process.exitCode = await runCommandLine(name, async () => {
  const command = runnerCommand()
    // Options after `files push` are its own.
    .enablePositionalOptions()
    .addCommand(new Command('files').description('files of runs on this machine').addCommand(filesPushCommand()))
    .name(name)
    .version(`${packageVersion} (Node ${process.versions.node})`, '-V, --version')
    .showHelpAfterError(`(${name} --help lists the options)`)
    .configureHelp({ optionDescription: (it) => shownNames(Help.prototype.optionDescription.call(new Help(), it)) })
    .configureOutput({ outputError: (text, put) => put(bothNames(text).replace(/^error: /, `${name}: `)) })
    .exitOverride();
  await command.parseAsync(process.argv.slice(2), { from: 'user' });
});
