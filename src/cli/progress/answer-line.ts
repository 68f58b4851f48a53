/** The answer about a study as text: its sentence, in the colour of its level, and the commands of the next steps. */
import { ApiError, type Client } from '../../client/client.ts';
import type { AnswerLevel, StudyAnswer, Uuid } from '../../contract/types.ts';
import { paint, type Tone } from '../terminal/colour.ts';
import { printable } from '../terminal/format.ts';
import { note } from '../terminal/output.ts';

const TONES: Readonly<Record<AnswerLevel, Tone>> = {
  ok: 'good',
  not_ok: 'bad',
  not_enough: 'warning',
  blocked: 'bad',
  running: 'active',
  cancelled: 'warning',
};

/** The colour of an answer. */
export const answerTone = ({ level }: StudyAnswer): Tone => TONES[level];

/** The answer; undefined where the coordinator cannot compute it, which is said. */
export async function answerOf(client: Client, batchId: Uuid): Promise<StudyAnswer | undefined> {
  try {
    return await client.analysis.ask('answer', batchId);
  } catch (error) {
    // A deleted study has no status to show either.
    if (!(error instanceof ApiError) || error.code === 'unknown-batch') throw error;
    note(`the answer about the study is not known: ${printable(error.message)}`);
    return undefined;
  }
}

/** The sentence: the first line of all views of a study. */
export const answerLines = (answer: StudyAnswer | undefined): string[] =>
  answer === undefined ? [] : [paint(printable(answer.sentence), answerTone(answer))];

/** `Show the 16 violating runs: simbatch table ...`. */
export const stepLines = (answer: StudyAnswer | undefined): string[] =>
  (answer?.next ?? []).map(({ label, action }) => `${printable(label)}: ${printable(action.command)}`);

/** The phase of a study of rare events, and its estimate and bounds so far; undefined for another study, and while it cannot be computed. */
export async function rareLine(client: Client, batchId: Uuid): Promise<string | undefined> {
  try {
    const { phase, sentence } = await client.analysis.ask('rare-event', batchId, { combined: 'true' });
    return phase === null ? undefined : printable(sentence);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'unknown-batch') throw error;
    return undefined;
  }
}
