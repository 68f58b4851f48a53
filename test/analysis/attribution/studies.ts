/** Synthetic studies with a planted cause of failures, and without any. */
import { IN_NEITHER } from '../../../src/analysis/attribution/attribution.ts';
import type { NumericColumn } from '../../../src/analysis/numeric/columns.ts';
import { column, uniformSource } from '../synthetic.ts';

export interface Study {
  groups: Int8Array;
  parameters: NumericColumn[];
  cause: string | null;
}

const PARAMETERS = 6;

/** Six parameters, two of them with few distinct values. */
function parametersOf(n: number, uniform: () => number): NumericColumn[] {
  return Array.from({ length: PARAMETERS }, (_, j) =>
    column(`p${j}`, n, () => (j % 3 === 2 ? Math.floor(8 * uniform()) / 8 : uniform())),
  );
}

/** How likely a run fails given its cause u in [0, 1]: steps and slopes, upwards and downwards. */
const CAUSES: ((u: number) => number)[] = [
  (u) => (u > 0.85 ? 0.7 : 0.03),
  (u) => (u < 0.2 ? 0.6 : 0.03),
  (u) => 0.6 * u ** 5,
  (u) => 1 / (1 + Math.exp(14 * (u - 0.12))),
];

/** The chance that the cause is greater in a failing run than in a passing one, by counting pairs. */
function naiveAuc(values: Float64Array, groups: Int8Array): number {
  let [wins, pairs] = [0, 0];
  groups.forEach((group, i) => {
    if (group !== 1) return;
    groups.forEach((other, j) => {
      if (other !== 0) return;
      pairs++;
      wins += values[i]! > values[j]! ? 1 : Number(values[i] === values[j]) / 2;
    });
  });
  return wins / pairs;
}

/**
 * A study of `n` runs in which one parameter drives the failures with an AUC of at least 0.8 (or at most 0.2) and at least 12 runs
 * fail; every tenth run is in neither group.
 */
export function studyWithCause(seed: number, n = 200): Study {
  const uniform = uniformSource(seed);
  for (;;) {
    const parameters = parametersOf(n, uniform);
    const cause = parameters[Math.floor(uniform() * PARAMETERS)]!;
    const risk = CAUSES[Math.floor(uniform() * CAUSES.length)]!;
    const groups = Int8Array.from(cause.values, (value, run) => {
      const fails = uniform() < risk(value);
      return run % 10 === 9 ? IN_NEITHER : Number(fails);
    });
    const failures = groups.filter((it) => it === 1).length;
    if (failures >= 12 && Math.abs(naiveAuc(cause.values, groups) - 0.5) >= 0.3)
      return { groups, parameters, cause: cause.name };
  }
}

/** A study of `n` runs in which 5 to 40 % of the runs fail whatever their parameters are. */
export function studyWithoutCause(seed: number, n = 200): Study {
  const uniform = uniformSource(seed);
  const share = 0.05 + 0.35 * uniform();
  return {
    parameters: parametersOf(n, uniform),
    groups: Int8Array.from({ length: n }, () => Number(uniform() < share)),
    cause: null,
  };
}
