/** The precisions of a study on the columns of its runs. */
import type { PrecisionCourse, PrecisionReached, StudyPrecisions } from '../../contract/types.ts';
import { logSpaced } from '../outputs/convergence.ts';
import { answerHeader, dependenceWarnings } from '../table/header.ts';
import { CLASS_CODES, RUN_CLASSES } from '../table/run-class.ts';
import {
  type RunTable,
  absentCancelled,
  completePrefix,
  prefixRuns,
  runIdOf,
  runsOf,
  statisticRows,
} from '../table/run-table.ts';
import { type ParsedPrecision, halfWidthOf, valueReader } from './precision.ts';
import { StudyPrecision } from './study-precision.ts';

/** How the runs are taken. */
interface Taking {
  /** False: runs after the one at which all precisions are reached are taken too. */
  stops?: boolean;
  /** Called after each run. */
  seen?: (so: StudyPrecision) => void;
}

/** Takes the runs of the complete prefix, up to the one at which all precisions are reached. */
export function precisionsAlong(
  table: RunTable,
  precisions: readonly ParsedPrecision[],
  { stops = true, seen }: Taking = {},
): StudyPrecision {
  const study = new StudyPrecision(precisions, undefined, stops);
  const readers = precisions.map((it) => valueReader(table, it));
  const end = Math.min(completePrefix(table), statisticRows(table));
  for (let row = 0; row < end && !study.isOver; row++) {
    if (table.classes[row] === CLASS_CODES.cancelled) {
      study.takeCancelled(runIdOf(table, row));
      break;
    }
    study.take((at) => readers[at]!(row), runIdOf(table, row));
    seen?.(study);
  }
  if (end === table.rows && table.settledRows === undefined && absentCancelled(table) > 0)
    study.takeCancelled(table.rows === 0 ? 0 : runIdOf(table, table.rows - 1) + 1);
  return study;
}

/** The figures of one precision over all runs whose statistics are given, at this confidence. */
export const sightAt = (table: RunTable, precision: ParsedPrecision, confidence: number) =>
  precisionsAlong(table, [{ ...precision, confidence }], { stops: false }).sights()[0]!;

/** How near the runs are to each precision. */
export const precisionsReached = (
  table: RunTable,
  precisions: readonly ParsedPrecision[],
  units: ReadonlyMap<string, string>,
): PrecisionReached[] => reachedBy(precisionsAlong(table, precisions), table, units);

const reachedBy = (study: StudyPrecision, table: RunTable, units: ReadonlyMap<string, string>): PrecisionReached[] =>
  study.answers(
    runsOf(table) - prefixRuns(table),
    dependenceWarnings(table.method),
    (output) => units.get(output) ?? null,
  );

const MOST_POINTS = 64;

/** The answer of the question: how near the runs are to each precision, with its course. */
export function judgePrecisions(
  table: RunTable,
  precisions: readonly ParsedPrecision[],
  units: ReadonlyMap<string, string>,
): StudyPrecisions {
  const study = precisionsAlong(table, precisions);
  const courses = coursesOf(table, precisions, study.used);
  const answers = reachedBy(study, table, units);
  const classes = RUN_CLASSES.filter((name) => name !== 'open' && name !== 'cancelled');
  return {
    ...answerHeader(table, { classes, used: study.used, prefixOnly: true }),
    stop_run_id: study.stopRunId,
    precision: answers.map((it, at) => ({ ...it, course: courses[at]! })),
    reason: precisions.length === 0 ? 'the study does not stop at a precision: it has no `stop_when: precise`' : null,
  };
}

/** The interval of each precision at 64 numbers of runs at most. */
function coursesOf(table: RunTable, precisions: readonly ParsedPrecision[], runs: number): PrecisionCourse['course'][] {
  const places = logSpaced(runs / (precisions[0]?.replicateRuns ?? 1), MOST_POINTS);
  const courses: PrecisionCourse['course'][] = precisions.map(() => []);
  if (precisions.length === 0) return courses;
  precisionsAlong(table, precisions, {
    seen(study) {
      if (study.observations === undefined || !places.has(study.observations)) return;
      for (const [at, { value, interval }] of study.sights().entries())
        courses[at]!.push({ n: study.runs, value, interval, half_width: halfWidthOf(interval) });
    },
  });
  return courses;
}
