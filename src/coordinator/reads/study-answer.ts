/** Answers about a study, which the analysis worker computes; some are concluded from its evidence and the situation of the study. */
import { entityTag } from '../../base/entity-tag.ts';
import type { ClassCounts } from '../../analysis/table/run-table.ts';
import { type Asked, concluded, questionOf } from '../../analysis/questions.ts';
import type { Answer, Answers, AskOptions } from '../answers/answers.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { evidenceFacts } from './evidence-facts.ts';
import { findings, type FindingParts } from './findings.ts';

interface StudyAnswerParts extends FindingParts {
  answers: Answers;
}

/** See `Answers.ask`. A study that ends meanwhile is answered as ended. */
export async function answer(parts: StudyAnswerParts, asked: Asked, options: AskOptions): Promise<Answer> {
  const { name, batchId } = asked;
  if (questionOf(name).conclude === undefined) return parts.answers.ask(asked, options);
  const { isKnown, ...rest } = options;
  for (;;) {
    // The tag of the evidence is not that of the answer, which has the situation in it.
    const found = await parts.answers.ask(asked, rest);
    if (found.state !== 'ready') return found;
    const evidence = JSON.parse(Buffer.from(found.body).toString('utf8')) as { counts: ClassCounts };
    if (options.family === true) return answered(concluded(name, evidence), isKnown);
    const present = await findings(parts, batchId);
    const { value: status, context } = readBatch(parts.store, batchId);
    const { cancelReason, growing, rounds = 0, budget = 0 } = context;
    const open = growing === undefined ? undefined : { rounds, budget };
    const facts = questionOf(name).takesFacts === true ? await evidenceFacts(parts, batchId) : undefined;
    const situation = { status, cancelReason, findings: present, growing: open, facts };
    if (isTerminal(status) && evidence.counts.open > 0) continue;
    return answered(concluded(name, evidence, situation), isKnown);
  }
}

function answered(value: object, isKnown: AskOptions['isKnown']): Answer {
  const body = Buffer.from(JSON.stringify(value), 'utf8');
  const tag = entityTag(body);
  return isKnown?.(tag) === true ? { state: 'unchanged', tag } : { state: 'ready', tag, body };
}
