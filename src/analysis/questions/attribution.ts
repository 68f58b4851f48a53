/** The parameters that drive the failures. */
import { given } from '../../base/given.ts';
import { StudyAttribution } from '../../contract/answers/causes.ts';
import { CONFIDENCE, FAILING } from '../../contract/answers/queries.ts';
import { studyAttribution } from '../attribution/study-attribution.ts';
import { question } from '../question.ts';
import { requirementsOf } from '../requirements/requirement.ts';

export const attribution = question({
  name: 'attribution',
  operationId: 'getAttribution',
  summary: 'Find the parameters that drive the failures',
  query: { ...FAILING, ...CONFIDENCE },
  response: StudyAttribution,
  answer: ({ table, submission }, { failing, confidence }) =>
    studyAttribution(table, { ...given({ failing, confidence }), requirements: requirementsOf(submission) }),
});
