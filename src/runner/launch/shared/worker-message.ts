/** The messages of a worker: JSON lines, each about one of its runs. Trusts none of them. */

/** The end of a run that has left the worker as it was, or nearly so. */
export interface RunEnd {
  code: number;
  ms: number;
  /** Changes that were undone, each as a clause without its subject. */
  restored: readonly string[];
  /** Changes for which the worker ended. */
  left: readonly string[];
  /** Of a run without a directory: the text of its outputs, null for none; absent: it has a directory. */
  outputs?: string | null;
  /** The text of `metadata.json` where that is the only file of the run, null where there is none; absent: not known. */
  metadata?: string | null;
  /** The parameters that the run looked up, as the client library reports them; absent: not known. */
  reads?: unknown;
}

/** The directory of a run could not be made; `code`: of the system. */
export interface RunFault {
  fault: string;
  code: string;
}

/** A message of a worker about one of its runs. `stale`: a file of the program has changed, and the run has not begun. */
export type Message =
  (RunEnd & { id: number; last: boolean }) | (RunFault & { id: number }) | { id: number; stale: string };

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((it) => typeof it === 'string');

const isTextOrNull = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string';

/** Undefined for anything else than a message. */
export function parsed(line: string): Message | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, stale, fault, code, ms, restored, left, last, outputs, metadata } = value as Record<string, unknown>;
  if (!Number.isSafeInteger(id)) return undefined;
  if (typeof stale === 'string') return { id: Number(id), stale };
  if (typeof fault === 'string' && typeof code === 'string') return { id: Number(id), fault, code };
  if (!isTextOrNull(outputs) || !isTextOrNull(metadata)) return undefined;
  const isEnd = Number.isInteger(code) && typeof ms === 'number' && typeof last === 'boolean';
  return isEnd && isTexts(restored) && isTexts(left) ? (value as Message) : undefined;
}
