/** The design of a probe by its rows: its submission no longer has the distributions that the values are quantiles of. Pure. */
import { sortedNames } from '../../base/text/sorted-names.ts';
import type { BatchConfig } from '../../contract/types.ts';
import { rolesOf, valueOf, type ProbeDesign, type ProbedInput } from './plan.ts';

/**
 * Returns the design of a study whose rows are those of a probe, with or without corners; undefined for other rows.
 * @param valuesOf the values of an input by run, from run 0 on; undefined for an unknown input
 */
export function designOfRows(
  { dispersions }: BatchConfig,
  runs: number,
  valuesOf: (name: string) => ArrayLike<number> | undefined,
): ProbeDesign | undefined {
  const names = sortedNames(Object.keys(dispersions)).filter((it) => dispersions[it]!.distribution.type !== 'fixed');
  const hasCorners = runs === 2 * names.length + 3;
  if (names.length === 0 || (runs !== 2 * names.length + 1 && !hasCorners)) return undefined;
  const inputs = names.map((name, at): ProbedInput => {
    const values = valuesOf(name) ?? [];
    const valueAt = (run: number): number => values[run] ?? Number.NaN;
    const { units } = dispersions[name]!;
    return { name, units, low: valueAt(2 * at + 1), nominal: valueAt(0), high: valueAt(2 * at + 2) };
  });
  const roles = rolesOf(inputs, hasCorners);
  const isProbed = inputs.every((it) => {
    const values = valuesOf(it.name);
    return values !== undefined && roles.every((role, run) => Object.is(values[run], valueOf(it, role)));
  });
  return isProbed ? { inputs, roles } : undefined;
}
