/** The questions about a study that the analysis worker answers, as plain data. */
import type { Quantity } from '../../analysis/outputs/convergence.ts';
import type { Direction, MissingRule, Requirement, Uuid } from '../../contract/types.ts';

interface About {
  batchId: Uuid;
  /** In (0, 1); 0.95 when absent. */
  confidence?: number | undefined;
  /** The batches of the family whose runs are pooled, `batchId` among them, oldest first; absent: this batch alone. */
  members?: readonly Uuid[];
}

export interface SummaryQuestion extends About {
  kind: 'summary';
  /** Each in [0, 1]. */
  quantiles?: readonly number[] | undefined;
  missing?: MissingRule | undefined;
}

/** The evidence from which the answer about the study is concluded. */
export interface EvidenceQuestion extends About {
  kind: 'evidence';
}

export interface DistributionsQuestion extends About {
  kind: 'distributions';
  /** Bins of each histogram. */
  bins?: number | undefined;
}

export interface VerdictsQuestion extends About {
  kind: 'verdicts';
  /** Absent: the requirements of the study. */
  requirement?: Requirement;
}

export interface SensitivityQuestion extends About {
  kind: 'sensitivity';
  output: string;
}

export interface AttributionQuestion extends About {
  kind: 'attribution';
  /** See `failingGroups`; `failed` when absent. */
  failing?: string | undefined;
}

export interface ConvergenceQuestion extends About {
  kind: 'convergence';
  /** Absent for the failing share. */
  output?: string | undefined;
  quantity: Quantity;
  halfWidth?: number | undefined;
  missing?: MissingRule | undefined;
}

export interface WorstQuestion extends About {
  kind: 'worst';
  output: string;
  k: number;
  direction: Direction;
}

export interface CompareQuestion extends About {
  kind: 'compare';
  /** The study after; `batchId` is the study before. */
  with: Uuid;
  failing?: string | undefined;
}

export interface TransitionsQuestion extends About {
  kind: 'transitions';
}

export interface BandQuestion extends About {
  kind: 'band';
  /** The run that is compared with the band, and no part of it. */
  without?: number | undefined;
}

/** A question that the runs' records answer. */
export type RecordQuestion =
  | SummaryQuestion
  | EvidenceQuestion
  | DistributionsQuestion
  | VerdictsQuestion
  | SensitivityQuestion
  | AttributionQuestion
  | ConvergenceQuestion
  | WorstQuestion
  | CompareQuestion
  | TransitionsQuestion;

export type Question = RecordQuestion | BandQuestion;

/** The studies that a question is about. */
export const batchesOf = (question: Question): Uuid[] =>
  question.kind === 'compare' ? [question.batchId, question.with] : [...(question.members ?? [question.batchId])];
