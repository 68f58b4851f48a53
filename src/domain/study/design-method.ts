/** How the runs of a study were chosen, as far as statistics of them depend on it. */
import type { BatchConfig, SamplingMethod } from '../../contract/types.ts';

/** `table`: rows that a user has chosen, of unknown dependence, whatever method draws the other inputs. */
export type DesignMethod = SamplingMethod | 'table';

/** The sampling method; `table` where an input that varies has its values in a table. */
export function designMethod({
  dispersions,
  monte_carlo,
}: Pick<BatchConfig, 'dispersions' | 'monte_carlo'>): DesignMethod {
  const hasTable = Object.values(dispersions).some(
    ({ distribution: it }) => it.type === 'table' && it.values.some((value) => value !== it.values[0]),
  );
  return hasTable ? 'table' : monte_carlo.sampling_method;
}
