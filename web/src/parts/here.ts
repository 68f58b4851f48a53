/** Options of commands that are copied from the pages. */

/** The option that points a command at this coordinator. */
export const here = (): string => `--endpoint ${window.location.origin}`;
