/** The shape of a comparison of two batches, of the schema of the answer. */
import type { StudyComparison } from '../../contract/types.ts';
import type { AnswerHeader } from '../table/header.ts';

type Compared<T> = T extends unknown ? Omit<T, Exclude<keyof AnswerHeader, 'warnings'> | 'with' | 'histories'> : never;

export type PairedComparison = Compared<Extract<StudyComparison, { paired: true }>>;
export type UnpairedComparison = Compared<Extract<StudyComparison, { paired: false }>>;
export type Comparison = PairedComparison | UnpairedComparison;

/** One output over the pairs that have it in both batches. Differences are after minus before. */
export type PairedOutput = PairedComparison['outputs'][number];
/** One output of two batches of different runs. */
export type UnpairedOutput = UnpairedComparison['outputs'][number];
/** The runs whose verdict changed, by run id. */
export type Flips = PairedComparison['flips'];
/** The difference of the passing fractions of batches that share no pairs. */
export type PassingDifference = NonNullable<UnpairedComparison['passing']>;
