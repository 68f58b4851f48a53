/** An operation that is started at most once. */

/** Calls `operation` once, and returns its promise to every caller. */
export function once<T>(operation: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => (started ??= operation());
}
