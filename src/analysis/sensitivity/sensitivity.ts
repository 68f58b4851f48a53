/** Which inputs drive an output: rank correlations, rank regression and first-order indices with their noise floor. */
import { type NumericColumn, completeRows, takeRows } from '../numeric/columns.ts';
import { drawnRows } from '../numeric/drawn-rows.ts';
import { centred, correlationMatrix, correlationPValue, isConstant } from '../numeric/correlation.ts';
import { holm } from '../numeric/holm.ts';
import { standardisedFit } from '../numeric/least-squares.ts';
import { ascendingOrder } from '../numeric/order.ts';
import { averageRanks } from '../numeric/ranks.ts';
import type { ParameterSensitivity, Sensitivity } from './answer.ts';
import { LEAST_RUNS, adjustedIndex, cosineBasis, cosinePower } from './cosine-index.ts';
import { type ChanceIndices, chanceIndices, chanceOf, noiseFloor } from './noise-floor.ts';
import { permutationKey } from './permutations.ts';
import { sensitivitySentence } from './sentence.ts';
import { correlationWarnings, drawnWarnings, floorWarnings, rankWarnings } from './warnings.ts';

/** Fewer runs than this give no rank correlation. */
const LEAST_FOR_RANKS = 4;
/** More parameters than this give no PRCC and no SRRC, since their time grows with the cube. */
const MOST_FOR_FIT = 500;

/** The ranks of all parameters are in memory at once, 40 bytes a run and parameter. */
const MOST_RUNS = 1_000_000;

export interface SensitivityRequest {
  /** Enters the noise floor's permutations, so that one batch always gives one answer. */
  batchId: string;
  output: NumericColumn;
  /** Every parameter that varies, over the same runs as the output. */
  parameters: readonly NumericColumn[];
  /** Confidence, in (0, 1); 0.95 by default. */
  confidence?: number;
  /** Of more runs so many are drawn; a million by default. */
  mostRuns?: number;
}

/**
 * Judges each parameter's influence on the output. All runs count that have a finite output and finite parameters; of more than `mostRuns`
 * a part is drawn, which the answer says.
 * Sources: Spearman (1904); Iman and Conover, Technometrics 21 (1979) 499 (rank regression); Plischke (2012), COSI; Holm (1979).
 */
export function sensitivity({
  batchId,
  output,
  parameters,
  confidence = 0.95,
  mostRuns = MOST_RUNS,
}: SensitivityRequest): Sensitivity {
  const columns = [...parameters.map((it) => it.values), output.values];
  const complete = completeRows(columns, output.values.length);
  const key = permutationKey(batchId, output.name);
  const rows = drawnRows(complete, mostRuns, key);
  const y = takeRows(output.values, rows);
  const taken = parameters.map((it) => ({ name: it.name, values: takeRows(it.values, rows) }));
  const isFixed = taken.map((it) => isConstant(it.values));
  const constant = taken.filter((_, j) => isFixed[j]).map((it) => it.name);
  const varying = taken.filter((_, j) => !isFixed[j]);
  const shared = { output: output.name, n_used: complete.length };
  const reason = reasonForNone(rows.length, y, varying.length);
  if (reason !== null) {
    const sentence = `no sensitivity of ${output.name}: ${reason}`;
    return { ...shared, parameters: [], srrc_r2: null, reason, warnings: [], sentence };
  }
  const orders = varying.map((it) => ascendingOrder(it.values));
  const judged = judgeRanks(y, varying, orders);
  const indices = firstOrder(y, orders, key);
  const tests = Number(indices !== null) + Number(judged.parameters.some((it) => it.prcc_p_holm !== null));
  const error = (1 - confidence) / tests;
  const results = judged.parameters.map((it, j) =>
    withIndex(it, indices === null ? null : { ...indices, value: indices.values[j]! }, error),
  );
  results.sort(byInfluence);
  const warnings = [
    ...rankWarnings(constant, judged),
    ...drawnWarnings(rows.length, complete.length),
    ...floorWarnings(rows.length),
    ...(judged.correlations === null ? [] : correlationWarnings(varying, judged.correlations, rows.length)),
  ];
  const sentence = sensitivitySentence(output.name, results, judged.srrc_r2);
  return { ...shared, parameters: results, srrc_r2: judged.srrc_r2, reason: null, warnings, sentence };
}

function reasonForNone(n: number, y: Float64Array, varying: number): string | null {
  if (n < LEAST_FOR_RANKS) return `${n === 1 ? '1 run has' : `${n} runs have`} a value, ${LEAST_FOR_RANKS} are needed`;
  if (isConstant(y)) return `the output is ${y[0]} in all ${n} runs`;
  return varying === 0 ? 'no parameter varies' : null;
}

type RankFigures = Omit<ParameterSensitivity, 'sobol_cosine' | 'noise_floor' | 'told_apart'>;

interface JudgedRanks {
  parameters: RankFigures[];
  srrc_r2: number | null;
  /** Rank correlations of the parameters, the output last; null for more parameters than are fitted. */
  correlations: Float64Array[] | null;
  /** Names of the parameters that others determine in ranks. */
  determined: string[];
}

function judgeRanks(y: Float64Array, varying: readonly NumericColumn[], orders: readonly Uint32Array[]): JudgedRanks {
  const n = y.length;
  const k = varying.length;
  const ranks = varying.map((it, j) => averageRanks(it.values, orders[j]).ranks);
  const output = averageRanks(y).ranks;
  const correlations = k > MOST_FOR_FIT ? null : correlationMatrix([...ranks, output]);
  const fit = correlations === null || n <= k + 2 ? null : standardisedFit(correlations);
  const freedom = n - 1 - (fit?.rank ?? 0);
  const partial = varying.map((_, j) => fit?.partialCorrelations[j] ?? null);
  const pValues = partial.map((it) => (it === null ? null : correlationPValue(it, freedom)));
  const adjusted = holm(pValues);
  const parameters = varying.map(({ name }, j): RankFigures => {
    const spearman = correlations?.[j]?.[k] ?? correlationMatrix([ranks[j]!, output])[0]![1]!;
    return {
      name,
      spearman,
      spearman_p: correlationPValue(spearman, n - 2),
      prcc: partial[j]!,
      prcc_p: pValues[j]!,
      prcc_p_holm: adjusted[j]!,
      srrc: fit?.coefficients[j] ?? null,
      reason: reasonForMissing(n, k, fit !== null && partial[j] === null),
    };
  });
  const determined = fit === null ? [] : varying.filter((_, j) => partial[j] === null).map((it) => it.name);
  return { parameters, srrc_r2: fit?.rSquared ?? null, correlations, determined };
}

function reasonForMissing(n: number, k: number, isDetermined: boolean): string | null {
  const reasons: string[] = [];
  if (k > MOST_FOR_FIT) reasons.push(`PRCC and SRRC are given for at most ${MOST_FOR_FIT} parameters, there are ${k}`);
  else if (n <= k + 2) reasons.push(`PRCC and SRRC of ${k} parameters need more than ${k + 2} runs, there are ${n}`);
  if (isDetermined) reasons.push('other parameters determine this one in ranks, so PRCC and SRRC are not defined');
  if (n < LEAST_RUNS) reasons.push(`a first-order index needs ${LEAST_RUNS} runs, there are ${n}`);
  return reasons.length === 0 ? null : reasons.join('; ');
}

/** The index of each parameter, and the largest ones by chance; null below 30 runs. */
function firstOrder(
  y: Float64Array,
  orders: readonly Uint32Array[],
  key: ReturnType<typeof permutationKey>,
): { values: number[]; chance: ChanceIndices; floor: number } | null {
  const n = y.length;
  if (n < LEAST_RUNS) return null;
  const { deviations, squares } = centred(y);
  const variance = squares / n;
  const basis = cosineBasis(n);
  const values = orders.map((order) => adjustedIndex(cosinePower(deviations, order, basis), variance, n));
  const chance = chanceIndices({ orders, deviations, variance, basis, key });
  return { values, chance, floor: noiseFloor(chance) };
}

/**
 * A parameter is told apart by either of two tests, the index against its permutations and PRCC with Holm's adjustment: each has half of the error of both, so
 * that together they err with at most 1 - confidence (Bonferroni). A test that is not possible leaves its half to the other. `error`: of one test.
 */
function withIndex(
  figures: RankFigures,
  index: { value: number; chance: ChanceIndices; floor: number } | null,
  error: number,
): ParameterSensitivity {
  const { reason, ...ranks } = figures;
  const chances = [index === null ? null : chanceOf(index.value, index.chance), ranks.prcc_p_holm];
  const given = chances.filter((it) => it !== null);
  const told_apart = given.length === 0 ? null : given.some((it) => it < error);
  return { ...ranks, sobol_cosine: index?.value ?? null, noise_floor: index?.floor ?? null, told_apart, reason };
}

const isAboveFloor = ({ sobol_cosine: index, noise_floor: floor }: ParameterSensitivity): boolean =>
  index !== null && floor !== null && index > floor;

/** An index below the noise floor says nothing, so parameters there are ordered by |PRCC|. */
function byInfluence(a: ParameterSensitivity, b: ParameterSensitivity): number {
  const index = (it: ParameterSensitivity): number => it.sobol_cosine ?? Number.NEGATIVE_INFINITY;
  const above = (it: ParameterSensitivity): number => (isAboveFloor(it) ? index(it) : Number.NEGATIVE_INFINITY);
  const partial = (it: ParameterSensitivity): number => Math.abs(it.prcc ?? 0);
  const descending = (x: number, y: number): number => Number(y > x) - Number(y < x);
  return descending(above(a), above(b)) || descending(partial(a), partial(b)) || descending(index(a), index(b));
}
