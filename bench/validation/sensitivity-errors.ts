/** How often sensitivity names a parameter that has no influence. */
import { standardNormalQuantile } from '../../src/base/distributions/normal.ts';
import { sensitivity } from '../../src/analysis/sensitivity/sensitivity.ts';
import { column, uniformColumns, uniformSource } from '../../test/analysis/synthetic.ts';
import type { ValidationTable } from './tables.ts';

const STUDIES = 4_000;
const CONFIDENCE = 0.95;

/** Outputs of studies in which only `p0` may have influence; the rest is noise. */
const OUTPUTS: Record<string, (first: number, noise: number) => number> = {
  'no parameter has influence': (_, noise) => noise,
  'the same, output lognormal': (_, noise) => Math.exp(1.5 * standardNormalQuantile(noise)),
  'one has half of the variance': (first, noise) => first + noise,
};

const SIZES: [runs: number, parameters: number][] = [
  [20, 6],
  [50, 6],
  [200, 6],
  [200, 20],
  [1000, 6],
];

/** The share of studies in which at least one parameter without influence is told apart. */
export function sensitivityErrors(): ValidationTable {
  const rows = Object.entries(OUTPUTS).flatMap(([name, outputOf], situation) =>
    SIZES.map(([n, k]) => {
      const uniform = uniformSource(1000 * situation + n + k);
      let errors = 0;
      for (let study = 0; study < STUDIES; study++) {
        const parameters = uniformColumns(k, n, uniform);
        const output = column('y', n, (run) => outputOf(parameters[0]!.values[run]!, uniform()));
        const found = sensitivity({ batchId: String(study), output, parameters, confidence: CONFIDENCE });
        const hasNoInfluence = (parameter: string): boolean => parameter !== 'p0' || situation < 2;
        errors += Number(found.parameters.some((it) => it.told_apart === true && hasNoInfluence(it.name)));
      }
      return [name, n, k, CONFIDENCE, (errors / STUDIES).toFixed(3)];
    }),
  );
  return {
    name: 'sensitivity-error',
    head: ['study', 'runs', 'parameters', 'confidence', 'a parameter without influence is told apart'],
    rows,
  };
}
