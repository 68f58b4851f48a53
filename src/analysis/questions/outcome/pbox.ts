/** The envelope of an output over the cells of a study with epistemic inputs or scenarios. */
import { given } from '../../../base/given.ts';
import { CONFIDENCE, REQUIRED_OUTPUT } from '../../../contract/answers/queries.ts';
import { numbersQuery, textsQuery } from '../../../contract/queries.ts';
import { OutputBox } from '../../../contract/answers/goals/box.ts';
import { question } from '../../question.ts';
import { requirementsOf } from '../../requirements/requirement.ts';
import { outputBox } from '../../scenarios/box.ts';
import { limitedToStop } from '../../stop.ts';
import { requireOutput, unitsOfOutputs } from '../../table/answered-study.ts';

export const pbox = question({
  name: 'pbox',
  operationId: 'getOutputBox',
  summary: 'Read the p-box of an output',
  description:
    'The envelope of an output over the cells of a study with epistemic inputs or scenarios: means, quantiles and probabilities between the least and the greatest, and the distribution function between two curves.',
  query: {
    ...REQUIRED_OUTPUT,
    quantiles: numbersQuery(0, 1, 'The quantiles, from 0 to 1.'),
    at: numbersQuery(
      -Number.MAX_VALUE,
      Number.MAX_VALUE,
      'The values of the output at which the curves are. Without it, values that runs have.',
    ),
    within: textsQuery('Levels, such as `site:andoya,wind:calm`: only the cells that have them. All cells without it.'),
    ...CONFIDENCE,
  },
  response: OutputBox,
  joinsRepeats: () => true,
  answer(study, { output, quantiles, at, within, confidence }) {
    requireOutput(study, output);
    return outputBox(limitedToStop(study.table, study.submission), {
      output,
      ...given({ quantiles, at, within, confidence }),
      units: unitsOfOutputs(study),
      requirements: requirementsOf(study.submission),
    });
  },
});
