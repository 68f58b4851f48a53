/**
 * Sending lists. A whole list goes out chunk by chunk as the client reads it, so its size does not matter; a page goes out
 * as one body with its `Link`. Whatever happens, the listing is iterated to its end or returned from, which frees what
 * stands behind it.
 */
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { ListAnswer, ListLayout, RawAnswer } from '../handlers.ts';
import type { Route } from '../route.ts';
import { itemsToJson, toJson } from './serialize.ts';

/** An answer that says itself how it is laid out, or `[...]`, or the object's other members and then `"results":[...]}`. */
function frame({ before, layout }: ListAnswer): Omit<ListLayout, 'itemToJson'> {
  if (layout !== undefined) return layout;
  return before === undefined
    ? { head: '[', separator: ',', tail: ']' }
    : { head: `${toJson(before).slice(0, -1)},"results":[`, separator: ',', tail: ']}' };
}

/** Several items as text, with what separates them between. */
function joined({ layout }: ListAnswer, items: readonly unknown[]): string {
  return layout === undefined ? itemsToJson(items) : items.map((it) => layout.itemToJson(it)).join(layout.separator);
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

/**
 * What was never begun is not ended by ending its stream: a generator that did not start has no `finally` to run. So it is
 * begun and left, when a client goes before the first piece or wanted the head only. Elsewhere this finds it ended already.
 */
function freeWith(source: Readable, chunks: AsyncIterable<unknown> | Iterable<unknown>): void {
  const begin = async (): Promise<void> => {
    for await (const _ of chunks) break;
  };
  source.once('close', () => void begin().catch(() => {}));
}

async function* passedOn(chunks: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  yield* chunks;
}

async function* pieces(
  answer: ListAnswer,
  first: IteratorResult<readonly unknown[]>,
  rest: AsyncIterator<readonly unknown[]>,
): AsyncGenerator<string> {
  const { head, separator: between, tail } = frame(answer);
  let pending = head;
  let separator = '';
  for (let step = first; step.done !== true; step = await rest.next()) {
    if (step.value.length === 0) continue;
    yield pending + separator + joined(answer, step.value);
    pending = '';
    separator = between;
  }
  yield pending + tail;
}

/** Sends one page. `nextAddress` makes the address of the page after the position given. */
export async function sendPage(
  ctx: Context,
  answer: ListAnswer,
  nextAddress: (position: string) => string,
): Promise<void> {
  const { head, separator, tail } = frame(answer);
  const texts: string[] = [];
  for await (const items of answer.listing.chunks) if (items.length > 0) texts.push(joined(answer, items));
  const next = answer.listing.next();
  if (next !== undefined) ctx.set('Link', `<${nextAddress(next)}>; rel="next"`);
  if (answer.listing.total !== undefined) ctx.set('X-Total-Count', String(answer.listing.total));
  ctx.type = 'application/json';
  ctx.body = head + texts.join(separator) + tail;
}

/** Sends what is not a JSON value or list: at once, or while it is being made, no faster than the client reads. */
export function sendRaw(
  ctx: Context,
  route: Route,
  { body, media = route.media?.[0] ?? 'text/plain' }: RawAnswer,
): void {
  ctx.set('Cache-Control', 'no-store');
  if (typeof body === 'string') {
    ctx.body = body;
    // Koa takes a text for plain, whatever was set before.
    ctx.set('Content-Type', media);
    return;
  }
  // Through a generator of its own: one that was ended before it began could not be begun any more.
  const source = Readable.from(passedOn(body), { objectMode: false, highWaterMark: 65_536 });
  freeWith(source, body);
  ctx.body = source;
  // Koa takes a stream for binary, whatever was set before.
  ctx.set('Content-Type', media);
}
