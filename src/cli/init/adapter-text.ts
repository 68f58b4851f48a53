/** The text of adapters: a head that is particular to the simulation, and the body of `clients/adapters`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../base/package.ts';
import type { Place } from './subject.ts';

const bodyOf = (file: string): string => readFileSync(join(packageRoot, 'clients/adapters', file), 'utf8');

/** A program that is started with its inputs as words of a command, as options, or in a file. */
export interface ProgramRun {
  /** The program, for people. */
  subject: string;
  /** Words; `{name}` is the value of an input, `{file}` the run's copy of the input file, `{options}` the place of the options. */
  command: readonly string[];
  /** Words of the command that are files of the adapter's own folder. */
  here: ReadonlySet<string>;
  /** Input -> the option that sets it. */
  options?: Readonly<Record<string, string>>;
  inputs: readonly string[];
  whole: readonly string[];
  /** The text of values that the command needs where the study does not vary them. */
  values: Readonly<Record<string, string>>;
  /** The input file in the adapter's folder, and where the numbers are in it. */
  file?: { name: string; places: Readonly<Record<string, Place>> };
  /** Further variables of the program; `HERE` is the folder of the adapter. */
  environment?: Readonly<Record<string, string>>;
  /** The working directory of the program: the output directory of the run, or the folder of the adapter. */
  folder: 'run' | 'here';
}

const js = (value: unknown): string => JSON.stringify(value);

/** The adapter of a program, a script of Node: the runner always has a Node. */
export function programAdapter(run: ProgramRun): string {
  const { file, environment = {} } = run;
  const words = run.command.map((word) => (run.here.has(word) ? `join(HERE, ${js(word)})` : js(word)));
  const variables = Object.entries(environment).map(
    ([name, value]) => `${js(name)}: ${value === 'HERE' ? 'HERE' : js(value)}`,
  );
  const places = Object.entries(file?.places ?? {}).map(([name, place]) => `      ${js(name)}: ${js(place)},`);
  return `// Runs ${run.subject.replaceAll(/[\r\n]/g, ' ')} under simbatch. Written by \`simbatch init\`, yours to change.
const HERE = import.meta.dirname;
const RUN = {
  // {name}: the value of an input in this run; {file}: the run's copy of the input file.
  command: [${words.join(', ')}],
  // Input -> the option that sets it; given where the study varies the input.
  options: ${js(run.options ?? {})},
  inputs: ${js(run.inputs)},
  whole: ${js(run.whole)},
  // Values of the command where the study does not vary them.
  values: ${js(run.values)},
  // The input file, and line, column and text of each number in it.
  file: ${file === undefined ? 'undefined' : `{\n    path: join(HERE, ${js(file.name)}),\n    places: {\n${places.join('\n')}\n    },\n  }`},
  environment: { ${variables.join(', ')} },
  // Where the program works: 'run', an empty folder for each run, or 'here', this folder.
  folder: ${js(run.folder)},
};

${bodyOf('program.mjs')}`;
}

// A text of JSON is one of Python, too.
const py = (value: unknown): string => (value === null ? 'None' : JSON.stringify(value));

/** The adapter of a Python function, a Python script. */
export const functionAdapter = (script: string, name: string, whole: readonly string[]): string =>
  `"""Calls ${name} of ${script} under simbatch. Written by \`simbatch init\`, yours to change."""

${withConstants(bodyOf('function.py'), { SCRIPT: script, FUNCTION: name, WHOLE: whole })}`;

/** The adapter of an FMU, a Python script that needs FMPy. */
export const fmuAdapter = (
  fmu: string,
  { inputs, outputs, stopTime }: { inputs: readonly string[]; outputs: readonly string[]; stopTime: number | null },
): string =>
  `"""Executes ${fmu} with FMPy under simbatch. Written by \`simbatch init\`, yours to change."""

${withConstants(bodyOf('fmu.py'), { FMU: fmu, INPUTS: inputs, OUTPUTS: outputs, STOP_TIME: stopTime })}`;

/** Puts the constants after the imports. */
function withConstants(body: string, constants: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(constants).map(([name, value]) => `${name} = ${py(value)}\n`);
  return body.replace('\nHERE = ', () => `\n${lines.join('')}HERE = `);
}
