/** The target of the plots of a study: an output, a requirement, or failure; and the relevance of the variables to it. Pure. */
import type { RequirementVerdict, StudyAttribution, StudySensitivity } from '../../../src/contract/types.ts';
import { centred } from '../../../src/analysis/numeric/correlation.ts';
import { averageRanks } from '../../../src/analysis/numeric/ranks.ts';
import { isEnded, isFailure, type Variable } from '../plots/variables.ts';

type Centred = ReturnType<typeof centred>;

/** `key`: in the address: `failed`, `r.NAME` of a requirement, `o.NAME` of an output. */
export interface Target {
  key: string;
  label: string;
  /** The output that is drawn for it; undefined where it has none. */
  output: string | undefined;
  /** The question that ranks the inputs for it. */
  question: string;
}

/** The influence of one variable on the target. */
export interface Relevance {
  /** From -1 to 1: a rank correlation, or how much greater the variable is in failing runs. */
  value: number;
  /** True where it is told apart from no influence. */
  isApart: boolean;
}

/** All targets of a study: its requirements, its outputs, and failure where a run has failed. */
export function targetsOf(
  outputs: readonly Variable[],
  requirements: readonly RequirementVerdict[],
  hasFailed: boolean,
): Target[] {
  const ofOutput = (name: string): string => `sensitivity?output=${encodeURIComponent(name)}`;
  const numbers = outputs.filter((it) => it.kind === 'output' && it.categories === undefined);
  return [
    ...requirements.map(({ name, output }) => ({
      key: `r.${name}`,
      label: `requirement ${name}`,
      output: numbers.find((it) => it.name === output)?.name,
      question: `attribution?failing=${encodeURIComponent(name)}`,
    })),
    ...numbers.map(({ key, name, label }) => ({ key, label, output: name, question: ofOutput(name) })),
    ...(hasFailed ? [{ key: 'failed', label: 'failed', output: undefined, question: 'attribution' }] : []),
  ];
}

/** The target of the address, or else the output of the first requirement, or the first output that the study declares. */
export function targetOf(targets: readonly Target[], key: string | null): Target | undefined {
  const first = targets.find((it) => it.key.startsWith('r.'))?.output;
  return (
    targets.find((it) => it.key === key) ??
    (first === undefined ? undefined : targets.find((it) => it.key === `o.${first}`)) ??
    targets.find((it) => it.key !== 'o.execution_secs') ??
    targets[0]
  );
}

/** The relevance of the inputs by their names, as the coordinator answers it. */
export function relevanceOf(answer: StudySensitivity | StudyAttribution): Map<string, Relevance> {
  const found = new Map<string, Relevance>();
  for (const it of answer.parameters) {
    const value = 'auc' in it ? 2 * it.auc - 1 : it.prcc;
    if (value !== null) found.set(it.name, { value, isApart: it.told_apart === true });
  }
  return found;
}

/**
 * Returns the greatest size of the correlation of `n` pairs of unrelated values, with 95 % confidence: the noise floor of one variable.
 * 1 for fewer than four pairs.
 */
export const noiseFloor = (n: number): number => (n < 4 ? 1 : Math.tanh(1.96 / Math.sqrt(n - 3)));

/** The rank correlation of two variables over the runs that have both, and their number; NaN where one of both does not vary. */
export function rankCorrelation(a: Variable, b: Variable, rows: Uint32Array): { value: number; n: number } {
  const both = rows.filter((row) => Number.isFinite(a.values[row]) && Number.isFinite(b.values[row]));
  const [x, y] = [a, b].map(({ values }) => centred(ranksOf(values, both))) as [Centred, Centred];
  const product = x.deviations.reduce((sum, it, at) => sum + it * y.deviations[at]!, 0);
  return { value: product / Math.sqrt(x.squares * y.squares), n: both.length };
}

/** How much greater a variable is in failing runs than in the others: 2 AUC - 1, over the ended runs that have it. */
export function failingContrast(a: Variable, status: Uint8Array, rows: Uint32Array): { value: number; n: number } {
  const some = rows.filter((row) => isEnded(status[row]!) && Number.isFinite(a.values[row]));
  const ranks = ranksOf(a.values, some);
  let [failing, sum] = [0, 0];
  for (const [at, row] of some.entries()) {
    if (!isFailure(status[row]!)) continue;
    failing += 1;
    sum += ranks[at]!;
  }
  const passing = some.length - failing;
  if (failing === 0 || passing === 0) return { value: Number.NaN, n: some.length };
  return { value: (2 * (sum - (failing * (failing + 1)) / 2)) / (failing * passing) - 1, n: some.length };
}

const ranksOf = (values: Float64Array, rows: Uint32Array): Float64Array =>
  averageRanks(Float64Array.from(rows, (row) => values[row]!)).ranks;
