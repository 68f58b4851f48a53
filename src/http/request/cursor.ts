/**
 * Cursors: where a listing goes on. Opaque to clients; inside, the listing, a digest of its filter and the position the
 * coordinator told. A cursor that was altered, or is used with another filter, is refused.
 */
import { createHash } from 'node:crypto';
import { malformed } from './query.ts';

const CHECK_LENGTH = 12;
/** No position is nearly as long. */
const MAX_LENGTH = 1_000;

const check = (listing: string, position: string): string =>
  createHash('sha256').update(`${listing}\0${position}`).digest('base64url').slice(0, CHECK_LENGTH);

/** A cursor for `position` in the listing that `listing` names (its address and filter, in one canonical form). */
export function makeCursor(listing: string, position: string): string {
  return Buffer.from(check(listing, position) + position, 'utf8').toString('base64url');
}

/** The position in a cursor. Throws `malformed-query` for anything `makeCursor` did not make for this listing. */
export function readCursor(listing: string, cursor: string): string {
  const text = cursor.length > MAX_LENGTH ? '' : Buffer.from(cursor, 'base64url').toString('utf8');
  const position = text.slice(CHECK_LENGTH);
  if (makeCursor(listing, position) !== cursor) {
    throw malformed(
      'The query parameter `cursor` is not one that was given for this list with these filters. ' +
        'Start again without it, and follow the `Link` header as it is.',
    );
  }
  return position;
}
