/** The limits of a sensitivity analysis: parameters without variance, dependent or correlated parameters. */
import type { NumericColumn } from '../numeric/columns.ts';
import { correlationPValue } from '../numeric/correlation.ts';
import type { Warning } from '../warning.ts';
import { listed } from '../wording.ts';
import { PERMUTATIONS, permutationsFor } from './noise-floor.ts';

/** Parameters that are the same in all runs, and parameters that others determine. */
export function rankWarnings(
  constant: readonly string[],
  { determined }: { determined: readonly string[] },
): Warning[] {
  const warnings: Warning[] = [];
  if (constant.length > 0) {
    warnings.push({
      code: 'constant-parameters',
      message: `without influence, since they do not vary: ${listed(constant)}`,
    });
  }
  if (determined.length > 0) {
    const message = `the parameters are rank deficient: others determine ${listed(determined)}, whose PRCC and SRRC are not defined`;
    warnings.push({ code: 'rank-deficient', message });
  }
  return warnings;
}

/** Figures from a part of the runs. */
export function drawnWarnings(drawn: number, runs: number): Warning[] {
  if (drawn === runs) return [];
  const message = `the figures are those of ${drawn} of ${runs} runs, drawn at random and the same each time: they have the chance error of so many runs`;
  return [{ code: 'drawn-runs', message }];
}

/** A noise floor from fewer permutations than usual. */
export function floorWarnings(runs: number): Warning[] {
  const permutations = permutationsFor(runs);
  if (permutations === PERMUTATIONS) return [];
  const message = `the noise floor follows from ${permutations} permutations instead of ${PERMUTATIONS}, because of ${runs} runs: it is less exact`;
  return [{ code: 'fewer-permutations', message }];
}

/** Below this, a correlation of two parameters hardly changes their indices. */
const NOTABLE = 0.2;
/** Well beyond the correlations that samples of independent parameters have by chance, also for many pairs. */
const SURE = 1e-4;

/** The most strongly correlated pair of parameters, since a first-order index then holds the influence of both. */
export function correlationWarnings(
  parameters: readonly NumericColumn[],
  correlations: readonly Float64Array[],
  n: number,
): Warning[] {
  let found: [first: number, second: number] | undefined;
  let strongest = NOTABLE;
  let pairs = 0;
  for (let a = 1; a < parameters.length; a++) {
    for (let b = 0; b < a; b++) {
      const size = Math.abs(correlations[a]![b]!);
      if (size < NOTABLE || correlationPValue(size, n - 2) > SURE) continue;
      pairs++;
      if (found !== undefined && size <= strongest) continue;
      strongest = size;
      found = [b, a];
    }
  }
  if (found === undefined) return [];
  const [first, second] = found.map((it) => parameters[it]!.name);
  const others = pairs > 1 ? ` and ${pairs - 1} more pairs` : '';
  const message =
    `parameters are correlated (${first} and ${second} with |rho| = ${strongest.toFixed(2)}${others}): ` +
    `the first-order index of one holds influence of the other; compare PRCC, which is given the others`;
  return [{ code: 'correlated-parameters', message }];
}
