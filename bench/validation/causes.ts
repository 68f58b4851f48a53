/**
 * Validates sensitivity and attribution at full size and measures their time: `node dist/bench/validation/causes.js [runs]`.
 * The tests do the same with few studies. Prints a table; every figure is the same in every run but the times.
 */
import { attribution } from '../../src/analysis/attribution/attribution.ts';
import type { NumericColumn } from '../../src/analysis/numeric/columns.ts';
import { sensitivity } from '../../src/analysis/sensitivity/sensitivity.ts';
import { studyWithCause, studyWithoutCause } from '../../test/analysis/attribution/studies.ts';
import { ishigamiError } from '../../test/analysis/sensitivity/ishigami.ts';
import { column, uniformColumns, uniformSource } from '../../test/analysis/synthetic.ts';

const STUDIES = 2000;
const COLUMNS = 20;
const runs = Number(process.argv[2] ?? 1_000_000);

/** Which of the tests would have named a parameter at an adjusted p-value below `limit`. */
function falseAlarms(n: number): Record<string, string> {
  const counts = { told_apart: 0, 'Mann-Whitney alone at 0.05': 0, 'Kolmogorov-Smirnov alone at 0.05': 0 };
  let judged = 0;
  for (let seed = 0; seed < STUDIES; seed++) {
    const { parameters } = attribution(studyWithoutCause(seed, n));
    if (parameters.length === 0) continue;
    judged++;
    counts.told_apart += Number(parameters.some((it) => it.told_apart));
    counts['Mann-Whitney alone at 0.05'] += Number(parameters.some((it) => it.p_holm < 0.05));
    counts['Kolmogorov-Smirnov alone at 0.05'] += Number(parameters.some((it) => it.ks_p_holm < 0.05));
  }
  return Object.fromEntries(Object.entries(counts).map(([rule, count]) => [rule, (count / judged).toFixed(4)]));
}

function causesFound(n: number): { found: number; first: number } {
  let [found, first] = [0, 0];
  for (let seed = 1; seed <= STUDIES; seed++) {
    const { cause, ...study } = studyWithCause(seed, n);
    const { parameters } = attribution(study);
    found += Number(parameters.some((it) => it.name === cause && it.told_apart));
    first += Number(parameters[0]!.name === cause && parameters[0]!.told_apart);
  }
  return { found: found / STUDIES, first: first / STUDIES };
}

function timed(what: string, action: () => string): void {
  const start = performance.now();
  const sentence = action();
  console.log(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s (${sentence})`);
}

console.log('rmse of the first-order index on Ishigami, n = 256, 2000 seeds');
for (const method of ['monte_carlo', 'latin_hypercube', 'quasi_monte_carlo'] as const) {
  console.log(`  ${method}: ${ishigamiError(method, 256, STUDIES).toFixed(4)}`);
}
for (const n of [100, 200, 1000]) {
  console.log(`attribution, ${STUDIES} studies of ${n} runs and 6 parameters`);
  console.log('  without a cause, share in which any parameter is named:', falseAlarms(n));
  if (n >= 200)
    console.log('  with a cause of AUC >= 0.8, share in which it is named, and named first:', causesFound(n));
}
const uniform = uniformSource(1);
const parameters: NumericColumn[] = uniformColumns(COLUMNS, runs, uniform);
const [first, second] = parameters as [NumericColumn, NumericColumn];
const output = column('y', runs, (run) => Math.sin(6 * first.values[run]!) + second.values[run]! + 0.3 * uniform());
const groups = Int8Array.from(first.values, (it) => Number(uniform() < (it > 0.9 ? 0.7 : 0.01)));
timed(
  `sensitivity of ${runs} runs x ${COLUMNS} columns`,
  () => sensitivity({ batchId: 'b', output, parameters }).sentence,
);
timed(`attribution of ${runs} runs x ${COLUMNS} columns`, () => attribution({ groups, parameters }).sentence);
