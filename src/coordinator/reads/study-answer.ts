/** The answer about a study: from the evidence of its runs, which the analysis worker reads, and from its situation. */
import { createHash } from 'node:crypto';
import { conclude, situationOf } from '../../analysis/conclusion/conclude.ts';
import type { StudyEvidence } from '../../analysis/conclusion/evidence.ts';
import type { Uuid } from '../../contract/types.ts';
import type { Answer, AskOptions } from '../answers/answers.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import type { Core } from '../core.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { findings } from './findings.ts';

/** See `Answers.ask`: `StudyAnswer` as JSON. A study that ends meanwhile is answered as ended. */
export async function studyAnswer(core: Core, batchId: Uuid, options: AskOptions): Promise<Answer> {
  const { isKnown, ...rest } = options;
  for (;;) {
    // The tag of the evidence is not that of the answer, which has the situation in it.
    const answer = await core.answers.ask({ kind: 'evidence', batchId }, rest);
    if (answer.state !== 'ready') return answer;
    const evidence = JSON.parse(Buffer.from(answer.body).toString('utf8')) as StudyEvidence;
    if (options.family === true) return answered(conclude(evidence, situationOf(evidence)), isKnown);
    const found = await findings(core, batchId);
    const { value: status, context } = readBatch(core.store, batchId);
    if (isTerminal(status) && evidence.counts.open > 0) continue;
    return answered(conclude(evidence, { status, cancelReason: context.cancelReason, findings: found }), isKnown);
  }
}

function answered(answer: object, isKnown: AskOptions['isKnown']): Answer {
  const body = Buffer.from(JSON.stringify(answer), 'utf8');
  const tag = `"${createHash('sha1').update(body).digest('base64url')}"`;
  return isKnown?.(tag) === true ? { state: 'unchanged', tag } : { state: 'ready', tag, body };
}
