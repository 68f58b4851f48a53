/** The shape of a comparison of two batches, as the interface answers it. */
import type { Range } from '../groups/proportion.ts';
import type { Warning } from '../warning.ts';
import type { ConfigurationChange } from './configuration-changes.ts';
import type { Pairing } from './pairing.ts';

/** A run whose output changed, with both values. */
export interface ChangedRun {
  run_id: number;
  before: number;
  after: number;
}

/** One output over the pairs that have it in both batches. Differences are after minus before. */
export interface PairedOutput {
  name: string;
  pairs: number;
  /** Pairs whose values are equal to the bit. */
  identical: number;
  mean_difference: number | null;
  /** By Student's t; null below two pairs. */
  interval: Range | null;
  /** Wilcoxon's signed-rank test, two-sided; null where no pair differs. */
  wilcoxon_p: number | null;
  p_holm: number | null;
  /** The ten largest differences in size, largest first. */
  largest: ChangedRun[];
  reason: string | null;
}

/** One output of two batches of different runs. */
export interface UnpairedOutput {
  name: string;
  n_before: number;
  n_after: number;
  mean_difference: number | null;
  /** Of the difference of means, by Welch's t. */
  welch: Range | null;
  ks_d: number | null;
  ks_p: number | null;
  mann_whitney_p: number | null;
  p_holm: number | null;
  reason: string | null;
}

/** The runs whose verdict changed, by run id. */
export interface Flips {
  broke: number[];
  mended: number[];
  /** Pairs that pass, or fail, in both. */
  passed_both: number;
  failed_both: number;
  /** McNemar's exact test, two-sided: 1 without a flip. */
  mcnemar_p: number;
}

/** The difference of the passing fractions of batches that share no pairs. */
export interface PassingDifference {
  before: number;
  after: number;
  difference: number;
  newcombe: Range;
}

interface SharedComparison {
  configuration_changes: ConfigurationChange[];
  /** Changes beyond the first thousand, which are not listed. */
  configuration_changes_omitted: number;
  pairing: Pairing;
  warnings: Warning[];
  sentence: string;
}

export interface PairedComparison extends SharedComparison {
  paired: true;
  /** Runs terminal in both batches. */
  pairs: number;
  /** Pairs with outputs in which all outputs are equal to the bit. */
  identical_runs: number;
  flips: Flips;
  outputs: PairedOutput[];
}

export interface UnpairedComparison extends SharedComparison {
  paired: false;
  passing: PassingDifference | null;
  outputs: UnpairedOutput[];
}

export type Comparison = PairedComparison | UnpairedComparison;
