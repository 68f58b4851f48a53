/** An entry of the tables of commands. */
import type { Command } from 'commander';

/** A command of the program. */
export interface Entry {
  name: string;
  /** Another name of the command, from the API's words. */
  alias?: string;
  /** Text of the list of commands; the command's own help has details. */
  summary: string;
  group: string;
  load: () => Promise<Command>;
}
