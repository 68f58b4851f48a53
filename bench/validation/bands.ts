/** Simulated coverage of the tolerance band of curves. */
import { CurveColumns } from '../../src/analysis/band/columns.ts';
import { CurveCentre, CurveScores, toleranceBand } from '../../src/analysis/band/tolerance.ts';
import { type CurveRuns, ValuedRows, isEven } from '../../src/analysis/band/curves.ts';
import { toleranceRank } from '../../src/analysis/outputs/order-statistics.ts';
import { incompleteBetaComplement } from '../../src/analysis/special/beta.ts';
import { standardNormalQuantile } from '../../src/base/distributions/normal.ts';
import { uniformSource } from '../../test/analysis/synthetic.ts';
import type { ValidationTable } from './tables.ts';

/** They take about two minutes of processor time. */
const STUDIES = Number(process.env.STUDIES ?? 2_000);
/** Curves of a population; a study draws its runs from it, so that the share of it that a band holds is the coverage, exactly. */
const POPULATION = 20_000;
const POINTS = 41;
const LEVELS = { coverage: 0.9, confidence: 0.95 };
const CRASHED = 0.05;

/** Fills a curve of `POINTS` values. */
type Curve = (values: Float64Array, uniform: () => number) => void;

const step = 1 / (POINTS - 1);

/** A random walk that returns to 0: a Brownian bridge at the points. */
const bridge: Curve = (values, uniform) => {
  values[0] = 0;
  for (let at = 1; at < POINTS; at++)
    values[at] = values[at - 1]! + Math.sqrt(step) * standardNormalQuantile(uniform());
  const end = values[POINTS - 1]!;
  for (let at = 0; at < POINTS; at++) values[at]! -= at * step * end;
};

const line: Curve = (values, uniform) => {
  const slope = standardNormalQuantile(uniform());
  for (let at = 0; at < POINTS; at++) values[at] = slope * at * step;
};

/** Ends at a uniformly drawn time after the first half; it grows faster the sooner it ends. */
const ending: Curve = (values, uniform) => {
  line(values, uniform);
  const end = Math.floor((0.5 + 0.5 * uniform()) * POINTS);
  for (let at = 0; at < POINTS; at++) values[at] = at > end ? Number.NaN : values[at]! + (POINTS - end) * at * step;
};

const CASES: readonly { name: string; curve: Curve; crashed: number }[] = [
  { name: 'Brownian bridges', curve: bridge, crashed: 0 },
  { name: 'straight lines with normal slope', curve: line, crashed: 0 },
  { name: 'runs of different length', curve: ending, crashed: 0 },
  { name: 'Brownian bridges, 5 % crashed', curve: bridge, crashed: CRASHED },
];

interface Population {
  values: Float64Array;
  isCrashed: Uint8Array;
}

/** Coverage of the bands of `STUDIES` studies of each kind and size. A run that crashes is outside of the band. */
export function bandCoverage(): ValidationTable {
  const uniform = uniformSource(31);
  const rows = CASES.flatMap(({ name, curve, crashed }) => {
    const population = populationOf(curve, crashed, uniform);
    return [60, 200, 1000].map((runs) => {
      const { held, given } = studiesOf(population, runs, uniform);
      const n = Math.floor(runs / 2);
      const rank = toleranceRank(n, LEVELS.coverage, LEVELS.confidence)!;
      const exact = incompleteBetaComplement(LEVELS.coverage, rank, n - rank + 1);
      const share = (count: number): string => (count / STUDIES).toFixed(3);
      return [name, runs, LEVELS.coverage, LEVELS.confidence, exact.toFixed(3), share(held), share(given)];
    });
  });
  const head = ['curves', 'runs', 'share inside', 'confidence', 'exact for this number', 'measured', 'band given'];
  return { name: 'band-coverage', head, rows };
}

function populationOf(curve: Curve, crashed: number, uniform: () => number): Population {
  const values = new Float64Array(POPULATION * POINTS);
  for (let run = 0; run < POPULATION; run++) curve(values.subarray(run * POINTS, (run + 1) * POINTS), uniform);
  return { values, isCrashed: Uint8Array.from({ length: POPULATION }, (_, run) => Number(run < crashed * POPULATION)) };
}

/** A study without a band makes no claim, so it counts as held. */
function studiesOf(population: Population, size: number, uniform: () => number): { held: number; given: number } {
  let [held, given] = [0, 0];
  for (let study = 0; study < STUDIES; study++) {
    const found = bandOf(drawn(population, size, uniform));
    if ('reason' in found) held++;
    else {
      given++;
      held += Number(shareInside(population, found) >= LEVELS.coverage);
    }
  }
  return { held, given };
}

/** Runs 0 to `size` - 1, drawn with replacement. */
function drawn({ values, isCrashed }: Population, size: number, uniform: () => number) {
  const runIds: number[] = [];
  const unknown = { even: 0, odd: 0 };
  const own = new Float64Array(size * POINTS);
  for (let runId = 0; runId < size; runId++) {
    const run = Math.floor(uniform() * POPULATION);
    if (isCrashed[run] === 1) unknown[isEven(runId) ? 'even' : 'odd']++;
    else own.set(values.subarray(run * POINTS, (run + 1) * POINTS), POINTS * (runIds.push(runId) - 1));
  }
  return { runs: { runIds: Uint32Array.from(runIds), unknown }, values: own };
}

function bandOf({ runs, values }: { runs: CurveRuns; values: Float64Array }) {
  const block = { from: 0, width: POINTS, values };
  const [centre, valued] = [new CurveCentre(runs, POINTS), new ValuedRows(runs)];
  for (const column of new CurveColumns(runs).of(block)) centre.take(column);
  valued.take(block);
  const scores = new CurveScores(runs, valued, centre);
  scores.take(block);
  return toleranceBand(runs, centre, scores, LEVELS);
}

/** The share of the population that stays inside at every point where a run has a value and the band is given. */
function shareInside(
  { values, isCrashed }: Population,
  { lower, upper }: { lower: Float64Array; upper: Float64Array },
) {
  let inside = 0;
  for (let run = 0; run < POPULATION; run++) {
    let at = isCrashed[run] === 1 ? -1 : 0;
    // A comparison with NaN is false: no value, or no band, is not outside.
    while (at >= 0 && at < POINTS) {
      const value = values[run * POINTS + at]!;
      at = value < lower[at]! || value > upper[at]! ? -1 : at + 1;
    }
    inside += Number(at === POINTS);
  }
  return inside / POPULATION;
}
