/** The questions of `Client.analysis`, answered from files of runs instead of by a coordinator: the same figures to the bit. */
import type { Analysis } from '../../client/analysis.ts';
import { type Asked, answerTo, checkAsked, concluded } from '../../analysis/questions.ts';
import { stringifyExact } from '../../base/json/json-writing.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import type { FileStudy } from './file-study.ts';

/** The questions about a study that a command asks. */
export type AnswerSource = Pick<Analysis, 'ask'>;

/**
 * `other` is the study after in a comparison. A batch id of a question has no meaning here.
 * @throws Failure where the coordinator would refuse the question, with its message.
 */
export const fileAnalysis = (study: FileStudy, other?: FileStudy): AnswerSource => ({
  async ask(name, _, ...[query = {}]) {
    try {
      const asked = { name, query } as Pick<Asked, 'name' | 'query'>;
      checkAsked(asked);
      const found = concluded(name, await answerTo(asked, [study, other]));
      // A question that may also be asked of one study has then no header of a second one.
      const whole = 'with' in found ? withOther(found, other) : found;
      const answer =
        'warnings' in whole ? { ...whole, warnings: [...study.warnings, ...(whole.warnings as [])] } : whole;
      // The answer is read back from JSON, as by a client: members that JSON leaves out are absent, and -0 is 0.
      return JSON.parse(stringifyExact(answer)) as never;
    } catch (error) {
      throw refusal(error);
    }
  },
});

function withOther(answer: object, other: FileStudy | undefined): object {
  const { with: header } = answer as { with: { warnings: unknown[] } };
  return { ...answer, with: { ...header, warnings: [...(other?.warnings ?? []), ...header.warnings] } };
}

const refusal = (error: unknown): unknown =>
  error instanceof SimbatchError ? new Failure(EXIT.invalid, error.message) : error;
