/** Strong entity tags (RFC 9110 section 8.8.3): a digest of a text, so equal bodies have equal tags across restarts. */
import { createHash } from 'node:crypto';

/** Returns the tag of a body, or of a text that names it, with quotes. */
export const entityTag = (body: string | Buffer): string => `"${createHash('sha1').update(body).digest('base64url')}"`;

/** Returns whether an `If-None-Match` header contains the tag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}
