/** The rules of a study that ran in shadow: the runs that they would have ended, and whether these were worth finishing. */
import { plural } from '../domain/plural.ts';
import type { Requirement, StudySummary } from '../contract/types.ts';
import { outcomeReader, parseRequirement } from './requirements/requirement.ts';
import { CLASS_CODES } from './table/run-class.ts';
import type { RunTable } from './table/run-table.ts';

export type ShadowRules = NonNullable<StudySummary['shadow']>;

/** Undefined where no run met a condition in shadow. */
export function shadowRules(table: RunTable, requirements: readonly Requirement[]): ShadowRules | undefined {
  const { wouldTerminate, classes, rows } = table;
  if (wouldTerminate === undefined) return undefined;
  const readers = requirements.flatMap((it) => {
    const parsed = parseRequirement(it, requirements);
    return typeof parsed === 'string' ? [] : [outcomeReader(table, parsed)];
  });
  const found = { would_end: 0, completed: 0, passed: 0 };
  for (let row = 0; row < rows; row++) {
    if (wouldTerminate[row] === 0) continue;
    found.would_end++;
    if (classes[row] !== CLASS_CODES.ok) continue;
    found.completed++;
    if (readers.every((outcomeOf) => outcomeOf(row) === 'pass')) found.passed++;
  }
  return { ...found, passed: readers.length === 0 ? null : found.passed };
}

/** A clause to follow the sentence of a summary. */
export function shadowClause({ would_end: count, completed, passed }: ShadowRules): string {
  const verdict = passed === null ? '' : `, of which ${passed} pass every requirement`;
  return `rules in shadow would have ended ${plural(count, 'run')}; ${completed} of these completed${verdict}`;
}
