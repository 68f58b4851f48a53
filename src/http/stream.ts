/**
 * Sending lists. A whole list goes out chunk by chunk as the client reads it, so its size does not matter; a page goes out
 * as one body with its `Link`. Whatever happens, the listing is iterated to its end or returned from, which frees what
 * stands behind it.
 */
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { ListAnswer, RawAnswer } from './handlers.ts';
import type { Route } from './route.ts';
import { itemsToJson, toJson } from './serialize.ts';

/** What stands around the items: `[...]`, or the object's other members and then `"results":[...]}`. */
function frame(before: unknown): { head: string; tail: string } {
  return before === undefined
    ? { head: '[', tail: ']' }
    : { head: `${toJson(before).slice(0, -1)},"results":[`, tail: ']}' };
}

/** Sends the whole list as it is read. An error on the way cuts the connection, so no client takes the half for a whole. */
export function sendWhole(ctx: Context, answer: ListAnswer): void {
  ctx.type = 'application/json';
  if (answer.listing.total !== undefined) ctx.set('X-Total-Count', String(answer.listing.total));
  const source = Readable.from(pieces(answer), { objectMode: false, highWaterMark: 65_536 });
  freeWith(source, answer.listing.chunks);
  // HEAD sends no body: koa ends the response, and the listing is freed with the stream.
  ctx.body = source;
  if (ctx.method === 'HEAD') source.destroy();
}

/**
 * What was never begun is not ended by ending its stream: a generator that did not start has no `finally` to run. So it is
 * begun and left, when a client goes before the first piece or wanted the head only. Elsewhere this finds it ended already.
 */
function freeWith(source: Readable, chunks: AsyncIterable<unknown>): void {
  const begin = async (): Promise<void> => {
    for await (const _ of chunks) break;
  };
  source.once('close', () => void begin().catch(() => {}));
}

async function* passedOn(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield* chunks;
}

async function* pieces(answer: ListAnswer): AsyncGenerator<string> {
  const { head, tail } = frame(answer.before);
  let pending = head;
  let separator = '';
  for await (const items of answer.listing.chunks) {
    if (items.length === 0) continue;
    yield pending + separator + itemsToJson(items);
    pending = '';
    separator = ',';
  }
  yield pending + tail;
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

/** Sends what is not JSON, as it comes. */
export function sendRaw(ctx: Context, { media = 'text/plain' }: Route, { body }: RawAnswer): void {
  ctx.set('Content-Type', media);
  ctx.set('Cache-Control', 'no-store');
  if (typeof body === 'string') {
    ctx.body = body;
    return;
  }
  // Through a generator of its own: one that was ended before it began could not be begun any more.
  const source = Readable.from(passedOn(body), { objectMode: false, highWaterMark: 65_536 });
  freeWith(source, body);
  ctx.body = source;
  // Koa takes a stream for binary, whatever was set before.
  ctx.set('Content-Type', media);
  if (ctx.method === 'HEAD') source.destroy();
}
