/** The curves of a p-box as steps. Pure. */
import type { OutputBox } from '../../contract/types.ts';

/** The points of both curves: each value twice, since a distribution function jumps there, and 0 before the least value. */
export function boxSteps({ values, least, greatest }: OutputBox['curve']): OutputBox['curve'] {
  const steps = (shares: readonly number[]): number[] => shares.flatMap((it, at) => [shares[at - 1] ?? 0, it]);
  return { values: values.flatMap((it) => [it, it]), least: steps(least), greatest: steps(greatest) };
}
