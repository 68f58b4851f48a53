/** JSON Pointers (RFC 6901). */

/** One name as a part of a pointer, with its slash. */
export const pointerPart = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
