/** The outputs of a run: the members of its free-form metadata under flat names. Every reader of outputs uses this file. */
import { isJsonObject } from '../../base/json/json-object.ts';
import type { StoredResult } from '../../contract/types.ts';

/** Nested objects are flattened to this depth; deeper ones, and lists, are single values. */
const MAX_DEPTH = 4;

/** The name under which the execution time is an output like the others, in seconds. */
export const EXECUTION_SECS = 'execution_secs';

/** Receives an output. `value` is a JSON value: a list, or an object that is nested too deep, is a single value. */
export type OutputVisitor = (name: string, value: unknown) => void;

/**
 * Visits every member of the metadata of a result, nested ones as `outer.inner`, in the order of the object. A name may occur
 * twice (`{"a": {"b": 1}, "a.b": 2}`): the last one counts. A visitor, since a generator takes several times as long.
 */
export function visitOutputs(metadata: object, visit: OutputVisitor): void {
  visitMembers(metadata as Record<string, unknown>, '', 0, visit);
}

function visitMembers(object: Record<string, unknown>, prefix: string, depth: number, visit: OutputVisitor): void {
  for (const member of Object.keys(object)) {
    const value = object[member];
    const name = prefix === '' ? member : `${prefix}.${member}`;
    if (isJsonObject(value) && depth + 1 < MAX_DEPTH) visitMembers(value, name, depth + 1, visit);
    else if (name !== '') visit(name, value);
  }
}

/** Every output by its flat name. */
export function outputsOf(metadata: object): Map<string, unknown> {
  const outputs = new Map<string, unknown>();
  visitOutputs(metadata, (name, value) => outputs.set(name, value));
  return outputs;
}

/** A value that statistics use: a finite number, or a boolean as 0 or 1; undefined for any other. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A value as text in one cell: a list or object as JSON; null where there is no value. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The execution time in seconds: as measured by the runner, in whole seconds where it reports no more. */
export function executionSecsOf(result: Pick<StoredResult, 'execution_secs' | 'execution_time_secs'>): number {
  return result.execution_secs ?? result.execution_time_secs;
}

/** The outputs that are numbers, with `execution_secs` among them unless the simulation reports its own. */
export function numericOutputs(
  result: Pick<StoredResult, 'metadata' | 'execution_secs' | 'execution_time_secs'>,
): Map<string, number> {
  const outputs = new Map([[EXECUTION_SECS, executionSecsOf(result)]]);
  for (const [name, value] of outputsOf(result.metadata)) {
    const number = numberOf(value);
    if (number !== undefined) outputs.set(name, number);
  }
  return outputs;
}
