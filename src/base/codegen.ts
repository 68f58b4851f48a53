/**
 * Compiles source text to a function, so that tables of members become straight-line code, as fast as code written by hand.
 * The text must come from constants of the program, never from input.
 */

/** `source` is an expression; the names in `scope` are defined in it. */
export function compile(source: string, scope: Readonly<Record<string, unknown>> = {}): unknown {
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- docs/decisions/contract.md has the measurements
  const make = new Function(...Object.keys(scope), `'use strict'; return (${source});`) as (
    ...values: unknown[]
  ) => unknown;
  return make(...Object.values(scope));
}

/** The access of a member in generated code. */
export const member = (object: string, name: string): string => `${object}[${JSON.stringify(name)}]`;
