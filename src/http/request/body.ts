/** Request bodies: JSON only, limited in size, parsed with exact seeds. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Context } from '../application.ts';
import { koaBody } from 'koa-body';
import { parse as parseForPosition } from 'lossless-json';
import { SimbatchError } from '../../domain/errors.ts';
import { parseExact } from '../../base/json/exact-json.ts';
import type { RequestState } from '../response/json.ts';
import { lossyFault } from '../../base/json/json-loss.ts';
import { LIMITS } from '../../contract/limits.ts';
import { complexityFault } from './json-complexity.ts';

export interface BodyLimits {
  /** Bytes of a submission, and of requests of similar size. */
  submissionBytes: number;
  /** Bytes of a request with reports of a runner. */
  reportsBytes: number;
}

/** A body: its text and its value. `value` is undefined for an absent optional body. */
export interface ReadBody {
  text: string;
  value: unknown;
}

/** Limit of requests with a few small members. */
export const SMALL_BYTES = 65_536;
/** Limit of a round of an adaptive study. */
export const ROWS_BYTES = LIMITS.roundBytes;
/** Text that was read byte by byte is ASCII when it has as many bytes in UTF-8: any other character has two. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;
export const NO_BODY: ReadBody = { text: '', value: undefined };

/** Reads bodies up to a limit. The steps are separate, so that a small body costs one wait. */
export interface BodyReader {
  /**
   * Returns whether the request has a body; an optional body may be absent.
   * @throws SimbatchError `malformed-body`, `unsupported-media-type`, `body-too-large`
   */
  expects(ctx: Context, optional: boolean): boolean;
  /** The bytes of the body as its request declares them; the limit, where they are not declared or those of a compressed body. */
  mostBytes(ctx: Context): number;
  /**
   * Returns the text of a body that has arrived together with its head, as small ones do; undefined for any other, of which nothing has
   * been read. A reader of streams listens to four events. Call it a microtask after the request: the parser hands over the head
   * first, and the body of the same packet before promises continue.
   */
  arrived(ctx: Context): string | undefined;
  /** Waits for the text of a body that did not arrive with its head. */
  rest(ctx: Context): Promise<string>;
  /** The same as bytes, in the pieces that arrive. */
  pieces(ctx: Context): Promise<readonly Buffer[]>;
}

/** Returns one reader per limit. */
export function bodyReaders(limits: BodyLimits): Record<'submission' | 'reports' | 'rows' | 'small', BodyReader> {
  return {
    submission: bodyReader(limits.submissionBytes),
    reports: bodyReader(limits.reportsBytes),
    rows: bodyReader(ROWS_BYTES),
    small: bodyReader(SMALL_BYTES),
  };
}

/** Waits until a body of so many bytes may be read; returns the function that says that it is handled. */
export type Room = (bytes: number) => Promise<() => void>;

/**
 * Reads a body of any bytes; an absent one is empty.
 * @throws SimbatchError `unsupported-media-type`, `body-too-large`, `unavailable`
 */
export async function readRawBody(ctx: Context, limit: number, room: Room): Promise<Uint8Array> {
  const { 'content-length': declared, 'content-type': type } = ctx.req.headers;
  if (declared === '0') return new Uint8Array(0);
  if (type !== undefined && type !== 'application/octet-stream') {
    const sent = JSON.stringify(type.slice(0, 100));
    throw new SimbatchError(
      'unsupported-media-type',
      `the Content-Type is ${sent}; it must be "application/octet-stream"`,
    );
  }
  if (Number(declared) > limit) throw tooLarge(limit);
  const bytes = mostBytes(ctx, limit);
  // Until the answer has been sent.
  if (bytes > SMALL_BYTES) await room(bytes);
  return Buffer.concat(await piecesOf(ctx, limit));
}

function mostBytes(ctx: Context, limit: number): number {
  const { 'content-length': declared, 'content-encoding': coding } = ctx.req.headers;
  return declared === undefined || coding !== undefined ? limit : Number(declared);
}

async function piecesOf(ctx: Context, limit: number): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of ctx.req as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > limit) throw tooLarge(limit);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof SimbatchError) throw error;
    throw new SimbatchError('malformed-body', 'the body ended before its declared length', { cause: error });
  }
  return pieces;
}

/** The part of a context that koa-body uses: the type of the body is known, and parsing it again takes as long as reading. */
interface Message {
  req: Context['req'];
  method: string;
  is: () => true;
  request: { body: unknown };
}

const NOTHING_NEXT = (() => {}) as () => Promise<void>;

function bodyReader(limit: number): BodyReader {
  const readBytes = koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['application/json'],
    textLimit: limit,
    // Byte by byte: decoding UTF-8 here would replace invalid sequences, and koa-body's JSON parser loses digits of seeds.
    encoding: 'binary',
    parsedMethods: ['POST', 'PUT'] as never,
    onError: (error) => {
      throw readingFailed(error, limit);
    },
  });
  return {
    expects(ctx, optional) {
      const { 'content-length': declared, 'transfer-encoding': encoding } = ctx.req.headers;
      if (declared === '0' || (declared === undefined && encoding === undefined)) {
        if (optional) return false;
        throw new SimbatchError('malformed-body', 'the request has no body; send a JSON object');
      }
      refuseOtherTypes(ctx);
      if (Number(declared) > limit) throw tooLarge(limit);
      return true;
    },
    mostBytes: (ctx) => mostBytes(ctx, limit),
    arrived(ctx) {
      const { 'content-length': declared, 'content-encoding': coding } = ctx.req.headers;
      const length = Number(declared);
      if (coding !== undefined || !(length <= SMALL_BYTES) || ctx.req.readableLength !== length) return undefined;
      const bytes = ctx.req.read() as Buffer;
      // The end of the request has not arrived yet.
      ctx.req.resume();
      (ctx.state as RequestState).isBodyRead = true;
      return decoded(bytes);
    },
    async pieces(ctx) {
      const coding = ctx.req.headers['content-encoding'] ?? 'identity';
      if (coding !== 'identity') return [Buffer.from(await this.rest(ctx))];
      return piecesOf(ctx, limit);
    },
    async rest(ctx) {
      const message: Message = { req: ctx.req, method: ctx.method, is: () => true, request: { body: undefined } };
      await readBytes(message as unknown as Context, NOTHING_NEXT);
      const { body } = message.request;
      if (typeof body !== 'string')
        throw new SimbatchError('unsupported-media-type', 'the body is not JSON; send JSON');
      // ASCII is the same in both encodings, and the common case.
      return isAscii(body) ? body : decoded(Buffer.from(body, 'latin1'));
    },
  };
}

/** Returns the text of UTF-8; a byte order mark is dropped. Replaced bytes would change a study silently. */
export function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) {
    throw new SimbatchError('malformed-body', 'the body is not valid UTF-8; encode its text as UTF-8');
  }
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** Returns a digest that identifies a body. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function refuseOtherTypes(ctx: Context): void {
  const type = ctx.req.headers['content-type'] ?? '';
  // Parsing a media type takes longer than reading a small body; nearly all clients send this one.
  if (type === 'application/json') return;
  const charset = ctx.request.charset.toLowerCase();
  if (!ctx.is('application/json') || (charset !== '' && charset !== 'utf-8' && charset !== 'utf8')) {
    const sent = type === '' ? 'missing' : JSON.stringify(type.slice(0, 100));
    throw new SimbatchError(
      'unsupported-media-type',
      `the Content-Type is ${sent}; it must be "application/json" in UTF-8`,
    );
  }
}

/**
 * Returns the value of a body's text; `seeds`: with all digits of seeds; `infinite`: numbers beyond the range of a double are refused here.
 * @throws SimbatchError `malformed-body`; `invalid-request` for a text too deep or too wide
 */
export function parseBody(text: string, seeds: boolean, infinite = false): unknown {
  const tooMuch = complexityFault(text);
  if (tooMuch !== undefined) throw new SimbatchError('invalid-request', tooMuch);
  let value: unknown;
  try {
    value = seeds ? parseExact(text) : JSON.parse(text);
  } catch (cause) {
    throw new SimbatchError('malformed-body', syntaxFault(text, cause as Error), { cause });
  }
  const fault = lossyFault(text, value, { numbers: !seeds, infinite });
  if (fault === undefined) return value;
  const { pointer, detail, offset } = fault;
  throw new SimbatchError(
    'malformed-body',
    `the body has ${JSON.stringify(pointer)} ${placeAt(text, offset)}, which ${detail}`,
    {
      faults: [{ pointer, detail }],
    },
  );
}

/** The parser that finds the position of an error is slow: longer texts get no position. */
const MAX_LOCATED = 1_048_576;

function syntaxFault(text: string, error: Error): string {
  if (text.trim() === '') return 'the request has an empty body; send a JSON object';
  const place = text.length > MAX_LOCATED ? undefined : placeOf(text);
  return `the body is not valid JSON: ${place ?? error.message}`;
}

function placeAt(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** Returns the error with its position, which JSON.parse does not give. */
function placeOf(text: string): string | undefined {
  try {
    parseForPosition(text, null, { onDuplicateKey: ({ newValue }) => newValue });
    return undefined;
  } catch (error) {
    const [, fault, position] = /^(.*) at position (\d+)/s.exec((error as Error).message) ?? [];
    if (fault === undefined) return undefined;
    return `${fault} ${placeAt(text, Number(position))}`;
  }
}

function tooLarge(limit: number): SimbatchError {
  return new SimbatchError('body-too-large', `the body is larger than ${limit} bytes, the limit of this request`);
}

function readingFailed(error: Error, limit: number): Error {
  const { status, type } = error as { status?: number; type?: string };
  if (status === 413) return tooLarge(limit);
  if (status === 415) {
    return new SimbatchError(
      'unsupported-media-type',
      'the Content-Encoding of the body is not supported; send the body without it',
    );
  }
  if (type === 'request.aborted' || type === 'request.size.invalid') {
    return new SimbatchError('malformed-body', 'the body ended before its declared length', { cause: error });
  }
  // For example a damaged gzip body.
  if ('code' in error && String(error.code).startsWith('Z_')) {
    return new SimbatchError('malformed-body', 'the compressed body cannot be read', { cause: error });
  }
  return error;
}
