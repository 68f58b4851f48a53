/** Sends the answer of an analysis: with its entity tag, as unchanged, or as still being computed. */
import type { Context } from '../application.ts';
import type { Answer } from '../../coordinator/answers/answers.ts';
import type { PendingAnswer } from '../../contract/types.ts';
import { toJson } from './serialize.ts';

const RETRY_AFTER_SECS = 5;
const TYPE = 'application/json; charset=utf-8';

export function sendComputed(ctx: Context, answer: Answer): void {
  if (answer.state === 'pending') {
    const body: PendingAnswer = {
      detail: 'the answer is still being computed; repeat the request to get it',
      retry_after_secs: RETRY_AFTER_SECS,
    };
    ctx.status = 202;
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Retry-After', String(RETRY_AFTER_SECS));
    ctx.set('Content-Type', TYPE);
    ctx.body = toJson(body);
    return;
  }
  ctx.set('ETag', answer.tag);
  ctx.set('Cache-Control', 'no-cache');
  if (answer.state === 'unchanged') {
    ctx.status = 304;
    return;
  }
  const { buffer, byteOffset, byteLength } = answer.body;
  ctx.body = Buffer.from(buffer, byteOffset, byteLength);
  ctx.set('Content-Type', TYPE);
}
