/** `simbatch init`: writes a study of a simulation, and what runs it: its inputs are found, one run shows its outputs. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseRequirementCondition } from '../../../domain/study/condition.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { integerBetween } from '../../options.ts';
import { formatDuration, formatNumber, plural, printable } from '../../terminal/format.ts';
import { writeFileFrom } from '../../terminal/output-file.ts';
import { note, writeLine } from '../../terminal/output.ts';
import type { FirstRun } from '../runs/local/first-run.ts';
import type { FoundInput, Subject } from '../../init/subject.ts';
import type { Goal } from '../../init/study-text.ts';
import type { HowVaried } from '../../init/vary.ts';

interface InitFlags {
  file?: string;
  /** The former name of `file`. */
  output?: string;
  pythonExecutable?: string;
  vary?: string[];
  set?: string[];
  require?: string;
  probability: number;
  runs: number;
  /** False with `--no-start`: nothing of the user is started. */
  start: boolean;
  /** False with `--no-run`. */
  run: boolean;
  inPlace?: boolean;
  force?: boolean;
}

const repeated = (text: string, before: string[] = []): string[] => [...before, text];
/** The largest study that a person plans by answering three questions. */
const MAX_RUNS = 1_000_000;

export function initCommand(): Command {
  return new Command('init')
    .description(
      'write a study of a simulation: a Python script (arguments, function, constants), an input file and its program, a command with placeholders, an FMU',
    )
    .argument(
      '<what...>',
      'a script, FUNCTION of one as sim.py:FUNCTION, an input file, a program, an FMU; with -- before it, a command',
    )
    .option(
      '--vary <how>',
      'how inputs vary: 5% for all, or speed=5%,angle=35..45,mass=normal(40,1); repeatable',
      repeated,
    )
    .option('--set <name=value>', 'the value of an input that has none; repeatable', repeated)
    .option('--require <requirement>', 'what is OK, such as "range_m > 75"')
    .option('--probability <p>', 'the share of runs that has to be OK', probabilityOf, 0.95)
    .option('--runs <n>', 'runs of the study', integerBetween(1, MAX_RUNS), 100)
    .option('--in-place', 'the program works in its own folder, not in an empty one for each run')
    .option('--no-start', 'do not start the program to see its arguments, nor a first run')
    .option('--no-run', 'no first run, which shows the outputs')
    .option('--force', 'replace the files that are there')
    .option('-o, --file <file>', 'the study file (default: beside the simulation, .yaml)')
    .addOption(new Option('-f, --output <file>', 'the former name of --file').hideHelp())
    .option('--python-executable <program>', 'interpreter of Python scripts (default: python3, then python)')
    .action(init);
}

function probabilityOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value < 1))
    throw new InvalidArgumentError('It must be above 0 and below 1.');
  return value;
}

async function init(words: string[], flags: InitFlags): Promise<void> {
  const { subjectOf } = await import('../../init/look/subjects.ts');
  const { isInteractive } = await import('../../init/questions.ts');
  const { pythonExecutable, inPlace: isInPlace = false, start: mayStart } = flags;
  const found = await subjectOf(words, { pythonExecutable, mayStart, isInPlace });
  const values = setValues(flags.set ?? [], found);
  const subject = { ...found, inputs: found.inputs.map((it) => ({ ...it, value: values.get(it.name) ?? it.value })) };
  const study = flags.file ?? flags.output ?? join(subject.folder, `${subject.name}.yaml`);
  const adapter = subject.adapter === undefined ? undefined : join(subject.folder, subject.adapter.name);
  if (flags.force !== true)
    for (const path of [study, ...(adapter === undefined ? [] : [adapter])]) refuseExisting(path);
  await listInputs(words.join(' '), subject);
  const isAsking = isInteractive();
  const { varied, notes } = await howVaried(subject, flags, isAsking);
  for (const line of notes) note(line);
  refuseValueless(subject.inputs.filter((it) => it.value === null && !varied.has(it.name)));
  const goalGiven = flags.require === undefined ? undefined : goalOf(flags.require, flags.probability);
  if (adapter !== undefined) await writeFileFrom(adapter, (put) => put(subject.adapter?.text(values) ?? ''));

  const entrypoint = adapter ?? subject.entrypoint ?? '';
  const { studyText } = await import('../../init/study-text.ts');
  const textOf = (goal: Goal | undefined): string =>
    studyText(subject, { file: study, runs: flags.runs, varied, goal });
  const first =
    flags.run && flags.start && isRunnable(subject)
      ? await tryOut(textOf(undefined), { entrypoint, pythonExecutable })
      : undefined;
  const goal = goalGiven ?? (isAsking ? await askGoal(first, flags.probability) : undefined);
  await writeFileFrom(study, (put) => put(textOf(goal)));
  await report(study, { adapter, entrypoint, simulation: subject.name, isVaried: varied.size > 0, goal, first });
}

/** A script without inputs of its own may not read any parameters yet. */
const isRunnable = ({ adapter, inputs }: Subject): boolean => adapter !== undefined || inputs.length > 0;

function refuseExisting(path: string): void {
  if (existsSync(path))
    throw new Failure(
      EXIT.cannotOpen,
      `cannot write ${path}: it exists; name another with --file, or replace it with --force`,
    );
}

function setValues(texts: readonly string[], { inputs }: Subject): Map<string, number> {
  return new Map(
    texts.map((text) => {
      const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (!inputs.some((it) => it.name === name))
        throw new Failure(
          EXIT.usage,
          `--set ${text}: there is no input ${name || text}; there are: ${inputs.map((it) => it.name).join(', ') || 'none'}`,
        );
      if (!Number.isFinite(Number(value.trim() === '' ? NaN : value)))
        throw new Failure(EXIT.usage, `--set ${text}: ${value} is not a number`);
      return [name, Number(value)] as const;
    }),
  );
}

function refuseValueless(inputs: readonly FoundInput[]): void {
  const [first] = inputs;
  if (first === undefined) return;
  const names = inputs.map((it) => it.name).join(', ');
  throw new Failure(
    EXIT.usage,
    `${names}: no value is known; give one with --set ${first.name}=1, or vary it: --vary ${first.name}=0..1`,
  );
}

/** `speed = 30, angle = 40`. */
async function listInputs(what: string, { inputs, from, notes }: Subject): Promise<void> {
  const listed = inputs.map(
    ({ name, value, units = '' }) => `${name}${value === null ? '' : ` = ${value}`}${units === '' ? '' : ` ${units}`}`,
  );
  const origin = from === '' ? '' : ` from ${from}`;
  await writeLine(
    printable(
      `${what}: ${plural(inputs.length, 'input')}${origin}${listed.length === 0 ? '' : `: ${listed.join(', ')}`}`,
    ),
  );
  if (inputs.length === 0)
    note(
      'no input was found: see docs/simulation-authors.md for how a simulation takes its parameters, or mark them in its command: simbatch init -- ./sim --speed {speed=30}',
    );
  for (const line of notes) note(printable(line));
}

async function howVaried({ inputs }: Subject, { vary }: InitFlags, isAsking: boolean): Promise<HowVaried> {
  const { readVaried } = await import('../../init/vary.ts');
  if (vary !== undefined || !isAsking || inputs.length === 0) return readVaried(vary ?? [], inputs);
  const { ask } = await import('../../init/questions.ts');
  const question = '1. What varies, and by how much? speed=5%, angle=35..45, mass=normal(40,1) [5%, of all]';
  return ask(question, (answer) => readVaried([answer === '' ? '5%' : answer], inputs));
}

/** Executes the first run of the study and lists its outputs. */
async function tryOut(
  text: string,
  place: { entrypoint: string; pythonExecutable: string | undefined },
): Promise<FirstRun> {
  const { checkStudyText } = await import('../../study/check-study.ts');
  const { firstRun, FIRST_RUN_SECS, NO_OUTPUT } = await import('../runs/local/first-run.ts');
  const { firstRunConfig } = await import('../runs/try.ts');
  const { text: study, faults } = checkStudyText(text);
  const [fault] = faults;
  if (fault !== undefined)
    throw new Failure(EXIT.invalid, `the study is not valid: ${fault.pointer ?? ''} ${fault.detail}`);
  note(`one run, for ${FIRST_RUN_SECS / 60} minutes at most; Ctrl-C ends it`);
  const run = await firstRun(firstRunConfig(study.value), place.entrypoint, place.pythonExecutable);
  if (run.fault !== undefined) note(printable(`the run failed: ${run.fault}`));
  else {
    const listed = [...run.outputs].map(
      ([name, value]) => `${name} = ${value === null ? 'no number' : formatNumber(value)}`,
    );
    await writeLine(
      printable(
        `one run, ${formatDuration(run.tookSecs)}: ${plural(listed.length, 'output')}${listed.length === 0 ? '' : `: ${listed.join(', ')}`}`,
      ),
    );
    if (listed.length === 0) note(NO_OUTPUT);
  }
  return run;
}

/** @param text `range_m > 75`, or `range_m 70 .. 80` */
function goalOf(text: string, probability: number): Goal {
  const [, output = '', condition = ''] = /^\s*([^\s<>=!]+)\s*(.+)$/.exec(text) ?? [];
  const parsed = parseRequirementCondition(condition);
  if (output === '' || typeof parsed === 'string')
    throw new Failure(
      EXIT.usage,
      `"${text}" is not a requirement: write an output and a condition, such as "range_m > 75"`,
    );
  return { output, condition: condition.trim(), probability };
}

async function askGoal(first: FirstRun | undefined, probability: number): Promise<Goal | undefined> {
  const names = [...(first?.outputs.keys() ?? [])];
  if (names.length === 0) return undefined;
  const { ask } = await import('../../init/questions.ts');
  const output = await ask(`2. Which output matters? ${names.join(', ')} [${names[0]}]`, (answer) => {
    if (answer === '' || names.includes(answer)) return answer === '' ? (names[0] as string) : answer;
    throw new Failure(EXIT.usage, `there is no output ${answer}`);
  });
  return ask(
    `3. What is OK, in at least ${probability * 100} % of all runs? such as > 75, or 70 .. 80 [no requirement]`,
    (answer) => (answer === '' ? undefined : goalOf(`${output} ${answer}`, probability)),
  );
}

interface Written {
  adapter: string | undefined;
  entrypoint: string;
  simulation: string;
  isVaried: boolean;
  goal: Goal | undefined;
  first: FirstRun | undefined;
}

async function report(
  study: string,
  { adapter, entrypoint, simulation, isVaried, goal, first }: Written,
): Promise<void> {
  const { entrypointBeside } = await import('../../init/entrypoint-beside.ts');
  if (adapter !== undefined) await writeLine(`wrote ${adapter}, which runs it, and ${study}`);
  else await writeLine(`wrote ${study}`);
  if (!isVaried)
    note(`nothing varies yet: give the lines of ${study} distributions, or write it again with --vary 5% --force`);
  if (goal !== undefined && first !== undefined && first.fault === undefined && !first.outputs.has(goal.output))
    note(`the run gave no output ${goal.output}: it gave ${[...first.outputs.keys()].join(', ') || 'none'}`);
  const isFound = entrypointBeside(study, simulation) === resolve(entrypoint);
  await writeLine(`next: simbatch run ${quoted(study)}${isFound ? '' : ` --entrypoint ${quoted(entrypoint)}`}`);
  if (first?.fault !== undefined) process.exitCode = EXIT.failed;
  else if (first?.outputs.size === 0) process.exitCode = EXIT.runsFailed;
}

const quoted = (path: string): string =>
  /^[\w./@%+=:-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
