/**
 * Sending lists. A whole list goes out chunk by chunk as the client reads it, so its size does not matter; a page goes out
 * as one body with its `Link`. Whatever happens, the listing is iterated to its end or returned from, which frees what
 * stands behind it.
 */
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { ListAnswer, TextAnswer } from './handlers.ts';
import { itemsToJson, toJson } from './serialize.ts';

/** What stands around the items: `[...]`, or the object's other members and then `"results":[...]}`. */
function frame(before: unknown): { head: string; tail: string } {
  return before === undefined
    ? { head: '[', tail: ']' }
    : { head: `${toJson(before).slice(0, -1)},"results":[`, tail: ']}' };
}

/** Sends the whole list as it is read. An error on the way cuts the connection, so no client takes the half for a whole. */
export async function sendWhole(ctx: Context, answer: ListAnswer): Promise<void> {
  const chunks = answer.listing.chunks[Symbol.asyncIterator]();
  // Reading the first chunk before the answer begins: a failure here can still be told as a problem.
  const first = await chunks.next();
  const free = async (): Promise<void> => {
    await chunks.return?.();
  };
  ctx.status = 200;
  ctx.type = 'application/json';
  if (answer.listing.total !== undefined) ctx.set('X-Total-Count', String(answer.listing.total));
  if (ctx.method === 'HEAD') return free();
  const source = Readable.from(pieces(answer, first, chunks), { objectMode: false, highWaterMark: 65_536 });
  // A client may leave before the first piece is asked for; the generator's own end would not come then.
  source.once('close', () => {
    free().catch((error: unknown) => ctx.app.emit('error', error, ctx));
  });
  ctx.body = source;
}

async function* pieces(
  answer: ListAnswer,
  first: IteratorResult<readonly unknown[]>,
  rest: AsyncIterator<readonly unknown[]>,
): AsyncGenerator<string> {
  const { head, tail } = frame(answer.before);
  let pending = head;
  let separator = '';
  for (let step = first; step.done !== true; step = await rest.next()) {
    if (step.value.length === 0) continue;
    yield pending + separator + itemsToJson(step.value);
    pending = '';
    separator = ',';
  }
  yield pending + tail;
}

/** Sends a text while it is being made, no faster than the client reads. */
export function sendText(ctx: Context, answer: TextAnswer): void {
  ctx.type = answer.type;
  ctx.body = Readable.from(ctx.method === 'HEAD' ? [] : answer.pieces, { objectMode: false, highWaterMark: 65_536 });
}

/** Sends one page. `nextAddress` makes the address of the page after the position given. */
export async function sendPage(
  ctx: Context,
  answer: ListAnswer,
  nextAddress: (position: string) => string,
): Promise<void> {
  const { head, tail } = frame(answer.before);
  const texts: string[] = [];
  for await (const items of answer.listing.chunks) if (items.length > 0) texts.push(itemsToJson(items));
  const next = answer.listing.next();
  if (next !== undefined) ctx.set('Link', `<${nextAddress(next)}>; rel="next"`);
  if (answer.listing.total !== undefined) ctx.set('X-Total-Count', String(answer.listing.total));
  ctx.type = 'application/json';
  ctx.body = head + texts.join(',') + tail;
}
