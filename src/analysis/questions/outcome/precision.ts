/** How near the runs of a study are to the precisions at which it stops. */
import { StudyPrecisions } from '../../../contract/answers/goals/precision.ts';
import { judgePrecisions } from '../../precision/judge.ts';
import { precisionsOf } from '../../precision/planning.ts';
import { question } from '../../question.ts';
import { limitedToStop } from '../../stop.ts';
import { unitsOfOutputs } from '../../table/answered-study.ts';

export const precision = question({
  name: 'precision',
  operationId: 'getPrecision',
  summary: 'Read how near a batch is to its precisions',
  description:
    'Of a study with `stop_when: precise`: each quantity with an interval that holds at every number of runs, its target, and its course.',
  query: {},
  response: StudyPrecisions,
  answer: (study) =>
    judgePrecisions(
      limitedToStop(study.table, study.submission),
      precisionsOf(study.submission),
      unitsOfOutputs(study),
    ),
});
