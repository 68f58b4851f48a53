/** Two schema keywords of this project: exact 64-bit integers, and free-form JSON with bounds. */
import { _, Name, type CodeKeywordDefinition } from 'ajv';
import { int64Fault } from '../../base/int64.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';

/** Where in the value the fault is, and a phrase that follows the member's name. */
interface KeywordFault {
  pointer: string;
  detail: string;
}

/** The functions of the keywords, by the names under which validators that are compiled by the build import them. */
export const KEYWORD_FUNCTIONS = {
  int64(data: unknown, rule: { nullable: boolean }): KeywordFault | undefined {
    const detail = data === null && rule.nullable ? undefined : int64Fault(data);
    return detail === undefined ? undefined : { pointer: '', detail };
  },
  freeForm: freeFormFault,
};

/** The keyword calls the function with the value and the rule; a fault that it returns is its error. */
function calling(keyword: string, name: keyof typeof KEYWORD_FUNCTIONS): CodeKeywordDefinition {
  return {
    keyword,
    code(cxt) {
      const check = cxt.gen.scopeValue('func', { ref: KEYWORD_FUNCTIONS[name], code: _`${new Name(name)}` });
      const wrong = cxt.gen.const('wrong', _`${check}(${cxt.data}, ${cxt.schemaValue})`);
      cxt.setParams({ wrong });
      cxt.fail(_`${wrong} !== undefined`);
    },
    error: {
      message: ({ params }) => _`${params['wrong']}.detail`,
      params: ({ params }) => _`{ pointer: ${params['wrong']}.pointer }`,
    },
  };
}

/** `x-int64: {nullable}`: an integer in [0, 2^63 - 1], a bigint where a number loses digits. */
export const int64Keyword = calling('x-int64', 'int64');

/** `x-free-form: {depth, values}`: any JSON object within these bounds, with finite numbers only. */
export const freeFormKeyword: CodeKeywordDefinition = { ...calling('x-free-form', 'freeForm'), type: 'object' };

/** Returns the first fault of a free-form value; recurses no deeper than `bounds.depth`. */
function freeFormFault(data: unknown, bounds: { depth: number; values: number }): KeywordFault | undefined {
  let left = bounds.values;
  const visit = (value: unknown, depth: number): KeywordFault | undefined => {
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
