/** The differences between two configurations, member by member. */
import { isJsonObject } from '../../base/json/json-object.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';

/** A member that changed; `before` or `after` is absent where there was, or is, no such member. */
export interface ConfigurationChange {
  /** JSON Pointer (RFC 6901). */
  pointer: string;
  before?: unknown;
  after?: unknown;
}

/** Longer lists, and lists of unequal length, are compared as a whole. */
const MOST_ITEMS = 50;
const MOST_CHANGES = 1000;

/**
 * The changed members of two JSON values, by their order in the first value and then the second; at most 1000, and how many more.
 * A list that is compared as a whole and is longer than 50 items is answered with its length in words.
 */
export function configurationChanges(
  before: unknown,
  after: unknown,
): { changes: ConfigurationChange[]; omitted: number } {
  const changes: ConfigurationChange[] = [];
  let omitted = 0;
  // A loop and not a recursion: the sender chooses the depth of a configuration.
  const pending: { pointer: string; before: unknown; after: unknown }[] = [{ pointer: '', before, after }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inner = isEqual(next.before, next.after) ? [] : children(next);
    if (inner !== null) pending.push(...inner.toReversed());
    else if (changes.length === MOST_CHANGES) omitted++;
    else changes.push(asChange(next));
  }
  return { changes, omitted };
}

interface Compared {
  pointer: string;
  before: unknown;
  after: unknown;
}

/** The members to look into; null where the values differ as a whole. */
function children({ pointer, before, after }: Compared): Compared[] | null {
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length || before.length > MOST_ITEMS) {
      return isSameList(before, after) ? [] : null;
    }
    return before.map((item: unknown, i) => ({
      pointer: pointer + pointerToken(i),
      before: item,
      after: after[i] as unknown,
    }));
  }
  if (!isJsonObject(before) || !isJsonObject(after)) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].map((name) => ({
    pointer: pointer + pointerToken(name),
    before: ownMember(before, name),
    after: ownMember(after, name),
  }));
}

const isEqual = (a: unknown, b: unknown): boolean => Object.is(a, b);

const ownMember = (record: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const isSameList = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.length === after.length &&
  before.every((item, i) => configurationChanges(item, after[i]).changes.length === 0);

function asChange({ pointer, before, after }: Compared): ConfigurationChange {
  return {
    pointer,
    ...(before === undefined ? {} : { before: shortened(before) }),
    ...(after === undefined ? {} : { after: shortened(after) }),
  };
}

const shortened = (value: unknown): unknown =>
  Array.isArray(value) && value.length > MOST_ITEMS ? `a list of ${value.length} items` : value;
