/**
 * Sends answers that come after a wait. The middlewares of the request have ended by then, so that a waiting request keeps its
 * response and little else in memory: ten thousand runners wait at the same time.
 */
import type { Context } from 'koa';
import type { LateAnswer } from '../routes/answers.ts';
import { sendJson } from './json.ts';
import { answerError, type FaultLog } from './problem.ts';

/** Sends the answer, or its problem, once it is known. Returns at once. */
export function sendLater(
  ctx: Context,
  { value }: LateAnswer,
  toText: (value: unknown) => string,
  options: { log: FaultLog; stopping: AbortSignal },
): void {
  // The parsed body is in use, its text is not.
  (ctx.request as { body?: unknown }).body = undefined;
  // Koa must not answer when the middlewares end.
  ctx.respond = false;
  ctx.state['sentLater'] = whenKnown(ctx, value, toText, options);
}

/** Resolves when the answer of the request has been sent, for a request whose answer comes later; otherwise undefined. */
export const laterSending = (ctx: Context): Promise<void> | undefined =>
  (ctx.state as { sentLater?: Promise<void> }).sentLater;

async function whenKnown(
  ctx: Context,
  value: Promise<unknown>,
  toText: (value: unknown) => string,
  { log, stopping }: { log: FaultLog; stopping: AbortSignal },
): Promise<void> {
  try {
    sendJson(ctx, toText(await value), false);
  } catch (error) {
    answerError(ctx, error, log);
  }
  if (stopping.aborted) ctx.set('Connection', 'close');
  ctx.res.end(ctx.writable ? ctx.body : undefined);
}
