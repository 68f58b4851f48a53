/** The course of a requirement: its estimate and bounds over beginnings of the complete prefix. */
import type { JudgedRequirement } from '../../contract/types.ts';
import type { RunTable } from '../table/run-table.ts';
import { logSpaced } from '../outputs/convergence.ts';
import { oneSidedBounds } from './bounds.ts';
import { outcomeReader, type ParsedRequirement } from './requirement.ts';

/** The figures of the first n runs, as a verdict on these alone has them. */
export type CoursePoint = JudgedRequirement['course'][number];

/** Most points of a course: enough for a line of a few centimetres. */
const MOST_POINTS = 64;

/**
 * The bounds of a requirement at 64 points at most, evenly spaced in log n; the last one is at `runs`, the number of first rows that were judged. Bounds of a
 * requirement that is looked at once are those of a planned look at n: they do not say what looking at every n would decide.
 * `absent`: cancelled runs after the rows, which are unknown.
 */
export function requirementCourse(
  table: RunTable,
  requirement: ParsedRequirement,
  runs: number,
  absent = 0,
): CoursePoint[] {
  const { confidence, look } = requirement;
  const outcomeOf = outcomeReader(table, requirement);
  const places = logSpaced(runs, MOST_POINTS);
  const counts = { open: 0, pass: 0, fail: 0, unknown: 0, excluded: 0 };
  const points: CoursePoint[] = [];
  for (let row = 0; row < runs; row++) {
    counts[outcomeOf(row)]++;
    if (places.has(row + 1)) points.push(pointAt(row + 1));
  }
  counts.unknown += absent;
  if (absent > 0) points.push(pointAt(runs + absent));
  return points;

  function pointAt(n: number): CoursePoint {
    const { pass, fail, unknown } = counts;
    const known = pass + fail;
    const [lower, upper] = oneSidedBounds({ passed: pass, failed: fail, unknown }, look, confidence);
    return { n, estimate: known === 0 ? null : pass / known, lower, upper };
  }
}
