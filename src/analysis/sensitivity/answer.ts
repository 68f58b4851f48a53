/** The shape of a sensitivity analysis, as the interface answers it. */
import type { Warning } from '../warning.ts';

export interface ParameterSensitivity {
  name: string;
  /** Spearman's rank correlation with the output, in [-1, 1], and its two-sided p-value by t with n - 2. */
  spearman: number | null;
  spearman_p: number | null;
  /** Partial rank correlation given all other parameters, its p-value by t with n - k - 1, and that adjusted by Holm. */
  prcc: number | null;
  prcc_p: number | null;
  prcc_p_holm: number | null;
  /** Standardised rank regression coefficient. */
  srrc: number | null;
  /** First-order Sobol' index by cosines, adjusted: at most 1, below 0 by chance. */
  sobol_cosine: number | null;
  /** The 95 % quantile of the largest index over 200 permutations of the output. */
  noise_floor: number | null;
  /** Whether the index or PRCC is larger than by chance, with an error of both together of at most 1 - confidence; null where neither exists. */
  told_apart: boolean | null;
  /** Why members are null; null where none is. */
  reason: string | null;
}

export interface Sensitivity {
  output: string;
  /** Runs with a finite output and finite parameters; the figures are over these alone. */
  n_used: number;
  /** Parameters with an index above the noise floor by decreasing index, then the others by decreasing |PRCC|. Parameters without variance are absent and named in a warning. */
  parameters: ParameterSensitivity[];
  /** The share of the variance of the output's ranks that a monotone additive model explains. */
  srrc_r2: number | null;
  /** Why all figures are missing; null where there are figures. */
  reason: string | null;
  warnings: Warning[];
  sentence: string;
}
