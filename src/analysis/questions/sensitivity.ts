/** The parameters that drive an output. */
import { StudySensitivity } from '../../contract/answers/causes.ts';
import { CONFIDENCE, REQUIRED_OUTPUT } from '../../contract/answers/queries.ts';
import { question } from '../question.ts';
import { studySensitivity } from '../sensitivity/study-sensitivity.ts';
import { requireOutput, withOutput } from '../table/answered-study.ts';

export const sensitivity = question({
  name: 'sensitivity',
  operationId: 'getSensitivity',
  summary: 'Find the parameters that drive an output',
  query: { ...REQUIRED_OUTPUT, ...CONFIDENCE },
  response: StudySensitivity,
  answer(study, { output, confidence }) {
    requireOutput(study, output);
    return studySensitivity(withOutput(study.table, output), output, confidence);
  },
});
