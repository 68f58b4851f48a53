/** Statistics of the outputs, the failures by pattern, and the verdicts on the requirements. */
import { given } from '../../base/given.ts';
import { StudySummary } from '../../contract/answers/outputs.ts';
import { BY, CONFIDENCE, MISSING } from '../../contract/answers/queries.ts';
import { numbersQuery } from '../../contract/queries.ts';
import { question } from '../question.ts';
import { precisionsOf } from '../precision/planning.ts';
import { withRareVerdict } from '../rare/answer/verdict.ts';
import { requirementsOf } from '../requirements/requirement.ts';
import { limitedToStop } from '../stop.ts';
import { summariesBy, summarizeStudy } from '../summary.ts';
import { inDeclaredOrder, unitsOfOutputs } from '../table/answered-study.ts';

export const summary = question({
  name: 'summary',
  operationId: 'getSummary',
  summary: 'Read the statistics of a batch',
  description: 'Statistics of the outputs, the failures by pattern, and the verdicts on the requirements.',
  query: {
    ...BY,
    ...CONFIDENCE,
    quantiles: numbersQuery(0, 1, 'The quantiles, from 0 to 1.'),
    ...MISSING,
  },
  response: StudySummary,
  joinsRepeats: () => true,
  answer(study, { confidence, quantiles, missing, by }) {
    const declared = Object.entries(study.submission.outputs ?? {});
    const units = unitsOfOutputs(study);
    const censored = new Map(declared.flatMap(([name, it]) => (it.censored ? [[name, it.censored]] : [])));
    const requirements = requirementsOf(study.submission);
    const table = inDeclaredOrder(study);
    const request = { ...given({ confidence, quantiles, missing }), units, censored };
    const found = summarizeStudy(limitedToStop(table, study.submission), {
      ...request,
      requirements,
      precisions: precisionsOf(study.submission),
    });
    const answer = { ...found, requirements: withRareVerdict(found.requirements, study) };
    return by === undefined ? answer : { ...answer, by: summariesBy(table, by, request) };
  },
});
