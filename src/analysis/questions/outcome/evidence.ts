/** The evidence about a study, for people who review it. */
import { EvidenceReport } from '../../../contract/evidence/evidence.ts';
import { evidenceReport } from '../../evidence/evidence.ts';
import { type RunsAnswers, type RunsEvidence, runsEvidence, shownOutputs } from '../../evidence/runs.ts';
import { concludedQuestion } from '../../question.ts';
import type { AnsweredStudy } from '../../table/answered-study.ts';
import { convergence } from '../convergence.ts';
import { sensitivity } from '../sensitivity.ts';
import { summary } from '../summary.ts';

export const evidence = concludedQuestion({
  name: 'evidence',
  operationId: 'getEvidence',
  summary: 'Read the evidence about a batch',
  description:
    'For a review: its requirements, code, machines, inputs with their pedigree, results with their uncertainty, failures and how they count, audits, history, and the factors of NASA-STD-7009. `limits` lists the parts that are not known or not checked.',
  query: {},
  response: EvidenceReport,
  isPooled: false,
  takesFacts: true,
  joinsRepeats: () => true,
  answer: collected,
  conclude: (found, situation) => evidenceReport(found, situation?.facts),
});

/** Asks the other questions about the required outputs. */
async function collected(study: AnsweredStudy): Promise<RunsEvidence> {
  const answers: RunsAnswers = { summary: await summary.answer(study, {}, study), convergence: [], dependence: [] };
  for (const output of shownOutputs(study, answers.summary)) {
    const course = await convergence.answer(study, { output }, study);
    answers.convergence.push({ output, quantity: 'mean', course });
    const { sentence } = await sensitivity.answer(study, { output }, study);
    answers.dependence.push({ output, sentence });
  }
  return runsEvidence(study, answers);
}
