/** What is said in place of a list that has nothing in it: whether there is nothing at all, or nothing that matches. */
import { printable } from './format.ts';

/** How there come to be batches and jobs. */
export const SUBMIT = 'submit a study with `simbatch submit STUDY`';

export interface Listed {
  /** What is listed, in the plural. */
  plural: string;
  /** How there comes to be one. */
  remedy: string;
  /** The filters given, as option and values; those without values filter nothing. */
  filters: Readonly<Record<string, readonly (string | number)[] | undefined>>;
}

/** One line for a list that turned out empty, e.g. `no batches match --status Failed`. */
export function emptyList({ plural, remedy, filters }: Listed): string {
  const given = Object.entries(filters).flatMap(([option, values = []]) =>
    values.length === 0 ? [] : [`${option} ${values.join(',')}`],
  );
  return given.length === 0
    ? `there are no ${plural} yet; ${remedy}`
    : `no ${plural} match ${printable(given.join(' '))}`;
}
