/** Whether a study is in order: one sentence, its reasons, the next steps. */
import { StudyAnswer } from '../../../contract/answers/conclusion.ts';
import { conclude, situationOf } from '../../conclusion/conclude.ts';
import { studyEvidence } from '../../conclusion/evidence.ts';
import { precisionsOf } from '../../precision/planning.ts';
import { concludedQuestion } from '../../question.ts';
import { jointRare } from '../../rare/answer/of-study.ts';
import { requirementsOf } from '../../requirements/requirement.ts';
import { judgedUpToStop } from '../../stop.ts';
import { unitsOfOutputs } from '../../table/answered-study.ts';

export const answer = concludedQuestion({
  name: 'answer',
  operationId: 'getAnswer',
  summary: 'Read whether a batch is in order',
  description:
    'One sentence, the reasons, and the next steps. The same sentence is the first line of every view of the study.',
  query: {},
  response: StudyAnswer,
  joinsRepeats: () => true,
  answer(study) {
    const { table, submission, moves } = study;
    const used = judgedUpToStop(table, submission);
    const found = studyEvidence(
      used,
      requirementsOf(submission),
      unitsOfOutputs(study),
      moves,
      precisionsOf(submission),
    );
    return study.rare === undefined ? found : { ...found, rare: jointRare(study) };
  },
  conclude: (evidence, situation = situationOf(evidence)) => conclude(evidence, situation),
});
