/** The evaluation of points by an adaptive study: the request, and its answer. */
import { Type, type Static } from 'typebox';
import { answered, flag, listOf, named, nullable, optionalNullable, ref, submitted, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { int32 } from '../scalars.ts';
import { columns, counts, label, note, outputs, rows } from './members.ts';
import { AppendedRound } from './rounds.ts';

export const EvaluationRequest = named(
  'EvaluationRequest',
  'Points to evaluate: `rows` or `columns`. Those that no round of the study has are appended as one round.',
  submitted({
    rows: Type.Optional(rows),
    columns: Type.Optional(columns),
    outputs: optionalNullable(
      listOf(
        text('The name of an output.', { minLength: 1 }),
        'Only these outputs are in the answer; absent: all.',
        LIMITS.variables,
      ),
    ),
    retry_failed: Type.Optional(
      flag('True: points whose runs have failed are executed again. False or absent: they have failed.'),
    ),
    label: optionalNullable(label),
    note: optionalNullable(note),
  }),
);
export type EvaluationRequest = Static<typeof EvaluationRequest>;

export const EvaluatedPoint = named(
  'EvaluatedPoint',
  'The result of a point.',
  answered({
    run_id: int32('The run that has the point: the first one, or where that failed, the last one.'),
    class: text('The class of its end.'),
    outputs,
    error: Type.Optional(text('Why it did not complete.')),
  }),
);
export type EvaluatedPoint = Static<typeof EvaluatedPoint>;

const progress = {
  count: int32('Rows of the request.'),
  appended: nullable(ref(AppendedRound)),
  counts,
};

export const Evaluation = named(
  'Evaluation',
  'The results of the rows of a request.',
  answered({
    ...progress,
    complete: flag('True.'),
    points: listOf(ref(EvaluatedPoint), 'One for each row of the request, in its order.'),
  }),
);
export type Evaluation = Static<typeof Evaluation>;

export const EvaluationProgress = named(
  'EvaluationProgress',
  'Rows of which runs have not ended.',
  answered({ ...progress, complete: flag('False.') }),
);
export type EvaluationProgress = Static<typeof EvaluationProgress>;
