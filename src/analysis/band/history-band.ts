/** The question about a band of curves: its answer, with what limits it. */
import type { HistoryBand } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { limitedToStop } from '../stop.ts';
import type { AnsweredStudy } from '../table/answered-study.ts';
import { type AnswerHeader, dependenceWarnings, rowsHeader } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { batchOf, classOf, completePrefix, countClasses, runIdOf, runsOf } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';
import { shareInPercent } from '../wording.ts';
import { type BandRequest, type CurveBand, bandOf } from './band.ts';
import { variableLimits } from './limits.ts';
import type { QuantileCurve, ExtremeCurve } from './points.ts';
import { type Selection, selectionOf } from './selection.ts';
import { type BandSource, fromHistory, fromTelemetry, historyOf } from './sources.ts';
import { numbersOrNull } from './telemetry.ts';

/** The values of parameters that a query leaves out. */
export const BAND_DEFAULTS = { quantiles: [0.05, 0.5, 0.95], confidence: 0.95, coverage: 0.9 } as const;

export interface BandQuery extends Partial<BandRequest> {
  /** The name of a history, or a telemetry variable. */
  history: string;
  /** Only the runs for which this expression holds. */
  where?: string;
}

/**
 * The band of a history, or of a telemetry variable where the study has no such history.
 * @throws RangeError for a name that the study does not have; WhereError for an expression that cannot be used
 */
export async function historyBand(study: AnsweredStudy, query: BandQuery): Promise<HistoryBand> {
  const { history: name, where } = query;
  const request = { ...BAND_DEFAULTS, ...query };
  const selection = selectionOf(limitedToStop(study.table, study.submission), where);
  const history = historyOf(study, name);
  const source =
    history === undefined ? await fromTelemetry(study, selection, name) : fromHistory(study, selection, history);
  const band = await bandOf(source.curves, request);
  const header = headerOf(selection, source, band);
  const reason = reasonOf(selection, source, header);
  const { tolerance } = band;
  const isNone = 'reason' in tolerance;
  return {
    ...header,
    warnings: [...header.warnings, ...warningsOf(selection, source)],
    history: name,
    ...source.members,
    unknown: source.runs.unknown.even + source.runs.unknown.odd,
    seconds: [...source.seconds],
    n: [...band.points.n],
    ended: [...band.points.ended],
    quantiles: band.points.quantiles.map(quantileOf),
    mean: numbersOrNull(band.points.mean),
    least: extremeOf(band.points.least),
    greatest: extremeOf(band.points.greatest),
    confidence: request.confidence,
    coverage: request.coverage,
    tolerance: isNone
      ? null
      : {
          lower: numbersOrNull(tolerance.lower),
          upper: numbersOrNull(tolerance.upper),
          runs: tolerance.n,
          rank: tolerance.rank,
          score: tolerance.score,
        },
    tolerance_reason: isNone ? tolerance.reason : null,
    runs_needed: isNone ? tolerance.runsNeeded : null,
    outlying: outlyingOf(selection, source, band),
    limits: variableLimits(source.members.variable, study.submission).limits,
    reason,
    sentence: sentenceOf(name, reason, header, source, band, request),
  };
}

const quantileOf = ({ p, value, lower, upper }: QuantileCurve): HistoryBand['quantiles'][number] => ({
  p,
  value: numbersOrNull(value),
  lower: numbersOrNull(lower),
  upper: numbersOrNull(upper),
});

const extremeOf = ({ value, runIds }: ExtremeCurve): HistoryBand['least'] => ({
  value: numbersOrNull(value),
  run_id: Array.from(runIds, (it) => (it === -1 ? null : it)),
});

function outlyingOf({ table }: Selection, { runs }: BandSource, { outlying }: CurveBand): HistoryBand['outlying'] {
  return outlying.map(({ row, score }) => {
    const place = runs.rows[row]!;
    const runId = runIdOf(table, place);
    return {
      run_id: runId,
      score: Number.isFinite(score) ? score : null,
      replay: `simbatch replay ${batchOf(table, place)}/${runId}`,
    };
  });
}

/** Used are the completed runs that have a value. */
function headerOf({ table }: Selection, { runs, exclusionOf }: BandSource, { valued }: CurveBand): AnswerHeader {
  const isUsed = new Uint8Array(table.rows);
  for (const [row, place] of runs.rows.entries()) isUsed[place] = valued[row]!;
  return rowsHeader(table, (row) => {
    const reason = exclusionOf(row);
    if (reason !== undefined || isUsed[row] === 1) return reason;
    return table.classes[row] === CLASS_CODES.ok ? 'no_value' : classOf(table, row);
  });
}

function warningsOf({ table }: Selection, { members: { source, sample, variable }, runs }: BandSource): Warning[] {
  const dependence = dependenceWarnings(table.method);
  if (source === 'history' || sample === null) return dependence;
  const message = `from the telemetry of ${runs.rows.length} runs, of ${sample.sampled} drawn from ${sample.drawn_from}: a history of ${variable} in the study has all runs`;
  return [{ code: 'drawn-runs', message }, ...dependence];
}

/** Why there is no band. */
function reasonOf({ table, selected }: Selection, { runs, members }: BandSource, header: AnswerHeader): string | null {
  const of = runsOf(table);
  if (header.n_used > 0) return null;
  if (of === 0) return 'the study has no runs yet';
  if (completePrefix(table) === 0)
    return `no run has ended before the first open one: ${countClasses(table).open} of ${plural(of, 'run')} are open`;
  if (!selected.includes(1)) return 'no run that has ended is selected';
  if (runs.rows.length > 0) return 'no completed run has a value';
  const unread = members.sample?.unread[0];
  if (unread !== undefined) return `no telemetry could be read; run ${unread.run_id}: ${unread.reason}`;
  return 'no selected run has completed';
}

/** `band of nz_g over 950 of 1000 runs at 501 points, 50 unknown; ...`. */
function sentenceOf(
  name: string,
  reason: string | null,
  { n_used: used, of }: AnswerHeader,
  { seconds, runs: { unknown } }: BandSource,
  { tolerance }: CurveBand,
  { confidence, coverage }: BandRequest,
): string {
  if (reason !== null) return `no band of ${name}: ${reason}`;
  const failed = unknown.even + unknown.odd;
  const beside = failed === 0 ? '' : `, ${failed} of unknown values beside them`;
  const whole =
    'reason' in tolerance
      ? `no tolerance band: ${tolerance.reason}`
      : `at confidence ${confidence} at least ${shareInPercent(coverage)} of future runs stay inside the tolerance band`;
  return `band of ${name} over ${used} of ${plural(of, 'run')} at ${plural(seconds.length, 'point')}${beside}; ${whole}`;
}
