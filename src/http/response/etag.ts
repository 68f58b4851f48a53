/** Strong entity tags (RFC 9110 section 8.8.3): a digest of the body, so equal bodies have equal tags across restarts. */
import { createHash } from 'node:crypto';

/** The tag of a body, quotes included. */
export const etagOf = (body: string): string => `"${createHash('sha1').update(body).digest('base64url')}"`;

/** Whether an `If-None-Match` header names the tag. Weak comparison, as RFC 9110 section 13.1.2 asks. */
export function matchesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}
