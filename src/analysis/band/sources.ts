/** Where the curves of a band are from: the stored histories of all runs, or the telemetry of a drawn sample of them. */
import { closestMatch } from '../../base/text/closest-match.ts';
import type { HistoryBand, HistoryConfig } from '../../contract/types.ts';
import { historyName, pointsOf } from '../../domain/histories/points.ts';
import { plural } from '../../domain/plural.ts';
import { type AnsweredStudy, drawnTelemetry } from '../table/answered-study.ts';
import type { DrawnTelemetry, RunSamples } from '../table/drawn-telemetry.ts';
import type { Exclusion } from '../table/header.ts';
import type { RunTable } from '../table/run-table.ts';
import { listed } from '../wording.ts';
import type { Curves } from './curves.ts';
import { variableLimits } from './limits.ts';
import { type BandRuns, type Selection, bandRuns } from './selection.ts';
import { curvesOfVariable, gridOf, readRuns, unreadRuns, variablesOf } from './telemetry.ts';

/** The curves of an answer, and the rest of it that depends on where they are from. */
export interface BandSource {
  curves: Curves;
  runs: BandRuns;
  seconds: readonly number[];
  /** Why a run of the table has no part in the answer; undefined for the rows of the curves and for runs with unknown values. */
  exclusionOf: (row: number) => Exclusion | undefined;
  members: Pick<HistoryBand, 'variable' | 'units' | 'source' | 'sample'>;
}

/** The history of this name; undefined where the study declares none. */
export const historyOf = ({ submission: { config } }: AnsweredStudy, name: string): HistoryConfig | undefined =>
  config?.histories?.find((it) => historyName(it) === name);

/** All runs have the history. @throws RangeError where the stored histories are not at hand */
export function fromHistory(study: AnsweredStudy, selection: Selection, history: HistoryConfig): BandSource {
  const { readHistory } = study;
  if (readHistory === undefined)
    throw new RangeError('history not read: a table of runs has no histories; ask the coordinator of the study');
  const runs = bandRuns(selection);
  const seconds = [...pointsOf(history.at)];
  const name = historyName(history);
  const { units } = variableLimits(history.variable, study.submission);
  return {
    curves: { runs, points: seconds.length, read: (from, to) => readHistory(name, runs.rows, { from, to }) },
    runs,
    seconds,
    exclusionOf: selection.exclusionOf,
    members: { variable: history.variable, units: history.units ?? units ?? null, source: 'history', sample: null },
  };
}

/** The telemetry files of at most 64 runs have the variable. @throws RangeError for a name that is neither a history nor in these files */
export async function fromTelemetry(study: AnsweredStudy, selection: Selection, variable: string): Promise<BandSource> {
  const { table, selected } = selection;
  const drawn = await drawnTelemetry(study, { selected });
  const read = readRuns(drawn);
  requireVariable(study, variable, variablesOf(read), read.length);
  const seconds = gridOf(read);
  const places = new Map(drawn.rows.map((row, at) => [row, at]));
  const samplesOf = (row: number): RunSamples | undefined => {
    const found = drawn.runs[places.get(row)!];
    return found !== undefined && 'variables' in found ? found : undefined;
  };
  const notDrawn = (row: number): Exclusion | undefined => {
    if (!places.has(row)) return 'not_drawn';
    return samplesOf(row) === undefined ? 'not_read' : undefined;
  };
  const isDrawn = selected.map((flag, row) => Number(flag === 1 && places.has(row)));
  const runs = bandRuns({ ...selection, selected: isDrawn, isAll: false }, (row) => samplesOf(row) !== undefined);
  const values = curvesOfVariable(
    variable,
    runs.rows.map((row) => samplesOf(row)!),
    seconds,
  );
  const points = seconds.length;
  return {
    curves: { runs, points, read: (from, to) => columnsOf(values, points, from, to) },
    runs,
    seconds,
    exclusionOf: (row) => selection.exclusionOf(row) ?? notDrawn(row),
    members: {
      variable,
      units: variableLimits(variable, study.submission).units ?? null,
      source: 'telemetry',
      sample: sampleOf(table, drawn),
    },
  };
}

const sampleOf = (table: RunTable, drawn: DrawnTelemetry): HistoryBand['sample'] => ({
  drawn_from: drawn.drawnFrom,
  sampled: drawn.rows.length,
  unread: unreadRuns(table, drawn),
});

/** While nothing is known, every name may still be right, and the answer says that there are no values. */
function requireVariable(study: AnsweredStudy, name: string, variables: readonly string[], files: number): void {
  const histories = (study.submission.config?.histories ?? []).map((it) => historyName(it));
  const names = [...histories, ...variables];
  if (names.length === 0 || variables.includes(name)) return;
  const nearest = closestMatch(name, names);
  const remedy = nearest === undefined ? `give one of ${listed(names)}` : `did you mean "${nearest}"?`;
  throw new RangeError(
    `history not found: the study has no history "${name}", nor do the ${plural(files, 'telemetry file')} that were read have such a variable; ${remedy}`,
  );
}

/** The columns from `from` to before `to` of a matrix with rows of `width`. */
function columnsOf(values: Float64Array, width: number, from: number, to: number): Float64Array {
  if (from === 0 && to === width) return values;
  const rows = values.length / width;
  const part = new Float64Array(rows * (to - from));
  for (let row = 0; row < rows; row++)
    part.set(values.subarray(row * width + from, row * width + to), row * (to - from));
  return part;
}
