/** `simbatch completion`: prints the completion script of a shell and answers its requests at each tab. */
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** Adds `completion <shell>` and its hidden counterpart `complete` to a program that has all its commands. */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' });
}
