/**
 * Sends answers that come after a wait. The middlewares of the request have ended by then, so that a waiting request keeps its
 * response and little else in memory: ten thousand runners wait at the same time.
 */
import { type Context, sendBody } from '../application.ts';
import type { LateAnswer } from '../answers.ts';
import { nameAnswer, sendJson, type RequestState } from './json.ts';
import { answerError, type FaultLog } from './problem.ts';
import { toJson } from './serialize.ts';

/** Sends the answer, or its problem, once it is known. Returns at once. */
export function sendLater(
  ctx: Context,
  { value }: LateAnswer,
  options: { log: FaultLog; stopping: AbortSignal },
): void {
  // Koa must not answer when the middlewares end.
  ctx.respond = false;
  (ctx.state as RequestState).sentLater = whenKnown(ctx, value, options);
}

async function whenKnown(
  ctx: Context,
  value: Promise<unknown>,
  { log, stopping }: { log: FaultLog; stopping: AbortSignal },
): Promise<void> {
  try {
    sendJson(ctx, toJson(await value), stopping.aborted);
    return;
  } catch (error) {
    nameAnswer(ctx);
    answerError(ctx, error, log);
  }
  if (stopping.aborted) ctx.set('Connection', 'close');
  sendBody(ctx);
}
