/** The questions of `Client.analysis`, answered from files of runs instead of by a coordinator: the same figures to the bit. */
import { conclude, situationOf } from '../../analysis/conclusion/conclude.ts';
import type { StudyEvidence } from '../../analysis/conclusion/evidence.ts';
import type { Analysis } from '../../client/analysis.ts';
import { stringifyExact } from '../../base/json/json-writing.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { answerTo } from '../../coordinator/answers/worker/answer.ts';
import type { RecordQuestion } from '../../coordinator/answers/question.ts';
import { QUESTIONS } from '../../http/request/questions.ts';
import type { Query } from '../../http/route.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import type { FileStudy } from './file-study.ts';

/** The questions that a file answers. */
export type AnswerSource = Pick<
  Analysis,
  'answer' | 'summary' | 'verdicts' | 'sensitivity' | 'attribution' | 'convergence' | 'worst' | 'compare'
>;

/**
 * `other` is the study after in a comparison. The first argument of each question, a batch id, has no meaning here.
 * @throws Failure where the coordinator would refuse the question, with its message.
 */
export function fileAnalysis(study: FileStudy, other?: FileStudy): AnswerSource {
  const batchId = study.table.batchId;
  const ask = <T>(kind: RecordQuestion['kind'], query: object = {}): Promise<T> => {
    try {
      const question: RecordQuestion =
        kind === 'compare' ? { ...query, kind, batchId, with: batchId } : QUESTIONS[kind](batchId, query as Query);
      const answer = answerTo(question, [study, other]) as { warnings: unknown[] };
      const warnings = [...study.warnings, ...answer.warnings];
      const whole = kind === 'compare' ? withOther(answer, other) : answer;
      // As a client reads it: what JSON leaves out is not there, and -0 is 0.
      return Promise.resolve(JSON.parse(stringifyExact({ ...whole, warnings })) as T);
    } catch (error) {
      return Promise.reject(refusal(error));
    }
  };
  return {
    answer: () => {
      const evidence = answerTo({ kind: 'evidence', batchId }, [study]) as StudyEvidence;
      return Promise.resolve(conclude(evidence, situationOf(evidence)));
    },
    summary: (_, query) => ask('summary', query),
    verdicts: (_, query) => ask('verdicts', query),
    sensitivity: (_, query) => ask('sensitivity', query),
    attribution: (_, query) => ask('attribution', query),
    convergence: (_, query) => ask('convergence', query),
    worst: (_, query) => ask('worst', query),
    compare: (_, query) => ask('compare', query),
  };
}

function withOther(answer: object, other: FileStudy | undefined): object {
  const { with: header } = answer as { with: { warnings: unknown[] } };
  return { ...answer, with: { ...header, warnings: [...(other?.warnings ?? []), ...header.warnings] } };
}

const refusal = (error: unknown): unknown =>
  error instanceof SimbatchError ? new Failure(EXIT.invalid, error.message) : error;
