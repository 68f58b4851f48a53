/**
 * Cursors of paged lists. Opaque to clients; they contain the position and a digest of it with the list and its filters. An
 * altered cursor, or one used with other filters, is rejected.
 */
import { createHash } from 'node:crypto';
import { malformed } from './query.ts';

const CHECK_LENGTH = 12;
/** Longest cursor that is read; every position is shorter. */
const MAX_LENGTH = 1_000;

const check = (listing: string, position: string): string =>
  createHash('sha256').update(`${listing}\0${position}`).digest('base64url').slice(0, CHECK_LENGTH);

/** Returns a cursor for `position` in the list named `listing` (its address and filters in canonical form). */
export function makeCursor(listing: string, position: string): string {
  return Buffer.from(check(listing, position) + position, 'utf8').toString('base64url');
}

/** Returns the position in a cursor. Throws `malformed-query` for a cursor that `makeCursor` did not make for this list. */
export function readCursor(listing: string, cursor: string): string {
  const text = cursor.length > MAX_LENGTH ? '' : Buffer.from(cursor, 'base64url').toString('utf8');
  const position = text.slice(CHECK_LENGTH);
  if (makeCursor(listing, position) !== cursor) {
    throw malformed(
      'the query parameter `cursor` does not belong to this list with these filters; ' +
        'start again without it, and use the `Link` header unchanged',
    );
  }
  return position;
}
