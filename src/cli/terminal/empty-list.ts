/** Messages in place of an empty list: nothing exists yet, or nothing matches the filters. */
import { printable } from './format.ts';

/** Remedy for an empty list of studies or runs. */
export const SUBMIT = 'submit a study with `simbatch submit STUDY`';

export interface Listed {
  /** Noun of the items, in the plural. */
  plural: string;
  /** The way to create an item. */
  remedy: string;
  /** Filters as option and values; a filter without values is inactive. */
  filters: Readonly<Record<string, readonly (string | number)[] | undefined>>;
}

/** Returns one line for an empty list, e.g. `no batches match --status Failed`. */
export function emptyList({ plural, remedy, filters }: Listed): string {
  const given = Object.entries(filters).flatMap(([option, values = []]) =>
    values.length === 0 ? [] : [`${option} ${values.join(',')}`],
  );
  return given.length === 0
    ? `there are no ${plural} yet; ${remedy}`
    : `no ${plural} match ${printable(given.join(' '))}`;
}
