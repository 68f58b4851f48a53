/**
 * Sends lists. A whole list is streamed as the client reads it, so its size does not matter; a page is sent as one body
 * with its `Link`. In every case the listing is iterated to its end or returned from, which frees its resources.
 */
import { Readable } from 'node:stream';
import type { Context } from '../application.ts';
import type { ListAnswer, ListLayout, RawAnswer } from '../answers.ts';
import type { Route } from '../route.ts';
import { fromPieces, takesBack } from '../../base/async/sent-pieces.ts';
import { itemsToJson, toJson } from './serialize.ts';

/** Layout of a list: its own, or `[...]`, or an object with the other members and `"results":[...]`. */
function frame({ before, layout }: ListAnswer): Omit<ListLayout, 'itemToJson'> {
  if (layout !== undefined) return layout;
  return before === undefined
    ? { head: '[', separator: ',', tail: ']' }
    : { head: `${toJson(before).slice(0, -1)},"results":[`, separator: ',', tail: ']}' };
}

/** Returns several items as text with separators. */
function joined({ layout }: ListAnswer, items: readonly unknown[]): string {
  return layout === undefined ? itemsToJson(items) : items.map((it) => layout.itemToJson(it)).join(layout.separator);
}

/** Streams the whole list. An error in the middle cuts the connection, so that no client takes a part for the whole. */
export async function sendWhole(ctx: Context, answer: ListAnswer): Promise<void> {
  const chunks = answer.listing.chunks[Symbol.asyncIterator]();
  // The first chunk is read before the answer begins: an error here can still be sent as a problem.
  const first = await chunks.next();
  const free = async (): Promise<void> => {
    await chunks.return?.();
  };
  ctx.status = 200;
  ctx.type = 'application/json';
  if (answer.listing.total !== undefined) ctx.set('X-Total-Count', String(answer.listing.total));
  if (ctx.method === 'HEAD') return free();
  const source = Readable.from(pieces(answer, first, chunks), { objectMode: false, highWaterMark: 65_536 });
  // A client may disconnect before the first piece is requested; the generator's own cleanup would not run then.
  source.once('close', () => {
    free().catch((error: unknown) => ctx.app.emit('error', error, ctx));
  });
  ctx.body = source;
}

/**
 * Closes a generator that may never have started: it has no `finally` to run, so it is started and returned from. Needed
 * when a client disconnects before the first piece or asks only for headers. A finished generator is left unchanged.
 */
function freeWith(source: Readable, chunks: AsyncIterable<unknown> | Iterable<unknown>): void {
  const begin = async (): Promise<void> => {
    for await (const _ of chunks) break;
  };
  source.once('close', () => void begin().catch(() => {}));
}

async function* passedOn(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string>,
): AsyncGenerator<string | Uint8Array> {
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

/** Sends one page. `nextAddress` returns the address of the page after a position. */
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

/** Sends an answer that is not a JSON value or list: whole, or in pieces no faster than the client reads. */
export function sendRaw(
  ctx: Context,
  route: Route,
  { body, media = route.media?.[0] ?? 'text/plain', tag, next, total }: RawAnswer,
  nextAddress: (position: string) => string,
): void {
  ctx.set('Cache-Control', tag === undefined ? 'no-store' : 'no-cache');
  if (tag !== undefined) ctx.set('ETag', tag);
  if (next !== undefined) ctx.set('Link', `<${nextAddress(next)}>; rel="next"`);
  if (total !== undefined) ctx.set('X-Total-Count', String(total));
  if (body === undefined) {
    ctx.status = 304;
    return;
  }
  if (typeof body === 'string' || body instanceof Uint8Array) {
    ctx.body = typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    // Koa resets the type to text/plain when it gets a string.
    ctx.set('Content-Type', media);
    return;
  }
  // Through another generator: a generator that was closed before it started cannot be started again.
  const source = Readable.from(passedOn(body), { objectMode: false, highWaterMark: 65_536 });
  freeWith(source, body);
  if (takesBack(body)) fromPieces(source, body);
  ctx.body = source;
  // Koa resets the type to binary when it gets a stream.
  ctx.set('Content-Type', media);
}
