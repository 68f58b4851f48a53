/** `simbatch launcher`: starts and ends runners on the machines of a cluster. */
import { Command } from 'commander';
import { checkCommand, scriptCommand } from './ask.ts';

export function launcherCommand(): Command {
  return new Command('launcher')
    .description('starts runners on Slurm while runs wait, within limits, as launcher.yaml says')
    .addCommand(checkCommand())
    .addCommand(scriptCommand());
}
