/** The values that a submission has for members of the table. Pure. */
import { canonical } from '../study/config-hash.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { Member } from './members.ts';

/** The text of a value; equal for values that mean the same: null members count as absent, the order of members does not count. */
export const valueText = (value: unknown): string => canonical(withoutNulls(value));

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.every((it) => typeof it === 'number') ? value : value.map(withoutNulls);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([, it]) => it !== null && it !== undefined);
  return Object.fromEntries(members.map(([name, it]) => [name, withoutNulls(it)]));
}

/** Returns the text of each value that a submission has for these members, by its JSON Pointer. Values that mean the same as their absence are left out. */
export function valuesOf(submission: object, members: readonly Member[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { pointer, absent } of members) {
    const meaningless = absent === undefined ? undefined : valueText(absent);
    collect(submission, pointer.split('/').slice(1), '', (at, value) => {
      const text = valueText(value);
      if (text !== meaningless) values.set(at, text);
    });
  }
  return values;
}

/** Calls `take` with each value at a path whose `*` is any name or place. */
function collect(
  value: unknown,
  path: readonly string[],
  pointer: string,
  take: (pointer: string, value: unknown) => void,
): void {
  if (value === null || value === undefined) return;
  const [name, ...rest] = path;
  if (name === undefined) return take(pointer, value);
  if (typeof value !== 'object') return;
  const names = name === '*' ? Object.keys(value) : Object.hasOwn(value, name) ? [name] : [];
  for (const it of names) collect((value as Record<string, unknown>)[it], rest, pointer + pointerToken(it), take);
}
