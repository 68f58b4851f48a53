/** `simbatch launcher`: starts and ends runners on the machines of a cluster. */
import { Command } from 'commander';
import { checkCommand, scriptCommand } from './ask.ts';
import { pauseCommand, resumeCommand, stopCommand } from './operate.ts';
import { runCommand } from './run.ts';
import { logCommand, statusCommand } from './show.ts';
import { whyCommand } from './why.ts';

export function launcherCommand(): Command {
  return new Command('launcher')
    .description(
      'starts runners on Slurm, on Kubernetes and over ssh while runs wait, within limits, as launcher.yaml says',
    )
    .addCommand(runCommand())
    .addCommand(checkCommand())
    .addCommand(statusCommand())
    .addCommand(whyCommand())
    .addCommand(logCommand())
    .addCommand(scriptCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(stopCommand());
}
