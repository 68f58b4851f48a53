/** A Python script as a subject: `simbatch.run`, arguments of argparse, click or typer, a function with defaults, or constants. */
import { execFile } from 'node:child_process';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../base/package.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { printable } from '../../terminal/format.ts';
import { functionAdapter } from '../adapter-text.ts';
import { commandSubject } from './command-line.ts';
import { textSubject } from './input-file.ts';
import { lookAt } from './started.ts';
import { plainName, type FoundInput, type Place, type Subject } from '../subject.ts';

const READERS = join(packageRoot, 'clients/python');
const READ_MS = 30_000;
const MOST_BYTES = 16 * 1024 * 1024;

export interface PythonOptions {
  python: string;
  /** The function that computes a run. */
  functionName?: string | undefined;
  /** The script may be started to see its arguments. */
  mayStart: boolean;
  isInPlace: boolean;
}

interface Source {
  runs_under_simbatch: boolean;
  defaults: FoundInput[];
  parsers: string[];
  arguments: FoundInput[];
  functions: Record<string, FoundInput[]>;
  function: string | null;
  constants: (FoundInput & { place: Place })[];
}

interface Argument extends FoundInput {
  flag: string | null;
}

interface Recorded {
  parser: string;
  arguments: Argument[];
  notes: string[];
}

/** The output of one of the programs in `clients/python`, which read files of the user. @throws Failure with what it says */
export async function readWithPython<T>(python: string, reader: string, args: readonly string[]): Promise<T> {
  try {
    const { stdout } = await promisify(execFile)(python, [join(READERS, reader), ...args], {
      timeout: READ_MS,
      maxBuffer: MOST_BYTES,
    });
    return JSON.parse(stdout) as T;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Failure(EXIT.invalid, `${args[0]} cannot be read: ${printable(stderr?.trim() || String(error))}`);
  }
}

export async function pythonSubject(script: string, options: PythonOptions): Promise<Subject> {
  const { python, functionName } = options;
  const source = await readWithPython<Source>(python, 'find_inputs.py', [
    script,
    ...(functionName === undefined ? [] : [functionName]),
  ]);
  if (functionName !== undefined && source.function === null) {
    const known = Object.keys(source.functions).join(', ') || 'none';
    throw new Failure(EXIT.missing, `${script} has no function ${functionName} with parameters; it has: ${known}`);
  }
  const base = { name: plainName(basename(script, extname(script))), folder: dirname(script), notes: [] };
  if (functionName === undefined && (source.defaults.length > 0 || source.runs_under_simbatch))
    return { ...base, from: 'simbatch.run(defaults={...})', inputs: source.defaults, entrypoint: script };
  if (functionName === undefined && source.parsers.length > 0) {
    const found = await argumentsSubject(script, source, options);
    if (found !== undefined) return found;
  }
  if (source.function !== null) return functionSubject(script, source, source.function);
  if (source.constants.length > 0) {
    return textSubject(script, {
      from: 'the constants in capitals',
      numbers: source.constants.map((it) => ({ ...it, value: it.value ?? 0 })),
      keepsWhole: false,
      program: [python, '{file}'],
      environment: { PYTHONPATH: 'HERE' },
      isInPlace: options.isInPlace,
    });
  }
  return { ...base, from: '', inputs: [], entrypoint: script };
}

function functionSubject(script: string, source: Source, name: string): Subject {
  const inputs = source.functions[name] ?? [];
  const whole = inputs.filter((it) => it.whole).map((it) => it.name);
  const stem = plainName(basename(script, extname(script)));
  const others = Object.keys(source.functions).filter((it) => it !== name);
  return {
    name: stem,
    folder: dirname(script),
    from: `the parameters of ${name}()`,
    inputs,
    adapter: { name: `${stem}.run.py`, text: () => functionAdapter(basename(script), name, whole) },
    notes: others.length === 0 ? [] : [`other functions: ${others.join(', ')}; choose with ${script}:NAME`],
  };
}

/** The arguments that the script itself declares when it is started; undefined where none has a number. */
async function argumentsSubject(script: string, source: Source, options: PythonOptions): Promise<Subject | undefined> {
  const recorded = options.mayStart ? await record(script, options.python) : undefined;
  const found: Argument[] =
    typeof recorded === 'object'
      ? recorded.arguments
      : source.arguments.map((it) => ({ ...it, flag: `--${it.name.replaceAll('_', '-')}` }));
  if (found.length === 0) return undefined;
  const positional = found.filter((it) => it.flag === null).map((it) => it.name);
  const notes =
    typeof recorded === 'object'
      ? recorded.notes.map((it) => `${script}: ${it}`)
      : recorded === undefined
        ? []
        : [recorded];
  const file = basename(script);
  const words = [options.python, file, '{options}', ...positional.map((name) => `{${name}}`)];
  const subject = commandSubject(
    { words, folder: dirname(script), isInPlace: options.isInPlace },
    {
      from: `the arguments of ${typeof recorded === 'object' ? recorded.parser : source.parsers.join(', ')}`,
      inputs: found.map(({ name, value, whole }) => ({ name, value, whole })),
      values: Object.fromEntries(
        found.filter((it) => it.flag === null && it.value !== null).map((it) => [it.name, String(it.value)]),
      ),
      options: Object.fromEntries(found.flatMap(({ name, flag }) => (flag === null ? [] : [[name, flag]]))),
      notes,
    },
  );
  return subject;
}

/** The arguments as the script declares them; a sentence where it declares none. */
async function record(script: string, python: string): Promise<Recorded | string> {
  const command = [python, join(READERS, 'record_arguments.py'), resolve(script), '{report}'];
  const { report, printed, isLate } = await lookAt(script, command);
  if (report !== undefined) return JSON.parse(report) as Recorded;
  if (isLate) return `${script} did not read its arguments in time: those in its source are listed`;
  const last = printable(printed.trim().split('\n').at(-1) ?? '');
  return `${script} ended before it read its arguments (${last || 'it printed nothing'}): those in its source are listed`;
}
