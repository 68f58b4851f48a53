/** The verdicts on the requirements of a study, or on the requirement of the query. */
import { given } from '../../../base/given.ts';
import { BY, CONFIDENCE, OUTPUT } from '../../../contract/answers/queries.ts';
import { StudyVerdicts } from '../../../contract/answers/goals/requirements.ts';
import { LOOKS, TERMINATED_RULES } from '../../../contract/enums.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { type QueryOf, choiceQuery, shareQuery, textQuery } from '../../../contract/queries.ts';
import type { Requirement } from '../../../contract/types.ts';
import { question } from '../../question.ts';
import { withRareVerdict } from '../../rare/answer/verdict.ts';
import { requirementsOf } from '../../requirements/requirement.ts';
import { judgeStudy } from '../../requirements/verdicts.ts';
import { judgedUpToStop } from '../../stop.ts';
import { type AnsweredStudy, requireOutput } from '../../table/answered-study.ts';
import type { RunTable } from '../../table/run-table.ts';

const query = {
  ...OUTPUT,
  condition: textQuery('With `output`: the condition under which a run passes, such as `<= 50`.', LIMITS.textLength),
  probability: shareQuery('With `output`: the required probability of passing.'),
  ...CONFIDENCE,
  terminated: choiceQuery(TERMINATED_RULES, 'With `output`: how a run counts that a rule ended early.', 'fail'),
  look: choiceQuery(LOOKS, 'With `output`: judged once, or after each run.', 'once'),
  ...BY,
};

export const verdicts = question({
  name: 'verdicts',
  operationId: 'getVerdicts',
  summary: 'Judge requirements',
  description: 'The requirements of the study, or the one in the query.',
  query,
  response: StudyVerdicts,
  check: requirementIn,
  joinsRepeats: () => true,
  answer(study, asked) {
    const requirement = requirementIn(asked);
    if (requirement === undefined) {
      const judged = judgeStudy(tableOf(study), requirementsOf(study.submission), asked.by);
      return { ...judged, requirements: withRareVerdict(judged.requirements, study) };
    }
    requireOutput(study, requirement.output!);
    return judgeStudy(tableOf(study), [requirement], asked.by);
  },
});

const tableOf = ({ table, submission }: AnsweredStudy): RunTable => judgedUpToStop(table, submission);

/** The requirement of a query; undefined for those of the study. @throws RangeError for a part of one */
function requirementIn(asked: QueryOf<typeof query>): Requirement | undefined {
  const { output, condition, probability, confidence, terminated, look } = asked;
  const settings = given({ confidence, terminated, look });
  if (output === undefined && condition === undefined && probability === undefined) {
    const [name] = Object.keys(settings);
    if (name === undefined) return undefined;
    throw new RangeError(
      `the query parameter \`${name}\` has no meaning without a requirement; give \`output\`, \`condition\` and \`probability\` too`,
    );
  }
  if (output === undefined || condition === undefined || probability === undefined) {
    throw new RangeError(
      'the requirement is not complete; give `output`, `condition` and `probability`, such as output=miss_m&condition=<= 50&probability=0.9',
    );
  }
  return { name: `${output} ${condition}`, output, condition, probability, ...settings };
}
