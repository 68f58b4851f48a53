/** The shape of an attribution, as the interface answers it. */
import type { Range } from '../groups/proportion.ts';
import type { Warning } from '../warning.ts';
import type { Interval } from './best-interval.ts';

/** The failing share of the runs in [from, to), the last one closed; `wilson` is null without runs. */
export interface DecileRate {
  from: number;
  to: number;
  failing: number;
  of: number;
  wilson: Range | null;
}

/** A box of two parameters. */
export interface BestPair {
  /** The one whose AUC is farther from 1/2 first, each with its side of the box; null where no run inside the other side lies further out. */
  parameters: { name: string; first: number | null; last: number | null }[];
  wracc: number;
  n_in: number;
  failures_in: number;
  sentence: string;
}

export interface AttributedParameter {
  name: string;
  /** The chance that the parameter is greater in a failing run than in a passing one; 1/2 without a difference. */
  auc: number;
  /** Mann-Whitney, two-sided, and adjusted over parameters by Holm. */
  p: number;
  p_holm: number;
  /** The greatest distance of the two groups' distribution functions, its p-value, and that adjusted by Holm. */
  ks_d: number;
  ks_p: number;
  ks_p_holm: number;
  /** Whether an adjusted p-value of the two is below half of 1 - confidence: by chance for any parameter at all, at most 1 - confidence. */
  told_apart: boolean;
  median_failing: number;
  median_passing: number;
  best_interval: Interval & { sentence: string };
  rate_by_decile: DecileRate[];
}

export interface Attribution {
  failing: number;
  passing: number;
  /** Runs of both groups with all parameters finite; the figures are over these alone. */
  n_used: number;
  /** Parameters told apart first, then by decreasing accuracy of the best interval. */
  parameters: AttributedParameter[];
  best_pair: BestPair | null;
  /** Why figures are missing; null where there are figures. */
  reason: string | null;
  warnings: Warning[];
  sentence: string;
}
