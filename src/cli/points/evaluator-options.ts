/** The options of the commands that evaluate points: the simulation, its inputs and its outputs. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { given } from '../../base/given.ts';
import { Evaluator } from '../../client/evaluator.ts';
import type { Client } from '../../client/client.ts';
import { INT32_MAX } from '../../contract/limits.ts';
import type { EvaluatedPoint } from '../../contract/types.ts';
import { EVALUATOR_BUDGET } from '../../domain/adaptive/evaluator-identity.ts';
import { numberOf } from '../../domain/runs/outputs.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { integerBetween, texts } from '../options.ts';

export interface EvaluatorFlags {
  version: string;
  fixed?: Record<string, number>;
  budget: number;
  timeout: number;
}

/** Adds the options that say which runs a point has. */
export const evaluating = (command: Command): Command =>
  command
    .option('--version <text>', 'version of the simulation', '1')
    .addOption(
      new Option('--fixed <name=number>', 'another parameter and its number; repeat for more').argParser(fixedNumbers),
    )
    .option(
      '--budget <n>',
      'the most runs of the study, where it is submitted',
      integerBetween(1, INT32_MAX),
      EVALUATOR_BUDGET,
    )
    .option(
      '--timeout <seconds>',
      'time limit of a run, where the study is submitted; 0: none',
      integerBetween(0, INT32_MAX),
      0,
    );

/** Names by comma or repetition. */
export const namesOption = (flags: string, description: string): Option =>
  new Option(flags, description).argParser(texts);

function fixedNumbers(text: string, before: Record<string, number> = {}): Record<string, number> {
  const [, name, digits = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  const value = digits.trim() === '' ? Number.NaN : Number(digits);
  if (name === undefined || !Number.isFinite(value)) throw new InvalidArgumentError('It must be name=number.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`"${name}" is given twice.`);
  return { ...before, [name]: value };
}

/** @throws Failure for names that are given twice, or as an input and as fixed */
export function evaluatorOf(
  client: Client,
  simulation: string,
  inputs: readonly string[],
  flags: EvaluatorFlags,
): Evaluator {
  const { version, fixed = {}, budget, timeout } = flags;
  const twice = inputs.find((name, at) => inputs.indexOf(name) !== at || Object.hasOwn(fixed, name));
  if (twice !== undefined)
    throw new Failure(EXIT.usage, `${JSON.stringify(twice)} is given twice: it is one input, or --fixed`);
  const options = given({ budget, timeoutSecs: timeout });
  return new Evaluator(client, { simulation, version, inputs, fixed }, options);
}

/** The numbers of the outputs; or why the point has failed. */
export function outputNumbers(point: EvaluatedPoint, outputs: readonly string[]): number[] | string {
  const { class: end, run_id: run, error, outputs: found } = point;
  if (end !== 'ok') return `run ${run} ended ${end}${error === undefined ? '' : `: ${error}`}`;
  const numbers: number[] = [];
  for (const name of outputs) {
    const value = Object.hasOwn(found, name) ? numberOf(found[name]) : undefined;
    if (value === undefined) {
      const why = Object.hasOwn(found, name) ? `gave ${JSON.stringify(found[name])} as` : 'did not give';
      return `run ${run} ${why} the output ${JSON.stringify(name)}, which must be a finite number`;
    }
    numbers.push(value);
  }
  return numbers;
}
