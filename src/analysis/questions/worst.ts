/** The runs with the most extreme values of an output. */
import { WorstRuns } from '../../contract/answers/outputs.ts';
import { REQUIRED_OUTPUT } from '../../contract/answers/queries.ts';
import { DIRECTIONS } from '../../contract/enums.ts';
import { choiceQuery, integerQuery } from '../../contract/queries.ts';
import { worstRuns } from '../outputs/worst.ts';
import { question } from '../question.ts';
import { requireOutput } from '../table/answered-study.ts';

export const worst = question({
  name: 'worst',
  operationId: 'getWorstRuns',
  summary: 'List the runs with the most extreme values of an output',
  query: {
    ...REQUIRED_OUTPUT,
    k: integerQuery(1, 1000, 'How many runs.', 10),
    direction: choiceQuery(DIRECTIONS, 'Which extreme.', 'largest'),
  },
  response: WorstRuns,
  answer(study, { output, k = 10, direction = 'largest' }) {
    requireOutput(study, output);
    return worstRuns(study.table, output, k, direction);
  },
});
