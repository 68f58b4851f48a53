/** Two studies compared: configuration, outcomes, outputs. */
import { given } from '../../base/given.ts';
import { StudyComparison } from '../../contract/answers/comparison.ts';
import { CONFIDENCE, FAILING } from '../../contract/answers/queries.ts';
import { textQuery, textValue } from '../../contract/queries.ts';
import { LIMITS } from '../../contract/limits.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { historyName } from '../../domain/histories/points.ts';
import { isBatchId } from '../../domain/ids.ts';
import { designOf } from '../compare/pairing.ts';
import { type ComparedStudy, compareStudies } from '../compare/study-comparison.ts';
import { compareLevels } from '../scenarios/compare-levels.ts';
import { question } from '../question.ts';
import { requirementsOf } from '../requirements/requirement.ts';
import { type AnsweredStudy, inDeclaredOrder } from '../table/answered-study.ts';

/** An axis, a colon and a level. */
const LEVEL_LENGTH = 2 * LIMITS.nameLength + 1;

export const compare = question({
  name: 'compare',
  operationId: 'compareBatches',
  summary: 'Compare a batch with another one',
  description:
    'The runs of two batches, or with `level` those of two levels of an axis of scenarios: the differences of each sample, which has the same random numbers in both.',
  query: {
    with: textValue(
      'The batch after; the one in the path is before. With `level`: another level of its axis.',
      LEVEL_LENGTH,
    ),
    level: textQuery(
      'Of a study with scenarios: a level, such as `wind:calm`, with which `with` is compared.',
      LEVEL_LENGTH,
    ),
    ...FAILING,
    ...CONFIDENCE,
  },
  response: StudyComparison,
  isPooled: false,
  other({ with: written, level }) {
    if (level !== undefined) return undefined;
    const id = written.toLowerCase();
    if (isBatchId(id)) return id;
    const shown = JSON.stringify(id.slice(0, 100));
    throw new SimbatchError('unknown-batch', `${shown} in \`with\` is not the id of a study; give the id of one`);
  },
  answer(before, { failing, confidence, level, with: other }, after) {
    const request = { ...given({ failing, confidence }), requirements: requirementsOf(before.submission) };
    if (level !== undefined) return compareLevels(inDeclaredOrder(before), { ...request, level, with: other });
    return compareStudies(compared(before), compared(after), request);
  },
});

const compared = (study: AnsweredStudy): ComparedStudy => ({
  table: inDeclaredOrder(study),
  configuration: study.submission.config,
  histories: (study.submission.config?.histories ?? []).map(historyName),
  drawn: designOf(study.submission.config, study.samplingScheme),
});
