/**
 * Exit codes of the program. The numbers above 63 are those of sysexits(3); docs/cli.md has the same table.
 */
export const EXIT = {
  /** Done; a watched study ended Completed. */
  ok: 0,
  /** An unexpected failure; stderr has the cause. */
  failed: 1,
  /** A watched study ended Failed or Cancelled, or its canary has failed and its runs wait. */
  studyFailed: 2,
  /** With --strict: the study is Completed, but some of its runs failed. `try`, `init`: the run gave no output. */
  runsFailed: 3,
  /** `verdict`, and the end of a watched study: a requirement is violated; `audit`: a repeated run differs. */
  requirementViolated: 4,
  /** `verdict`, and the end of a watched study: a requirement has not enough runs or is still open, and none is violated. */
  requirementNotShown: 5,
  /** `probe`: a dispersed input is never read, or changes no output. */
  inputWithoutEffect: 6,
  /** Unknown command or option, or a value out of range (EX_USAGE). */
  usage: 64,
  /** The study or another request is not valid (EX_DATAERR). */
  invalid: 65,
  /** The file, batch, job or runner named does not exist (EX_NOINPUT). */
  missing: 66,
  /** The coordinator cannot be reached or is stopping (EX_UNAVAILABLE). */
  unavailable: 69,
  /** A port, file or data directory cannot be opened (EX_CANTCREAT). */
  cannotOpen: 73,
  /** The state of the batch, job or runner does not allow it (EX_TEMPFAIL). */
  conflict: 75,
  /** Credentials are missing or do not suffice (EX_NOPERM). */
  forbidden: 77,
  /** A configuration file or environment variable is not valid (EX_CONFIG). */
  configuration: 78,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
