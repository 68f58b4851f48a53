/** The shape of a sensitivity analysis, derived from the schema of its answer. */
import type { StudySensitivity } from '../../contract/types.ts';
import type { AnswerHeader } from '../table/header.ts';

export type ParameterSensitivity = StudySensitivity['parameters'][number];

/** `n_used`: runs with a finite output and finite parameters; the figures are over these alone. */
export type Sensitivity = Omit<StudySensitivity, Exclude<keyof AnswerHeader, 'n_used' | 'warnings'>>;
