/** Parses a body that may have millions of numbers, in slices of the event loop. */
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { TSchema } from 'typebox';
import type { Fault } from '../../contract/types.ts';
import { schemaFaults } from '../../contract/validation/validate.ts';
import type { RouteBody } from '../route.ts';
import { lossyFault } from '../../base/json/json-loss.ts';
import { parseSliced, SlicedJsonError, type ParsePiece, type PiecePlace } from '../../base/json/sliced-json.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { decoded } from './body.ts';
import { complexityFault } from './json-complexity.ts';

/** A shorter body is parsed at once: in up to 2 ms, which is a third less than in slices. */
const SHORT = 262_144;
/** The most faults reported for one body. */
const MAX_FAULTS = 100;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

const lengthOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, it) => sum + it.length, 0);
export const isLong = (pieces: readonly Buffer[]): boolean => lengthOf(pieces) >= SHORT;

/**
 * Returns the value of a long body; `infinite`: numbers beyond the range of a double are refused here.
 * @throws SimbatchError `malformed-body`; `invalid-request` for a text too deep or too wide
 */
export async function parseBodyInSlices(
  pieces: readonly Buffer[],
  share: EventLoopShare,
  infinite: boolean,
): Promise<unknown> {
  const bytes = await joined(pieces, share);
  try {
    const parse: ParsePiece = (piece, place) => parsePiece(piece, place, infinite);
    return await parseSliced(bytes, parse, () => share.slice(), givenTwice);
  } catch (error) {
    if (!(error instanceof SlicedJsonError)) throw error;
    throw new SimbatchError('malformed-body', `the body is not a JSON object: ${error.message}`, { cause: error });
  }
}

/** Without a byte order mark. */
async function joined(pieces: readonly Buffer[], share: EventLoopShare): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(lengthOf(pieces));
  let at = 0;
  for await (const piece of share.paced(pieces)) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes;
}

/** All faults of a value, of the items of its list one after the other. */
export async function faultsInSlices(
  schema: TSchema,
  { member, schema: itemSchema, most }: NonNullable<RouteBody['items']>,
  value: unknown,
  share: EventLoopShare,
): Promise<Fault[]> {
  const list = (value as Record<string, unknown>)[member];
  if (!Array.isArray(list)) return schemaFaults(schema, value);
  const faults = schemaFaults(schema, { ...(value as object), [member]: [] });
  if (list.length > most)
    return [...faults, { pointer: `/${member}`, detail: `has ${list.length} items; the limit is ${most}` }];
  for (const [index, item] of list.entries()) {
    if (faults.length >= MAX_FAULTS) break;
    const later = share.slice();
    if (later !== undefined) await later;
    const found = schemaFaults(itemSchema, item, MAX_FAULTS - faults.length);
    faults.push(...found.map((it) => ({ ...it, pointer: `/${member}/${index}${it.pointer}` })));
  }
  return faults;
}

function givenTwice(pointer: string, offset: number): never {
  throw lossy(pointer, 'was given before in the same object; give each member once', offset);
}

function lossy(pointer: string, detail: string, offset: number): SimbatchError {
  const message = `the body has ${JSON.stringify(pointer)} at byte ${offset + 1}, which ${detail}`;
  return new SimbatchError('malformed-body', message, { faults: [{ pointer, detail }] });
}

function parsePiece(bytes: Buffer, { offset, pointer, index }: PiecePlace, infinite: boolean): unknown {
  const piece = index === undefined ? decoded(bytes) : `[${decoded(bytes)}]`;
  const tooMuch = complexityFault(piece);
  if (tooMuch !== undefined) throw new SimbatchError('invalid-request', tooMuch);
  let value: unknown;
  try {
    value = JSON.parse(piece);
  } catch (cause) {
    const message = `the body is not valid JSON near byte ${offset + 1}: ${(cause as Error).message}`;
    throw new SimbatchError('malformed-body', message, { cause });
  }
  const fault = lossyFault(piece, value, { numbers: true, infinite });
  if (fault === undefined) return value;
  // The piece of a list has its own numbers of items.
  const [, at = '', rest = ''] = /^\/(\d+)(.*)$/s.exec(fault.pointer) ?? [];
  const place = index === undefined ? fault.pointer : `/${Number(at) + index}${rest}`;
  const before = Buffer.byteLength(piece.slice(0, fault.offset)) - (index === undefined ? 0 : 1);
  throw lossy(pointer + place, fault.detail, offset + before);
}
