/** Parses a body that may have millions of numbers, in slices of the event loop. */
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { lossyFault } from '../../base/json/json-loss.ts';
import { parseSliced, SlicedJsonError, type PiecePlace } from '../../base/json/sliced-json.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { parseBody } from './body.ts';
import { complexityFault } from './json-complexity.ts';

/** A shorter body is parsed at once: in up to 2 ms, which is a third less than in slices. */
const SHORT = 262_144;

/**
 * Returns the value of a body's text.
 * @throws SimbatchError `malformed-body`; `invalid-request` for a text too deep or too wide
 */
export async function parseBodyInSlices(text: string, share: EventLoopShare): Promise<unknown> {
  if (text.length < SHORT) return parseBody(text, false, true);
  const later = share.slice();
  if (later !== undefined) await later;
  try {
    return await parseSliced(text, parsePiece, () => share.slice(), givenTwice);
  } catch (error) {
    if (!(error instanceof SlicedJsonError)) throw error;
    throw new SimbatchError('malformed-body', `the body is not a JSON object: ${error.message}`, { cause: error });
  }
}

function givenTwice(pointer: string, offset: number): never {
  throw lossy(pointer, 'was given before in the same object; give each member once', offset);
}

function lossy(pointer: string, detail: string, offset: number): SimbatchError {
  const message = `the body has ${JSON.stringify(pointer)} at character ${offset + 1}, which ${detail}`;
  return new SimbatchError('malformed-body', message, { faults: [{ pointer, detail }] });
}

function parsePiece(piece: string, { offset, pointer, index }: PiecePlace): unknown {
  const tooMuch = complexityFault(piece);
  if (tooMuch !== undefined) throw new SimbatchError('invalid-request', tooMuch);
  let value: unknown;
  try {
    value = JSON.parse(piece);
  } catch (cause) {
    const message = `the body is not valid JSON near character ${offset + 1}: ${(cause as Error).message}`;
    throw new SimbatchError('malformed-body', message, { cause });
  }
  const fault = lossyFault(piece, value, { numbers: true, infinite: true });
  if (fault === undefined) return value;
  // The piece of a list has its own numbers of items.
  const [, at = '', rest = ''] = /^\/(\d+)(.*)$/s.exec(fault.pointer) ?? [];
  const place = index === undefined ? fault.pointer : `/${Number(at) + index}${rest}`;
  throw lossy(pointer + place, fault.detail, offset + fault.offset - (index === undefined ? 0 : 1));
}
