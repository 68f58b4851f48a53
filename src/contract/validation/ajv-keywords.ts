/** Two schema keywords of this project: exact 64-bit integers, and free-form JSON with bounds. */
import type { ErrorObject, FuncKeywordDefinition } from 'ajv';
import { int64Fault } from '../../base/int64.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';

type DataContext = { instancePath: string };

function fault(keyword: string, instancePath: string, message: string, data: unknown): ErrorObject {
  return { keyword, instancePath, schemaPath: '', params: {}, message, data };
}

/** `x-int64: {nullable}`: an integer in [0, 2^63 - 1], a bigint where a number loses digits. */
export const int64Keyword: FuncKeywordDefinition = {
  keyword: 'x-int64',
  errors: 'full',
  validate: function check(
    rule: { nullable: boolean },
    data: unknown,
    _parent: unknown,
    context?: DataContext,
  ): boolean {
    const wrong = data === null && rule.nullable ? undefined : int64Fault(data);
    const keyword = check as { errors?: ErrorObject[] };
    keyword.errors = wrong === undefined ? [] : [fault('x-int64', context?.instancePath ?? '', wrong, data)];
    return wrong === undefined;
  },
};

/** `x-free-form: {depth, values}`: any JSON object within these bounds, with finite numbers only. */
export const freeFormKeyword: FuncKeywordDefinition = {
  keyword: 'x-free-form',
  type: 'object',
  errors: 'full',
  validate: function check(
    bounds: { depth: number; values: number },
    data: unknown,
    _parent: unknown,
    context?: DataContext,
  ): boolean {
    const wrong = freeFormFault(data, bounds);
    const keyword = check as { errors?: ErrorObject[] };
    const at = (context?.instancePath ?? '') + (wrong?.pointer ?? '');
    keyword.errors = wrong === undefined ? [] : [fault('x-free-form', at, wrong.detail, data)];
    return wrong === undefined;
  },
};

/** Returns the first fault of a free-form value; recurses no deeper than `bounds.depth`. */
function freeFormFault(data: unknown, bounds: { depth: number; values: number }) {
  let left = bounds.values;
  const visit = (value: unknown, depth: number): { pointer: string; detail: string } | undefined => {
    left -= 1;
    if (left < 0) return { pointer: '', detail: `holds more than ${bounds.values} values, the limit` };
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return { pointer: '', detail: 'must be a finite number' };
    }
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth > bounds.depth) return { pointer: '', detail: `is nested deeper than ${bounds.depth} levels, the limit` };
    // `for ... in`, since Object.entries copies a large object before it is found too large.
    for (const key in value) {
      const found = visit((value as Record<string, unknown>)[key], depth + 1);
      if (found !== undefined) return { ...found, pointer: pointerToken(key) + found.pointer };
    }
    return undefined;
  };
  return visit(data, 1);
}

/** True when `root` holds more than `limit` values. Not recursive: input has any depth. */
export function holdsMoreThan(root: unknown, limit: number): boolean {
  const pending: unknown[] = [root];
  let seen = 0;
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    const members = Array.isArray(value) ? (value as unknown[]) : Object.values(value);
    seen += members.length;
    if (seen > limit) return true;
    for (const inner of members) if (typeof inner === 'object' && inner !== null) pending.push(inner);
  }
  return false;
}
