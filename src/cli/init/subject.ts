/** A simulation as `simbatch init` finds it: its inputs, and how a run is started with values of them. */

/** Where a number is in a file: line and column from 1, and its text. */
export type Place = readonly [line: number, column: number, text: string];

export interface FoundInput {
  name: string;
  /** Null where the simulation requires a value and has none. */
  value: number | null;
  /** Only whole numbers are accepted. */
  whole: boolean;
  units?: string;
}

/** A file that runs the simulation under simbatch, written beside it. */
export interface Adapter {
  /** Its name, such as `throw.run.mjs`. */
  name: string;
  /** @param values values of inputs that the user has given, by name */
  text: (values: ReadonlyMap<string, number>) => string;
}

export interface Subject {
  /** The name of the study and of its simulation. */
  name: string;
  /** The folder of the simulation. */
  folder: string;
  /** Where the inputs are from, for people: `the arguments of argparse`. */
  from: string;
  inputs: readonly FoundInput[];
  /** Absent: the simulation reads its parameters from a run itself. */
  adapter?: Adapter;
  /** The path of the simulation, of one without an adapter. */
  entrypoint?: string;
  /** Sentences for the user. */
  notes: readonly string[];
}

/** Most inputs that are listed: more are data and not parameters. */
export const MOST_INPUTS = 200;

/** A name for files and simulations. */
export const plainName = (text: string): string => text.replaceAll(/[^\w.-]+/g, '-').replace(/^[-.]+/, '') || 'study';
