/** The program of the runner kit: `simbatch runner` alone, as it runs where only Node is installed; the entry of its bundle. */
import { Command, Help } from 'commander';
import { packageVersion } from '../../base/package.ts';
import { bothNames, shownNames } from '../../base/text/variables.ts';
import { filesPushCommand } from '../commands/files/push.ts';
import { runnerCommand } from '../commands/pool/runner.ts';
import { runCommandLine } from '../run-command-line.ts';
import { endQuietlyOnClosedPipe } from '../terminal/output.ts';

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
