/** A limit of an answer: what its reader must know before believing it. */

export interface Warning {
  /** Stable, kebab-case. */
  code: string;
  message: string;
}
