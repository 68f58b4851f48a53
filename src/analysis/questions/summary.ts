/** Statistics of the outputs, the failures by pattern, and the verdicts on the requirements. */
import { given } from '../../base/given.ts';
import { StudySummary } from '../../contract/answers/outputs.ts';
import { CONFIDENCE, MISSING } from '../../contract/answers/queries.ts';
import { numbersQuery } from '../../contract/queries.ts';
import { question } from '../question.ts';
import { precisionsOf } from '../precision/planning.ts';
import { withRareVerdict } from '../rare/answer/verdict.ts';
import { requirementsOf } from '../requirements/requirement.ts';
import { limitedToStop } from '../stop.ts';
import { summarizeStudy } from '../summary.ts';
import { inDeclaredOrder, unitsOfOutputs } from '../table/answered-study.ts';

export const summary = question({
  name: 'summary',
  operationId: 'getSummary',
  summary: 'Read the statistics of a batch',
  description: 'Statistics of the outputs, the failures by pattern, and the verdicts on the requirements.',
  query: { ...CONFIDENCE, quantiles: numbersQuery(0, 1, 'The quantiles, from 0 to 1.'), ...MISSING },
  response: StudySummary,
  joinsRepeats: () => true,
  answer(study, { confidence, quantiles, missing }) {
    const declared = Object.entries(study.submission.outputs ?? {});
    const units = unitsOfOutputs(study);
    const censored = new Map(declared.flatMap(([name, it]) => (it.censored ? [[name, it.censored]] : [])));
    const requirements = requirementsOf(study.submission);
    const found = summarizeStudy(limitedToStop(inDeclaredOrder(study), study.submission), {
      ...given({ confidence, quantiles, missing }),
      requirements,
      units,
      censored,
      precisions: precisionsOf(study.submission),
    });
    return { ...found, requirements: withRareVerdict(found.requirements, study) };
  },
});
