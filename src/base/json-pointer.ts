/** JSON Pointers (RFC 6901), as the faults of a request use them. */

/** A name or index as one step of a pointer, its slash included. */
export function pointerToken(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
