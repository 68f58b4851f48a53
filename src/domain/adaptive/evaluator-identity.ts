/** The identity of an evaluator, of everything that its runs depend on. Evaluators of the same identity share one study, whatever made them. Pure. */
import { createHash } from 'node:crypto';
import { sortedNames } from '../../base/text/sorted-names.ts';

/** The definition of an evaluator: everything that its runs depend on. */
export interface EvaluatorDefinition {
  simulation: string;
  version: string;
  /** The chosen parameters, in any order. */
  inputs: readonly string[];
  /** The numbers of the other parameters. */
  fixed: Readonly<Record<string, number>>;
  /** A text for everything else, which evaluators of Python studies have. */
  extra?: string;
}

/** The label by which the study of an evaluator is found. */
export const EVALUATOR_LABEL = 'evaluator';

/** The most runs of the study of an evaluator, where its user gives no other budget. */
export const EVALUATOR_BUDGET = 1_000_000;

/**
 * Returns the identity: SHA-256, in lowercase hexadecimal, of texts in UTF-8 with a zero byte after each. They are `simbatch-evaluator/1`, the
 * simulation, its version; the number of inputs and their names, sorted by UTF-16 code unit; the number of fixed parameters and, sorted, the
 * name of each and its double as 16 hexadecimal digits, big-endian; `extra`. Outputs are not in it: the same runs answer for all of them.
 */
export function evaluatorIdentity({ simulation, version, inputs, fixed, extra = '' }: EvaluatorDefinition): string {
  const names = sortedNames(Object.keys(fixed));
  const texts = ['simbatch-evaluator/1', simulation, version, String(inputs.length), ...sortedNames([...inputs])];
  texts.push(String(names.length), ...names.flatMap((name) => [name, doubleHex(fixed[name]!)]), extra, '');
  return createHash('sha256').update(texts.join('\0'), 'utf8').digest('hex');
}

function doubleHex(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}
