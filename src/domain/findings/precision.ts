/** Findings about precisions: values that contradict the stated bounds, and precisions that the study cannot reach any more. */
import { type Rule, type Situation, isOpen, listed } from './finding.ts';

type Precision = NonNullable<Situation['precision']>[number];

const isOutside = ({ warnings }: Precision): boolean => warnings.some(({ code }) => code === 'outside-bounds');
const nameOf = ({ output, quantity }: Precision): string => `${quantity} of ${output}`;

const OUT_OF_BOUNDS: Rule = {
  code: 'precision-out-of-bounds',
  find({ precision = [] }) {
    const outside = precision.filter(isOutside);
    const [first] = outside;
    if (first === undefined) return undefined;
    return {
      severity: 'doubtful',
      message: `the bounds of ${first.output} do not hold: ${first.reason ?? ''}; the confidence sequence of its mean is not valid, and the study does not stop because of it`,
      remedy: 'correct `bounds` in `policy.precision`, or leave them out, and submit the study again',
      count: outside.length,
      runs: outside.flatMap(({ reason_run_id: run }) => run ?? []),
    };
  },
};

const OUT_OF_REACH: Rule = {
  code: 'precision-out-of-reach',
  find(situation) {
    const lost = (situation.precision ?? []).filter((it) => it.state === 'out-of-reach' && !isOutside(it));
    const [first] = lost;
    if (first === undefined || !isOpen(situation)) return undefined;
    return {
      severity: 'warning',
      message: `the study will not stop at its precision: ${listed(lost.map(nameOf))} cannot be reached: ${first.reason ?? ''}`,
      remedy:
        'the study runs to its end; give `bounds` to a mean, more runs, or a larger `half_width`, and correct the cause of runs without a value',
      count: lost.length,
      runs: lost.flatMap(({ reason_run_id: run }) => run ?? []),
    };
  },
};

export const PRECISION_RULES: readonly Rule[] = [OUT_OF_BOUNDS, OUT_OF_REACH];
