/**
 * `RARE_LINES=FILE node dist/bench/validation/rare/measure.js fresh|shaped`: makes the studies of these problems that FILE lacks, 10 seeds of every
 * problem before the next 10. `STUDIES`: of each problem, 200 without it.
 */
import { FRESH } from './fresh.ts';
import { Lines } from './lines.ts';
import type { Problem } from './problem.ts';
import { SHAPED } from './shaped.ts';
import { rareStudyOf } from './study.ts';

/** Seeds of a problem that are made before the next problem. */
const TURN = 10;
/** Studies of each problem; the standard error of a coverage of 0.95 is 0.22 divided by its root. */
export const STUDIES = Number(process.env['STUDIES'] ?? 200);

const SETS: Readonly<Record<string, readonly Problem[]>> = { fresh: FRESH, shaped: SHAPED };

/** The studies of the problems: those that the environment's file has, and those that it lacks. */
export function measured(problems: readonly Problem[]): Lines {
  const lines = new Lines(process.env['RARE_LINES']);
  for (let from = 1; from <= STUDIES; from += TURN) {
    for (const problem of problems) {
      for (let seed = from; seed < Math.min(from + TURN, STUDIES + 1); seed++) {
        const place = { problem: problem.name, d: problem.d, method: 'rare_event' as const, seed };
        if (!lines.has(place)) lines.add({ ...place, ...rareStudyOf(problem, seed) });
      }
    }
  }
  return lines;
}

if (process.argv[1]?.endsWith('rare/measure.js') === true) {
  const problems = SETS[process.argv[2] ?? ''];
  if (problems === undefined) throw new Error('the problems are missing: name fresh or shaped');
  measured(problems);
}
