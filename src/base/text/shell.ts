/** Words of shell scripts. */

/** The text as one word of a POSIX shell; plain words stay as they are. */
export const quoted = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
