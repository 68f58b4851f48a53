/** The difference of two contexts: the paths whose values differ, with both. Pure. */
import { same } from '../../../machines/actor-player.ts';

export interface Change {
  path: string;
  /** Undefined: the member was not there. */
  before: unknown;
  after: unknown;
}

const isBranch = (it: unknown): it is Record<string, unknown> => typeof it === 'object' && it !== null;

/** Members of both objects that differ; lists are compared item by item. */
export function differenceOf(before: unknown, after: unknown, path = ''): Change[] {
  if (same(before, after)) return [];
  const isList = Array.isArray(before) || Array.isArray(after);
  const alike = isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after);
  if (!alike && !(isList && (before === undefined || after === undefined))) return [{ path, before, after }];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.flatMap((name) => {
    const member = isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    return differenceOf(
      (before as Record<string, unknown>)?.[name],
      (after as Record<string, unknown>)?.[name],
      member,
    );
  });
}

/** The time zone of the log is that of the browser; milliseconds are what orders its lines. */
export function clockMs(ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const millis = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}

/** A value of a context on one line; members whose names end in `Ms` are times or durations in ms. */
export function valueText(path: string, value: unknown): string {
  if (value === undefined || value === null) return 'not set';
  if (typeof value === 'number' && /Ms$|now$|claimed$|started$|ended$/.test(path) && value > 1e11)
    return clockMs(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
