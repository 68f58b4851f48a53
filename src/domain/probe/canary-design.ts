/** How a canary study is recognised, in every place that has its submission. Pure. */
import type { BatchConfig, BatchSubmission } from '../../contract/types.ts';

/** The label of a probe, and of a canary study: the name of its study. */
export const PROBE_LABEL = 'probe';

/** The nominal run; with the corners also the runs with all inputs low and all inputs high. */
const CANARY_RUNS: readonly number[] = [1, 3];

/** True of a study with the label of a probe whose few runs are given by tables: a canary study, or rows that a user has chosen alike. */
export function isCanary({
  config: { dispersions, monte_carlo },
  labels,
}: Pick<BatchSubmission, 'labels'> & { config: Pick<BatchConfig, 'dispersions' | 'monte_carlo'> }): boolean {
  const { runs } = monte_carlo;
  if (labels?.[PROBE_LABEL] === undefined || !CANARY_RUNS.includes(runs)) return false;
  const varying = Object.values(dispersions).filter(({ distribution }) => distribution.type !== 'fixed');
  return (
    varying.length > 0 && varying.every(({ distribution: it }) => it.type === 'table' && it.values.length === runs)
  );
}
