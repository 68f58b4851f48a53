/** The shares of the variance of an output that its inputs explain. */
import { StudyIndices } from '../../contract/answers/indices.ts';
import { CONFIDENCE, REQUIRED_OUTPUT } from '../../contract/answers/queries.ts';
import { studyIndices } from '../indices/study-indices.ts';
import { question } from '../question.ts';
import { requireOutput, withOutput } from '../table/answered-study.ts';

export const indices = question({
  name: 'indices',
  operationId: 'getIndices',
  summary: "Find Sobol' indices of an output, with a design made for them",
  query: { ...REQUIRED_OUTPUT, ...CONFIDENCE },
  response: StudyIndices,
  answer(study, { output, confidence }) {
    requireOutput(study, output);
    return studyIndices(withOutput(study.table, output), study.submission.config, output, confidence);
  },
});
