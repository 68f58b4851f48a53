/** The root mean square error of first-order indices on Ishigami's function, whose indices are known. */
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import type { SamplingMethod } from '../../../src/contract/types.ts';
import { centred } from '../../../src/analysis/numeric/correlation.ts';
import { ascendingOrder } from '../../../src/analysis/numeric/order.ts';
import { adjustedIndex, cosineBasis, cosinePower } from '../../../src/analysis/sensitivity/cosine-index.ts';

const A = 7;
const B = 0.1;

/** The exact first-order indices: 0.314, 0.442 and 0. Source: Ishigami and Homma (1990); Saltelli et al. (2008), 4.6. */
export function ishigamiIndices(): number[] {
  const variance = A ** 2 / 8 + (B * Math.PI ** 4) / 5 + (B ** 2 * Math.PI ** 8) / 18 + 0.5;
  return [(0.5 * (1 + (B * Math.PI ** 4) / 5) ** 2) / variance, A ** 2 / 8 / variance, 0];
}

/** Over `studies` seeds and the three parameters, of indices from `runs` runs each. */
export function ishigamiError(method: SamplingMethod, runs: number, studies: number): number {
  const uniform = { distribution: { type: 'uniform' as const, min: -Math.PI, max: Math.PI }, units: 'rad' };
  const exact = ishigamiIndices();
  const basis = cosineBasis(runs);
  let squares = 0;
  for (let seed = 1; seed <= studies; seed++) {
    const sampler = createSampler({ x1: uniform, x2: uniform, x3: uniform }, { runs, sampling_method: method, seed });
    const x = exact.map(() => new Float64Array(runs));
    const y = new Float64Array(runs);
    const row = new Float64Array(3);
    for (let run = 0; run < runs; run++) {
      sampler.sampleInto(run, row);
      row.forEach((value, j) => (x[j]![run] = value));
      y[run] = Math.sin(row[0]!) + A * Math.sin(row[1]!) ** 2 + B * row[2]! ** 4 * Math.sin(row[0]!);
    }
    const output = centred(y);
    exact.forEach((index, j) => {
      const power = cosinePower(output.deviations, ascendingOrder(x[j]!), basis);
      squares += (adjustedIndex(power, output.squares / runs, runs) - index) ** 2;
    });
  }
  return Math.sqrt(squares / (studies * exact.length));
}
