// ---- Below, nothing is particular to this simulation. ----
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const OUTPUT = process.env.SVC_OUTPUT_DIR;
const { parameters } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
const LARGEST_FILE = 16 * 1024 * 1024;
const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eEdD][-+]?\d+)?`;

const unknown = Object.keys(parameters).filter((name) => !RUN.inputs.includes(name));
if (unknown.length > 0) throw new Error(`the simulation has no input ${unknown.join(', ')}; it has ${RUN.inputs}`);

/** The number of an input as text that every language reads as a number of the same kind. `like`: how it was written. */
function textOf(name, like) {
  const value = parameters[name];
  if (RUN.whole.includes(name)) {
    if (!Number.isInteger(value))
      throw new Error(`${name} is ${value} and must be a whole number: vary it by whole ones`);
    return String(value);
  }
  const isWhole = Number.isInteger(value) && /^[-+]?\d+$/.test(like ?? '');
  const [mantissa, exponent] = String(value).split('e');
  const digits = isWhole || mantissa.includes('.') ? mantissa : `${mantissa}.0`;
  return exponent === undefined ? digits : `${digits}e${exponent}`;
}

/** Writes the run's copy of the input file: the text of the file with the numbers of this run. */
function writeInput() {
  const { path, places } = RUN.file;
  const lines = readFileSync(path, 'utf8').split('\n');
  const ordered = Object.entries(places).sort(([, a], [, b]) => b[0] - a[0] || b[1] - a[1]);
  for (const [name, [line, column, was]] of ordered) {
    const text = lines[line - 1] ?? '';
    if (text.slice(column - 1, column - 1 + was.length) !== was)
      throw new Error(`${path}:${line}:${column}: ${name} is not ${was} there any more: run simbatch init again`);
    if (!(name in parameters)) continue;
    lines[line - 1] = text.slice(0, column - 1) + textOf(name, was) + text.slice(column - 1 + was.length);
  }
  const copy = join(OUTPUT, basename(path));
  writeFileSync(copy, lines.join('\n'));
  return copy;
}

/** The command with the values of this run: those that the study does not vary have their value in RUN.values. */
function commandOf(file) {
  const filled = (word) =>
    word.replace(/\{(\w+)\}/g, (all, name) => {
      if (name === 'file' && file !== undefined) return file;
      if (name in parameters) return textOf(name, RUN.values[name]);
      return RUN.values[name] ?? all;
    });
  const options = Object.entries(RUN.options).flatMap(([name, flag]) => {
    if (!(name in parameters)) return [];
    return flag.startsWith('--') ? [`${flag}=${textOf(name)}`] : [flag, textOf(name)];
  });
  const at = RUN.command.findIndex((word) => word === '{options}');
  const words = RUN.command.map(filled);
  return at < 0 ? [...words, ...options] : words.toSpliced(at, 1, ...options);
}

const number = (text) => Number(text.replace(/d/i, 'e'));
const nameOf = (text) => text.trim().replaceAll(/[^\w]+/g, '_');

/** The numbers of an object, those of objects in it by both names. */
function numbersOf(object, prefix = '') {
  return Object.entries(object).flatMap(([name, value]) => {
    if (typeof value === 'number' || typeof value === 'boolean') return [[prefix + nameOf(name), Number(value)]];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && prefix === '';
    return isObject ? numbersOf(value, `${nameOf(name)}_`) : [];
  });
}

/** Outputs in text: its last line as JSON, else all `name = number` and `name: number`, else a number that is its last line. */
function outputsOfText(text) {
  const last = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const object = parsed(last) ?? parsed(text);
  if (object !== undefined) return numbersOf(object);
  // Every repetition is short or cannot match in two ways, so that any text is read in linear time.
  const word = String.raw`[A-Za-z_][\w.-]*`;
  const pair = new RegExp(
    String.raw`(?<![\w.-])(${word}(?: ${word}){0,3}) {0,40}(?:\([^)\n]{0,40}\) {0,40})?[=:] {0,40}(${NUMBER})(?!\.?[\d:])(?!\w{0,20}[:\d])`,
    'g',
  );
  const pairs = [...text.matchAll(pair)].map(([, name, value]) => [nameOf(name), number(value)]);
  if (pairs.length > 0) return pairs;
  return new RegExp(`^${NUMBER}$`).test(last) ? [['result', number(last)]] : [];
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Outputs in a file that the program wrote: numbers of a JSON object, or the last row of a CSV table with a header. */
function outputsOfFile(name) {
  const path = join(OUTPUT, name);
  const about = statSync(path);
  if (!about.isFile() || about.size > LARGEST_FILE) return [];
  if (name.endsWith('.json')) return numbersOf(parsed(readFileSync(path, 'utf8')) ?? {});
  if (!name.endsWith('.csv')) return [];
  const rows = readFileSync(path, 'utf8').trimEnd().split(/\r?\n/);
  const [header = [], last = []] = [rows[0], rows.at(-1)].map((row) => row.split(',').map((it) => it.trim()));
  if (rows.length < 2 || header.some((it) => new RegExp(`^${NUMBER}$`).test(it))) return [];
  return header.flatMap((it, at) => {
    const text = last[at] ?? '';
    return new RegExp(`^${NUMBER}$`).test(text) ? [[nameOf(it.replaceAll(/^"|"$/g, '')), number(text)]] : [];
  });
}

/** Of two outputs of the same name in one place the later one counts; what is printed counts before files. */
function collect(printed, copy) {
  const own = new Set(['metadata.json', copy === undefined ? '' : basename(copy), 'stdout.log', 'stderr.log']);
  const files = RUN.folder === 'run' ? readdirSync(OUTPUT).filter((it) => !own.has(it)) : [];
  const found = [...files.sort().flatMap(outputsOfFile), ...outputsOfText(printed)];
  const outputs = Object.fromEntries(found.filter(([name]) => !RUN.inputs.includes(name)));
  if (Object.keys(outputs).length === 0)
    process.stderr.write(
      'no output was found: let the program print lines such as `range_m = 75.3`, or write metadata.json\n',
    );
  // NaN and infinities are missing values.
  writeFileSync(join(OUTPUT, 'metadata.json'), `${JSON.stringify(outputs)}\n`);
}

const copy = RUN.file === undefined ? undefined : writeInput();
const [program, ...words] = commandOf(copy);
const child = spawn(program, words, {
  cwd: RUN.folder === 'run' ? OUTPUT : HERE,
  env: { ...process.env, ...RUN.environment },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let printed = '';
child.stdout.setEncoding('utf8').on('data', (piece) => {
  process.stdout.write(piece);
  printed = (printed + piece).slice(-1024 * 1024);
});
child.on('error', (error) => {
  process.stderr.write(`${program} cannot be started: ${error.message}\n`);
  process.exitCode = 127;
});
child.on('close', (code, signal) => {
  if (code === 0) {
    if (!existsSync(join(OUTPUT, 'metadata.json'))) collect(printed, copy);
    return;
  }
  if (process.exitCode === undefined) process.stderr.write(`${program} ended with ${signal ?? `exit code ${code}`}\n`);
  process.exitCode ??= code ?? 1;
});
