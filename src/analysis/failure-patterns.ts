/** The failed runs of a study by class and message pattern. */
import type { StudySummary } from '../contract/types.ts';
import { createHash } from 'node:crypto';
import { CLASS_CODES, RUN_CLASSES, type RunClass } from './table/run-class.ts';
import { type RunTable, runIdOf } from './table/run-table.ts';

export type FailurePattern = StudySummary['failures'][number];

/** `count` counts all runs of a pattern; this many are listed. */
export const MOST_RUN_IDS = 1000;

/** Cancelled and open runs have not failed. */
const FAILED: ReadonlySet<number> = new Set(
  (['terminated', 'crashed', 'timeout', 'lost'] as const).map((name) => CLASS_CODES[name]),
);

/** The patterns, most frequent first; equally frequent ones in the order of their first run. */
export function failurePatterns(table: RunTable): FailurePattern[] {
  const found = new Map<number, FailurePattern>();
  const { classes, patterns, rows } = table;
  let total = 0;
  for (let row = 0; row < rows; row++) {
    const code = classes[row]!;
    if (!FAILED.has(code)) continue;
    total++;
    const key = patterns.codes[row]! * RUN_CLASSES.length + code;
    const runId = runIdOf(table, row);
    let group = found.get(key);
    if (group === undefined) {
      const runClass = RUN_CLASSES[code]!;
      const normalized = patterns.values[patterns.codes[row]!]!;
      const pattern = table.commonParts.get(normalized)?.text() ?? normalized;
      // The id does not depend on what the messages so far have in common.
      const id = patternId(runClass, normalized);
      found.set(
        key,
        (group = { id, class: runClass, pattern, count: 0, share: 0, example_run_id: runId, run_ids: [] }),
      );
    }
    group.count++;
    if (group.run_ids.length < MOST_RUN_IDS) group.run_ids.push(runId);
  }
  // Sorting keeps the order of first runs, in which the map holds them.
  const groups = [...found.values()].sort((a, b) => b.count - a.count);
  for (const group of groups) group.share = group.count / total;
  return groups;
}

const patternId = (runClass: RunClass, pattern: string): string =>
  createHash('sha256').update(`${runClass}\0${pattern}`, 'utf8').digest('hex').slice(0, 12);
