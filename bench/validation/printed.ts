/** Simulated coverage of the intervals that are printed beside a mean and its quantiles, by sampling method and by why runs are missing. */
import { summarizeOutput } from '../../src/analysis/outputs/output-summary.ts';
import { CLASS_CODES } from '../../src/analysis/table/run-class.ts';
import type { RunTable } from '../../src/analysis/table/run-table.ts';
import { RunTableBuilder } from '../../src/analysis/table/table-builder.ts';
import type { DispersionConfig, SamplingMethod } from '../../src/contract/types.ts';
import { createSampler } from '../../src/domain/sampling/sampler.ts';
import { uniformSource } from '../../test/analysis/synthetic.ts';
import type { ValidationTable } from './tables.ts';

const STUDIES = 2_000;
const RUNS = 512;
const CONFIDENCE = 0.95;
const QUANTILES = [0.05, 0.5, 0.95];
/** Runs of the sequence that gives the true values: their error is far below the width of any interval here. */
const TRUTH_RUNS = 2 ** 20;

const unit: DispersionConfig = { distribution: { type: 'uniform', min: 0, max: 1 }, units: '' };
const DISPERSIONS = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, unit]));

/** A smooth output of six inputs with an interaction. */
const output = (u: ArrayLike<number>): number =>
  Math.exp(u[0]!) + u[1]! + u[2]! + u[3]! + u[4]! + u[5]! + u[0]! * u[1]!;

const DESIGNS: readonly (readonly [SamplingMethod, replicates: number])[] = [
  ['monte_carlo', 1],
  ['latin_hypercube', 1],
  ['quasi_monte_carlo', 1],
  ['latin_hypercube', 8],
  ['quasi_monte_carlo', 8],
];

/** Why runs are missing: a chance of their own, a rule on the output, or a crash of the runs with the largest values. */
const CAUSES = ['at random', 'by a rule', 'the largest crash'] as const;
type Missing = readonly [share: number, cause: (typeof CAUSES)[number] | 'none'];
const MISSING: readonly Missing[] = [
  [0, 'none'],
  ...[0.02, 0.1].flatMap((share) => CAUSES.map((cause) => [share, cause] as const)),
];

interface Truth {
  quantiles: readonly number[];
  /** Of the runs that complete. */
  mean: number;
  /** Runs above it are ended, or crash. */
  limit: number;
}

/**
 * The share of studies whose intervals hold the true values: the quantiles of all runs, and the mean of the runs that complete.
 * @throws Error where one is below the confidence by more than three standard errors: the page would promise what is not so.
 */
export function printedCoverage(): ValidationTable {
  const sorted = valuesOf('quasi_monte_carlo', 1, TRUTH_RUNS, 0).sort();
  const truths = MISSING.map(([share, cause]): Truth => {
    const kept = cause === 'at random' ? sorted : sorted.subarray(0, Math.round((1 - share) * TRUTH_RUNS));
    return {
      quantiles: QUANTILES.map((p) => sorted[Math.round(p * TRUTH_RUNS)]!),
      mean: kept.reduce((sum, it) => sum + it, 0) / kept.length,
      limit: sorted[Math.round((1 - share) * TRUTH_RUNS)] ?? Number.POSITIVE_INFINITY,
    };
  });
  const rows = DESIGNS.flatMap(([method, replicates]) => coverageOf(method, replicates, truths));
  const least = CONFIDENCE - 3 * Math.sqrt((CONFIDENCE * (1 - CONFIDENCE)) / STUDIES);
  const low = rows.find((row) => row.slice(4).some((it) => it !== 'none' && Number(it) < least));
  if (low !== undefined)
    throw new Error(`an interval does not hold its confidence of ${CONFIDENCE}: ${low.join(', ')}`);
  const head = ['method', 'replicates x runs', 'runs missing', 'why', 'mean', ...QUANTILES.map((p) => `P${100 * p}`)];
  return { name: 'printed-coverage', head, rows };
}

function coverageOf(method: SamplingMethod, replicates: number, truths: readonly Truth[]): string[][] {
  const uniform = uniformSource(3);
  const base = emptyTable(method, replicates);
  const covered = MISSING.map(() => QUANTILES.map(() => 0));
  const means = MISSING.map(() => 0);
  const isHeld = (low: number | null, high: number | null, truth: number): boolean =>
    (low === null || low <= truth) && (high === null || truth <= high);
  for (let study = 1; study <= STUDIES; study++) {
    const values = valuesOf(method, replicates, RUNS, study);
    const chances = Float64Array.from(values, uniform);
    for (const [at, missing] of MISSING.entries()) {
      const truth = truths[at]!;
      const table = withMissing(base, values, chances, missing, truth.limit);
      const found = summarizeOutput(table, 'y', { confidence: CONFIDENCE, quantiles: QUANTILES });
      if (found.mean_interval !== null) means[at]! += Number(isHeld(...found.mean_interval, truth.mean));
      for (const [q, { interval }] of found.quantiles.entries())
        covered[at]![q]! += Number(isHeld(...interval, truth.quantiles[q]!));
    }
  }
  const shown = (count: number): string => (count / STUDIES).toFixed(3);
  const design = [method, `${replicates} x ${RUNS / replicates}`];
  return MISSING.map(([share, cause], at) => {
    const mean = method === 'quasi_monte_carlo' && replicates === 1 ? 'none' : shown(means[at]!);
    return [...design, `${100 * share} %`, cause === 'none' ? '' : cause, mean, ...covered[at]!.map(shown)];
  });
}

/** The output in all runs of the replicates, one after the other. */
function valuesOf(method: SamplingMethod, replicates: number, total: number, seed: number): Float64Array {
  const values = new Float64Array(total);
  const runs = total / replicates;
  for (let replicate = 0; replicate < replicates; replicate++) {
    const sampler = createSampler(DISPERSIONS, { runs, sampling_method: method, seed, replicate });
    for (let run = 0; run < runs; run++) values[replicate * runs + run] = output(sampler.uniforms(run));
  }
  return values;
}

/** A table with the rule, in which no run has a value yet. */
function emptyTable(method: SamplingMethod, replicates: number): RunTable {
  const places = Array.from({ length: RUNS }, (_, row) => row);
  const runs = RUNS / replicates;
  const builder = new RunTableBuilder({
    batchId: 'b',
    method,
    runs: RUNS,
    ...(replicates === 1
      ? {}
      : {
          runIds: Uint32Array.from(places, (row) => row % runs),
          replicates: Uint16Array.from(places, (row) => Math.floor(row / runs)),
        }),
  });
  return builder.build();
}

function withMissing(
  base: RunTable,
  values: Float64Array,
  chances: Float64Array,
  [share, cause]: Missing,
  limit: number,
): RunTable {
  const isMissing = (row: number): boolean =>
    cause !== 'none' && (cause === 'at random' ? chances[row]! < share : values[row]! > limit);
  const code = cause === 'by a rule' ? CLASS_CODES.terminated : CLASS_CODES.crashed;
  const rule = { variable: 'y', condition: `> ${limit}`, operator: '>', threshold: limit } as const;
  return {
    ...base,
    classes: Uint8Array.from(values, (_, row) => (isMissing(row) ? code : CLASS_CODES.ok)),
    outputs: new Map([['y', values.map((value, row) => (isMissing(row) ? Number.NaN : value))]]),
    rules: [undefined, rule],
    ruleCodes: Uint16Array.from(values, (_, row) => Number(isMissing(row) && cause === 'by a rule')),
  };
}
