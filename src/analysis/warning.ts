/** A limit of an answer: what its reader must know before believing it. */

export interface Warning {
  /** Stable name of the warning, in kebab-case. */
  code: string;
  message: string;
}
