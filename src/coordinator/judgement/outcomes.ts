/** The outcomes of a run under the requirements and precisions of its study, from its end or from its records, as text. */
import { reasonOf } from '../../domain/runs/run-end.ts';
import type { JobEnded } from '../../../machines/protocol.ts';
import { type ParsedPrecision, valueUnder } from '../../analysis/precision/precision.ts';
import { type ParsedRequirement, outcomeOf } from '../../analysis/requirements/requirement.ts';
import { CLASS_CODES, type RunClass, runClassOf } from '../../analysis/table/run-class.ts';
import type { JobRecord, ReportedResult, StoredResult } from '../../contract/types.ts';
import { EXECUTION_SECS, executionSecsOf, numberOf, outputsOf } from '../../domain/runs/outputs.ts';
import { letterOf, outcomesText } from './pending-outcomes.ts';

/** The part of a study that decides the outcomes of its runs. */
export interface Judged {
  requirements: readonly ParsedRequirement[];
  precisions: readonly ParsedPrecision[];
  /** Early-termination conditions are active, so that lost telemetry may have hidden that one was met. */
  hasConditions: boolean;
  /** The revision of the judgement; undefined for that of the submission. */
  revision?: number | undefined;
}

type Measured = Pick<ReportedResult, 'metadata' | 'execution_secs' | 'execution_time_secs' | 'telemetry'>;

/** The outcomes of a completed run. */
export function outcomesOfResult(judged: Judged, result: Measured): string {
  const outputs = outputsOf(result.metadata);
  const isLost = judged.hasConditions && (result.telemetry?.lost ?? 0) > 0;
  const valueOf = (name: string): number =>
    numberOf(outputs.get(name)) ??
    (name === EXECUTION_SECS ? numberOf(executionSecsOf(result)) : undefined) ??
    Number.NaN;
  return outcomesOfRun(judged, 'ok', valueOf, isLost);
}

/** The outcomes of a run that ended otherwise than Completed. */
export const outcomesOfClass = (judged: Judged, runClass: Exclude<RunClass, 'ok' | 'open'>): string =>
  outcomesOfRun(judged, runClass, () => Number.NaN, false);

function outcomesOfRun(
  { requirements, precisions }: Judged,
  runClass: Exclude<RunClass, 'open'>,
  valueOf: (output: string) => number,
  isLost: boolean,
): string {
  const code = CLASS_CODES[runClass];
  const letters = requirements.map((it) => letterOf(outcomeOf(it, code, valueOf, isLost))).join('');
  if (precisions.length === 0) return letters;
  const values = precisions.map((it) => valueUnder(it, code, valueOf, isLost));
  return outcomesText(letters + letterOf(runClass === 'cancelled' ? 'excluded' : 'pass'), values);
}

/** The outcomes of a completed run for the fact of its end: under a judgement that was amended, with its revision. */
export function outcomesForFact(judged: Judged, result: Measured): string {
  const outcomes = outcomesOfResult(judged, result);
  return judged.revision === undefined ? outcomes : `${judged.revision}:${outcomes}`;
}

/** The outcomes of a run by the fact of its end; undefined for a Completed run whose fact has none, or those under another judgement. */
export function outcomesOfFact(judged: Judged, { to, terminated, outcomes }: JobEnded): string | undefined {
  if (to === 'Completed') {
    const [, revision, own] = /^(?:([0-9]+):)?(.*)$/s.exec(outcomes ?? '') ?? [];
    return outcomes !== undefined && revision === judged.revision?.toString() ? own : undefined;
  }
  return outcomesOfClass(judged, to === 'Cancelled' ? 'cancelled' : terminated === true ? 'terminated' : 'crashed');
}

/** The outcomes of a run by its records; undefined while it is open. `result` is read only for a Completed run. */
export function outcomesOfRecords(
  judged: Judged,
  job: JobRecord,
  result: () => string | undefined,
): string | undefined {
  const runClass = runClassOf(job.value, reasonOf(job));
  if (runClass === 'open') return undefined;
  if (runClass !== 'ok') return outcomesOfClass(judged, runClass);
  const text = result();
  return text === undefined
    ? outcomesOfClass(judged, 'crashed')
    : outcomesOfResult(judged, JSON.parse(text) as StoredResult);
}
