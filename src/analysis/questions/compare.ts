/** Two studies compared: configuration, outcomes, outputs. */
import { given } from '../../base/given.ts';
import { StudyComparison } from '../../contract/answers/comparison.ts';
import { CONFIDENCE, FAILING } from '../../contract/answers/queries.ts';
import { textValue } from '../../contract/queries.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { historyName } from '../../domain/histories/points.ts';
import { isBatchId } from '../../domain/ids.ts';
import { designOf } from '../compare/pairing.ts';
import { type ComparedStudy, compareStudies } from '../compare/study-comparison.ts';
import { question } from '../question.ts';
import { requirementsOf } from '../requirements/requirement.ts';
import { type AnsweredStudy, inDeclaredOrder } from '../table/answered-study.ts';

export const compare = question({
  name: 'compare',
  operationId: 'compareBatches',
  summary: 'Compare a batch with another one',
  query: { with: textValue('The batch after; the one in the path is before.'), ...FAILING, ...CONFIDENCE },
  response: StudyComparison,
  isPooled: false,
  other({ with: written }) {
    const id = written.toLowerCase();
    if (isBatchId(id)) return id;
    const shown = JSON.stringify(id.slice(0, 100));
    throw new SimbatchError('unknown-batch', `${shown} in \`with\` is not the id of a batch; give the id of one`);
  },
  answer: (before, { failing, confidence }, after) =>
    compareStudies(compared(before), compared(after), {
      ...given({ failing, confidence }),
      requirements: requirementsOf(before.submission),
    }),
});

const compared = (study: AnsweredStudy): ComparedStudy => ({
  table: inDeclaredOrder(study),
  configuration: study.submission.config,
  histories: (study.submission.config?.histories ?? []).map(historyName),
  drawn: designOf(study.submission.config, study.samplingScheme),
});
