/** The forecast of a study that takes results: which of its runs have finished already, and why others are not taken. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, named, text } from '../build.ts';
import { REUSE_RULES } from '../enums.ts';
import { int32, uuid } from '../scalars.ts';

export const ReuseForecast = named(
  'ReuseForecast',
  'How many runs of a submission would take results of finished runs, were it submitted now.',
  answered({
    rule: enumOf(REUSE_RULES, '`policy.reuse` of the submission.'),
    runs: int32('Runs of the submission.'),
    known: int32('Of these, the runs whose results would be taken.'),
    new: int32('The other runs: they would be executed.'),
    studies: listOf(
      answered({
        batch_id: uuid('The batch that has the results.'),
        runs: int32('Results that would be taken from it.'),
        code: text('The code that made them: the first 12 digits of its digest.'),
      }),
      'The studies whose results would be taken, those with the most first.',
    ),
    not_taken: listOf(
      answered({
        batch_id: uuid('The batch that has a run with the same parameters and random seed.'),
        runs: int32('Runs of it that would not be taken.'),
        why: text('What differs, as a clause.'),
      }),
      'Of the new runs, those that a recent study of the simulation has with the same parameters and random seed, by what differs.',
    ),
    codes: listOf(
      Type.String(),
      'The codes that the forecast is for, as above: those of the connected runners, or, where none states its code, of the studies that were searched.',
    ),
    sentence: text('The forecast in one sentence.'),
  }),
);
export type ReuseForecast = Static<typeof ReuseForecast>;
