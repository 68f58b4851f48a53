/** The shape of an attribution, of the schema of the answer. */
import type { StudyAttribution } from '../../contract/types.ts';
import type { AnswerHeader } from '../table/header.ts';

export type AttributedParameter = StudyAttribution['parameters'][number];
/** The failing share of the runs in [from, to), the last one closed. */
export type DecileRate = AttributedParameter['rate_by_decile'][number];
/** A box of two parameters. */
export type BestPair = NonNullable<StudyAttribution['best_pair']>;

/** `n_used`: runs of both groups with all parameters finite; the figures are over these alone. */
export type Attribution = Omit<
  StudyAttribution,
  'causes' | 'levels' | Exclude<keyof AnswerHeader, 'n_used' | 'warnings'>
>;
