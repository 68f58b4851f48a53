/** `simbatch evaluate`: a simulation as a function of the points of a file. */
import { Option, type Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import type { Evaluator } from '../../../client/evaluator.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { EvaluatedPoint, Evaluation, EvaluationProgress, Uuid } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import {
  evaluating,
  evaluatorOf,
  namesOption,
  outputNumbers,
  type EvaluatorFlags,
} from '../../points/evaluator-options.ts';
import { interruptible, persist, RunsProgress } from '../../points/persist.ts';
import { readRows, type FileRows, type Row } from '../../points/read-rows.ts';
import { formatNumber, plural, printable } from '../../terminal/format.ts';
import { each, printList, type ListColumn } from '../../terminal/list.ts';
import { note } from '../../terminal/output.ts';
import { explain, withPlaces } from './append.ts';

interface EvaluateFlags extends ClientFlags, EvaluatorFlags {
  points: string;
  inputs?: string[];
  outputs?: string[];
  failed: 'nan' | 'raise';
  retryFailed?: boolean;
}

/** A point with its result; the outputs of a failed one are NaN, which is null in JSON. */
interface Line {
  run_id: number;
  class: string;
  inputs: Row;
  outputs: Record<string, number | null>;
  error?: string;
}

/** The answer to the request that appended a part of the points, and the study that has them. */
interface Begun {
  answer: Evaluation | EvaluationProgress;
  study: Uuid;
}

/** Seconds of one request, and so between two lines of progress. */
const WAIT_SECS = 5;
/** A larger file is not read: two million points of six inputs have about as much. */
const MOST_FILE_BYTES = 256 * 1024 * 1024;

export function evaluateCommand(): Command {
  return evaluating(
    clientCommand('evaluate', 'evaluate a simulation at the points of a file, each once', [
      'table',
      'csv',
      'json',
      'ndjson',
    ])
      .argument('<simulation>', 'the name of the simulation, as runners have it')
      .requiredOption(
        '--points <file>',
        'CSV with names in its first row, a JSON list or lines of objects; - for standard input',
      )
      .addOption(namesOption('--inputs <names>', 'only these columns; otherwise all'))
      .addOption(namesOption('--outputs <names>', 'these outputs, in this order; otherwise all numbers')),
  )
    .addOption(
      new Option('--failed <how>', '`nan`: failed points have no outputs; `raise`: exit with 3')
        .choices(['nan', 'raise'])
        .default('nan'),
    )
    .option('--retry-failed', 'execute points again whose runs have failed')
    .action(async (simulation: string, flags: EvaluateFlags) => {
      const file = await readRows(flags.points, { maxBytes: MOST_FILE_BYTES });
      const { inputs, rows } = inputsOf(file, flags);
      const client = await connect(flags);
      const evaluator = evaluatorOf(client, simulation, inputs, flags);
      const points = await evaluated(client, evaluator, { ...file, rows }, simulation, flags);
      await print(rows, inputs, points, flags);
    });
}

/** Evaluates all points; Ctrl-C leaves their runs running. */
async function evaluated(
  client: Client,
  evaluator: Evaluator,
  file: FileRows,
  simulation: string,
  flags: EvaluateFlags,
): Promise<EvaluatedPoint[]> {
  const { rows } = file;
  const progress = new RunsProgress(simulation);
  const study = await persist(() => evaluator.study(), { repeating: progress.say });
  note(`study ${study}`);
  let asked = 0;
  const continues = (): string => {
    const are = asked === rows.length ? 'their runs continue' : `the runs of the first ${asked} continue`;
    return `stopped waiting for ${plural(rows.length, 'point')}; ${are}: the same command again executes none of them twice; simbatch watch ${study} shows them`;
  };
  return interruptible(continues, async (signal) => {
    const wishes = flags.outputs === undefined ? {} : { outputs: flags.outputs };
    const repeated = <T>(request: () => Promise<T>): Promise<T> =>
      persist(request, { repeating: progress.say, signal });
    const requestOf = (from: number) => ({ rows: rows.slice(from, from + LIMITS.roundRows), ...wishes });
    // All points are appended before the first wait, so that the pool has all of them.
    const first: Begun[] = [];
    for (let from = 0; from < rows.length; from += LIMITS.roundRows) {
      const request = { ...requestOf(from), retry_failed: flags.retryFailed === true };
      try {
        const answer = await repeated(() => evaluator.evaluate(request, 0, signal));
        first.push({ answer, study: await repeated(() => evaluator.study()) });
      } catch (error) {
        throw withPlaces(error, { ...file, placeOf: (row) => file.placeOf(from + row) });
      }
      const [before, { study: now }] = [first.at(-2)?.study ?? study, first.at(-1)!];
      if (now !== before) progress.say(`study ${before} is full or closed: the further points are in study ${now}`);
      asked = Math.min(rows.length, from + LIMITS.roundRows);
    }
    const executed = first.reduce((sum, { answer: { appended } }) => sum + (appended?.count ?? 0), 0);
    const points: EvaluatedPoint[] = [];
    for (let part = 0, begun = first.shift(); begun !== undefined; part++, begun = first.shift()) {
      let { answer } = begun;
      const { study: own } = begun;
      for (let waits = 0; !('points' in answer); waits++) {
        // Another study would not know these points.
        answer = await repeated(() =>
          client.rounds.evaluate(own, requestOf(part * LIMITS.roundRows), WAIT_SECS, signal),
        );
        progress.show(answer.counts);
        if (waits === 0 && !('points' in answer)) await explain(client, own, progress.say);
      }
      for (const point of answer.points) points.push(point);
    }
    note(`${plural(rows.length, 'point')}: ${executed} executed, ${rows.length - executed} known`);
    return points;
  });
}

/** The inputs and the rows with these alone. */
function inputsOf({ rows, placeOf }: FileRows, { inputs }: EvaluateFlags): { inputs: string[]; rows: Row[] } {
  const names = inputs ?? Object.keys(rows[0]!);
  const chosen = rows.map((row, at) => {
    const missing = names.find((name) => !Object.hasOwn(row, name));
    if (missing !== undefined)
      throw new Failure(
        EXIT.invalid,
        `${placeOf(at)}: has no ${JSON.stringify(missing)}; every point gives each input`,
      );
    // A million rows are not copied.
    return inputs === undefined ? row : Object.fromEntries(names.map((name) => [name, row[name]!]));
  });
  const further = inputs === undefined ? rows.findIndex((row) => Object.keys(row).length > names.length) : -1;
  if (further >= 0)
    throw new Failure(EXIT.invalid, `${placeOf(further)}: has other names than the first point; give --inputs`);
  return { inputs: names, rows: chosen };
}

async function print(
  rows: readonly Row[],
  inputs: readonly string[],
  points: readonly EvaluatedPoint[],
  flags: EvaluateFlags,
): Promise<void> {
  const outputs = flags.outputs ?? numbersOf(points);
  const both = outputs.find((name) => inputs.includes(name));
  if (both !== undefined && flags.format === 'csv')
    throw new Failure(
      EXIT.usage,
      `${JSON.stringify(both)} is an input and an output: choose others with --outputs, or write JSON`,
    );
  let failed = 0;
  let example = '';
  function* lines(): Generator<Line> {
    for (const [at, point] of points.entries()) {
      const numbers = outputNumbers(point, outputs);
      const isFailed = typeof numbers === 'string';
      if (isFailed && failed++ === 0) example = numbers;
      const values = outputs.map((name, place) => [name, isFailed ? null : numbers[place]!] as const);
      const line = { run_id: point.run_id, class: point.class, inputs: rows[at]!, outputs: Object.fromEntries(values) };
      yield isFailed ? { ...line, error: numbers } : line;
    }
  }
  await printList(flags.format, each(lines()), {
    columns: columnsOf(inputs, outputs),
    nameOf: (it) => String(it.run_id),
    none: 'no points',
  });
  if (failed === 0) return;
  note(`${plural(failed, 'point')} failed, such as: ${printable(example)}`);
  if (flags.failed === 'raise') process.exitCode = EXIT.runsFailed;
}

/** The outputs that are numbers in any point, in the order in which they are found. */
function numbersOf(points: readonly EvaluatedPoint[]): string[] {
  const names = new Set<string>();
  for (const point of points)
    for (const name of Object.keys(point.outputs))
      if (typeof outputNumbers(point, [name]) !== 'string') names.add(name);
  return [...names];
}

const columnsOf = (inputs: readonly string[], outputs: readonly string[]): ListColumn<Line>[] => [
  ...inputs.map((name): ListColumn<Line> => ({
    name,
    key: name,
    verbatim: true,
    align: 'right',
    value: (it) => it.inputs[name],
    cell: (it) => formatNumber(it.inputs[name]!),
  })),
  ...outputs.map((name): ListColumn<Line> => ({
    name,
    key: name,
    verbatim: true,
    align: 'right',
    value: (it) => it.outputs[name] ?? Number.NaN,
    cell: (it) => (it.outputs[name] === null ? 'NaN' : formatNumber(it.outputs[name]!)),
  })),
  { name: 'class', key: 'class', value: (it) => it.class },
  { name: 'run', key: 'run_id', align: 'right', value: (it) => it.run_id },
  {
    name: 'error',
    key: 'error',
    value: (it) => it.error,
    cell: (it) => printable(it.error ?? '-'),
    shrink: 20,
    rank: 1,
  },
];
