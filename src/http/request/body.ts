/** Request bodies: JSON only, bounded in size, read without losing a digit of a seed. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { parse as parseForPosition } from 'lossless-json';
import { SimbatchError } from '../../domain/errors.ts';
import { parseExact } from '../../base/exact-json.ts';
import { complexityFault } from './json-complexity.ts';

export interface BodyLimits {
  /** Bytes of a submission, and of what is alike in size. */
  submissionBytes: number;
  /** Bytes of the reports of a runner. */
  reportsBytes: number;
}

/** A body that was read: its text and what it says. `value` is undefined when there was none and none was needed. */
export interface ReadBody {
  text: string;
  value: unknown;
}

/** Small requests have a small limit: an attempt number needs no megabyte. */
export const SMALL_BYTES = 65_536;
const NOTHING: ReadBody = { text: '', value: undefined };

export type BodyReader = (ctx: Context, options: { optional: boolean; seeds: boolean }) => Promise<ReadBody>;

/** One reader per limit, to be made once. */
export function bodyReaders(limits: BodyLimits): Record<'submission' | 'reports' | 'small', BodyReader> {
  return {
    submission: bodyReader(limits.submissionBytes),
    reports: bodyReader(limits.reportsBytes),
    small: bodyReader(SMALL_BYTES),
  };
}

function bodyReader(limit: number): BodyReader {
  // As text: koa-body's own JSON parser loses digits of seeds, and the text is needed for its digest.
  const readText = koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['application/json'],
    textLimit: limit,
    parsedMethods: ['POST'] as never,
    onError: (error) => {
      throw readingFailed(error, limit);
    },
  });
  return async (ctx, { optional, seeds }) => {
    const { 'content-length': declared, 'transfer-encoding': encoding } = ctx.req.headers;
    if (declared === '0' || (declared === undefined && encoding === undefined)) {
      if (optional) return NOTHING;
      throw new SimbatchError('malformed-body', 'The request has no body; a JSON object is expected.');
    }
    refuseOtherTypes(ctx);
    if (Number(declared) > limit) throw tooLarge(limit);
    await readText(ctx, async () => {});
    const text = (ctx.request as { body?: unknown }).body;
    if (typeof text !== 'string') throw new SimbatchError('unsupported-media-type', 'The body must be JSON.');
    if (optional && text.trim() === '') return NOTHING;
    return { text, value: parse(text, seeds) };
  };
}

/** A digest to tell one body from another. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function refuseOtherTypes(ctx: Context): void {
  const type = ctx.req.headers['content-type'] ?? '';
  // Looking into a media type takes longer than reading a small body; this is what all but a few send.
  if (type === 'application/json') return;
  const charset = ctx.request.charset.toLowerCase();
  if (!ctx.is('application/json') || (charset !== '' && charset !== 'utf-8' && charset !== 'utf8')) {
    const sent = type === '' ? 'missing' : JSON.stringify(type.slice(0, 100));
    throw new SimbatchError(
      'unsupported-media-type',
      `The Content-Type is ${sent}; it must be "application/json", in UTF-8.`,
    );
  }
}

function parse(text: string, seeds: boolean): unknown {
  const tooMuch = complexityFault(text);
  if (tooMuch !== undefined) throw new SimbatchError('invalid-request', tooMuch);
  try {
    return seeds ? parseExact(text) : JSON.parse(text);
  } catch (cause) {
    throw new SimbatchError('malformed-body', syntaxFault(text, cause as Error), { cause });
  }
}

/** Looking for the place of the fault takes a slower reader; a person wrote no more than this. */
const MAX_LOCATED = 1_048_576;

function syntaxFault(text: string, error: Error): string {
  if (text.trim() === '') return 'The request has an empty body; a JSON object is expected.';
  const place = text.length > MAX_LOCATED ? undefined : placeOf(text);
  return `The body is not valid JSON: ${place ?? error.message}`;
}

/** The fault and where it is; JSON.parse itself tells no position. */
function placeOf(text: string): string | undefined {
  try {
    parseForPosition(text, null, { onDuplicateKey: ({ newValue }) => newValue });
    return undefined;
  } catch (error) {
    const [, fault, position] = /^(.*) at position (\d+)/s.exec((error as Error).message) ?? [];
    if (fault === undefined) return undefined;
    const before = text.slice(0, Number(position)).split('\n');
    return `${fault} at line ${before.length}, column ${before.at(-1)!.length + 1}`;
  }
}

function tooLarge(limit: number): SimbatchError {
  return new SimbatchError('body-too-large', `The body is larger than ${limit} bytes, the limit here.`);
}

function readingFailed(error: Error, limit: number): Error {
  const { status, type } = error as { status?: number; type?: string };
  if (status === 413) return tooLarge(limit);
  if (status === 415)
    return new SimbatchError('unsupported-media-type', 'The Content-Encoding of the body is not known.');
  if (type === 'request.aborted' || type === 'request.size.invalid') {
    return new SimbatchError('malformed-body', 'The body ended before its declared length.', { cause: error });
  }
  // A damaged gzip body, for one.
  if ('code' in error && String(error.code).startsWith('Z_')) {
    return new SimbatchError('malformed-body', 'The compressed body cannot be read.', { cause: error });
  }
  return error;
}
