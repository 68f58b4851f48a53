/** The form of a bug that is injected into the compiled program. */

export interface InjectedBug {
  name: string;
  /** Below `dist/`. */
  file: string;
  /** A text that occurs exactly once in the file, and its replacement. */
  find: string;
  replace: string;
  /** The test file below `dist/test/`, and the title of the test in it that must fail. */
  test: string;
  title: string;
}

/** Returns the text of the file with the bug. @throws Error when what the bug replaces does not occur exactly once */
export function withBug({ file, find, replace }: InjectedBug, text: string): string {
  const times = text.split(find).length - 1;
  if (times !== 1) throw new Error(`${file} has the text ${String(times)} times, not once: ${find}`);
  return text.replace(find, () => replace);
}
