/** Which inputs drive the failures: each parameter in the failing runs against the passing ones. */
import { ksDistance, twoSampleKsPValue } from '../groups/kolmogorov-smirnov.ts';
import { mannWhitney } from '../groups/mann-whitney.ts';
import { type NumericColumn, completeRows, takeRows } from '../numeric/columns.ts';
import { holm } from '../numeric/holm.ts';
import { ascendingOrder } from '../numeric/order.ts';
import { orderedQuantile } from '../numeric/quantile.ts';
import { averageRanks } from '../numeric/ranks.ts';
import type { Warning } from '../warning.ts';
import { listed } from '../wording.ts';
import type { AttributedParameter, Attribution, BestPair } from './answer.ts';
import { type GroupedRuns, type OrderedColumn, bestInterval, describeInterval } from './best-interval.ts';
import { bestPair } from './best-pair.ts';
import { decileRates } from './decile-rates.ts';
import { attributionSentence, countSentence } from './sentence.ts';

/** Smaller groups give no figures. */
export const LEAST_GROUP = 5;

/** The group of a run. */
export const FAILING = 1;
export const PASSING = 0;
/** Cancelled, lost and open runs. */
export const IN_NEITHER = -1;

export interface AttributionRequest {
  /** `FAILING`, `PASSING` or `IN_NEITHER` for each run. */
  groups: Int8Array;
  /** Every parameter that varies, over the same runs. */
  parameters: readonly NumericColumn[];
  /** Parameters that only some cells of scenarios have: each is compared over the runs that have it. */
  partly?: readonly NumericColumn[];
  /** Confidence of the intervals and of `told_apart`, in (0, 1); 0.95 by default. */
  confidence?: number;
}

/**
 * Describes how the parameters of failing runs differ from those of passing runs. Below 5 runs in either group there are no
 * figures and a reason. Runs with a missing parameter are left out and counted in a warning, but for `partly`.
 */
export function attribution({ groups, parameters, partly = [], confidence = 0.95 }: AttributionRequest): Attribution {
  const inGroup = new Float64Array(groups).map((it) => (it === IN_NEITHER ? Number.NaN : it));
  const grouped = completeRows([inGroup], groups.length).length;
  const rows = completeRows([inGroup, ...parameters.map((it) => it.values)], groups.length);
  const runs = groupedIn(inGroup, rows);
  const counts = { failing: runs.failures, passing: rows.length - runs.failures, n_used: rows.length };
  const isFixed = parameters.map((it) => isConstantIn(it.values, rows));
  const varying = parameters.filter((_, j) => !isFixed[j]);
  const partial = partly.flatMap((it) => attributePartly(it, inGroup, confidence));
  const reason = reasonForNone(counts, varying.length + partial.length);
  const missing = missingWarning(grouped - rows.length);
  if (reason !== null) {
    const sentence = `no cause of failures can be named: ${reason}`;
    return { ...counts, parameters: [], best_pair: null, reason, warnings: missing, sentence };
  }
  // One column after the other is taken and ordered: all of them would be as large as the table.
  const ordered = (column: NumericColumn): OrderedColumn => orderedIn(column, rows);
  const attributed = withHolm(
    [...varying.map((it) => attributeOne(ordered(it), runs, confidence)), ...partial],
    confidence,
  );
  const pair = pairOf((j) => ordered(varying[j]!), attributed.slice(0, varying.length), runs);
  const constant = parameters.filter((_, j) => isFixed[j]).map((it) => it.name);
  attributed.sort(
    (a, b) => Number(b.told_apart) - Number(a.told_apart) || b.best_interval.wracc - a.best_interval.wracc,
  );
  return {
    ...counts,
    parameters: attributed,
    best_pair: pair,
    reason: null,
    warnings: [SEARCHED, ...missing, ...constantWarning(constant)],
    sentence: attributionSentence(attributed, pair, counts.failing, counts.passing),
  };
}

/** Nothing where the parameter does not vary in the runs that have it, or where too few of them fail or pass. */
function attributePartly(column: NumericColumn, inGroup: Float64Array, confidence: number): OneAttribution[] {
  const rows = completeRows([inGroup, column.values], inGroup.length);
  const runs = groupedIn(inGroup, rows);
  if (Math.min(runs.failures, rows.length - runs.failures) < LEAST_GROUP || isConstantIn(column.values, rows))
    return [];
  const found = attributeOne(orderedIn(column, rows), runs, confidence);
  const { best_interval: best } = found;
  return [{ ...found, best_interval: { ...best, sentence: `${best.sentence} that have it` } }];
}

function groupedIn(inGroup: Float64Array, rows: Uint32Array): GroupedRuns {
  const failing = Uint8Array.from(rows, (row) => Number(inGroup[row] === FAILING));
  return { failing, failures: failing.reduce((sum, it) => sum + it, 0) };
}

function orderedIn({ name, values }: NumericColumn, rows: Uint32Array): OrderedColumn {
  const taken = takeRows(values, rows);
  return { name, values: taken, order: ascendingOrder(taken) };
}

const isConstantIn = (values: Float64Array, rows: Uint32Array): boolean =>
  rows.every((row) => values[row] === values[rows[0]!]);

const SEARCHED: Warning = {
  code: 'searched-on-same-runs',
  message:
    'intervals and boxes were searched for on the runs they describe: they look better than they are; ' +
    'confirm a cause by running the study again with the parameter moved',
};

function missingWarning(missing: number): Warning[] {
  if (missing === 0) return [];
  return [{ code: 'parameters-missing', message: `${missing} runs without a value of every parameter are left out` }];
}

function constantWarning(constant: readonly string[]): Warning[] {
  if (constant.length === 0) return [];
  return [{ code: 'constant-parameters', message: `without influence, since they do not vary: ${listed(constant)}` }];
}

function reasonForNone({ failing, passing }: { failing: number; passing: number }, varying: number): string | null {
  if (failing < LEAST_GROUP)
    return `${failing === 1 ? '1 run fails' : `${failing} runs fail`}, ${LEAST_GROUP} are needed`;
  if (passing < LEAST_GROUP)
    return `${passing === 1 ? '1 run passes' : `${passing} runs pass`}, ${LEAST_GROUP} are needed`;
  return varying === 0 ? 'no parameter varies' : null;
}

/** The figures of one parameter, not yet adjusted for the number of parameters. */
export type OneAttribution = Omit<AttributedParameter, 'p_holm' | 'ks_p_holm' | 'told_apart'>;

/** Describes one parameter; both groups must have runs. */
export function attributeOne(column: OrderedColumn, runs: GroupedRuns, confidence: number): OneAttribution {
  const { name, values, order } = column;
  const { failing, failures } = runs;
  const passes = failing.length - failures;
  const { ranks, tieSum } = averageRanks(values, order);
  let rankSum = 0;
  for (let run = 0; run < ranks.length; run++) if (failing[run] === 1) rankSum += ranks[run]!;
  const ks_d = ksDistance(values, order, failing, failures);
  const interval = bestInterval(column, runs);
  const { condition, ...best } = describeInterval(column, interval);
  return {
    name,
    ...mannWhitney(rankSum, failures, passes, tieSum),
    ks_d,
    ks_p: twoSampleKsPValue(ks_d, failures, passes),
    median_failing: orderedQuantile(
      values,
      order.filter((run) => failing[run] === 1),
      0.5,
    ),
    median_passing: orderedQuantile(
      values,
      order.filter((run) => failing[run] === 0),
      0.5,
    ),
    best_interval: { ...best, sentence: countSentence(condition, interval, runs) },
    rate_by_decile: decileRates(column, runs, confidence),
  };
}

/**
 * Adds the adjusted p-values. A parameter is told apart by either family of tests, so each family gets half of the error.
 * Kolmogorov-Smirnov is among them because a cause at both ends of a range leaves the AUC at 1/2.
 */
function withHolm(parameters: readonly OneAttribution[], confidence: number): AttributedParameter[] {
  const byRank = holm(parameters.map((it) => it.p));
  const byDistance = holm(parameters.map((it) => it.ks_p));
  const limit = (1 - confidence) / 2;
  return parameters.map((it, j) => {
    const [p_holm, ks_p_holm] = [byRank[j]!, byDistance[j]!];
    return { ...it, p_holm, ks_p_holm, told_apart: p_holm < limit || ks_p_holm < limit };
  });
}

/** The box of the two parameters whose AUC is farthest from 1/2; null for a single parameter. */
function pairOf(
  columnAt: (j: number) => OrderedColumn,
  attributed: readonly AttributedParameter[],
  runs: GroupedRuns,
): BestPair | null {
  const distance = (j: number): number => Math.abs(attributed[j]!.auc - 0.5);
  const [first, second] = attributed.map((_, j) => j).sort((a, b) => distance(b) - distance(a));
  return first === undefined || second === undefined ? null : bestPair(columnAt(first), columnAt(second), runs);
}
