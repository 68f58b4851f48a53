/** Reads and writes JSON Pointers (RFC 6901). */

/** Returns a name or index as one escaped reference token, with its slash. */
export function pointerToken(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
