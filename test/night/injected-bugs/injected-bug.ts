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
