/**
 * Reports: a runner reports the outcome of an attempt. A report of an attempt that is not current changes nothing; the exact
 * repeat of an accepted report gets the first answer again, since its reply may have been lost.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { HISTORY_MESSAGE_LIMIT } from '../../domain/rules.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf } from '../../domain/ids.ts';
import type {
  CompleteRequest,
  FailRequest,
  Job,
  JobStatus,
  OutcomeReport,
  Report,
  ReportsRequest,
  StartRequest,
  StoredResult,
  Uuid,
} from '../../contract/types.ts';
import { pathInAttempt } from '../../domain/files/file-path.ts';
import { ownErrorOf } from '../../domain/runs/failure-groups.ts';
import { encodeRead, type LookUps } from '../../domain/runs/look-ups.ts';
import { conditionVariables } from '../../domain/study/condition.ts';
import type { JobEvent } from '../../../machines/protocol.ts';
import { runTelemetry, type RunTelemetry } from '../../../machines/telemetry-tally.ts';
import { keys } from '../kernel/storage/keys.ts';
import { toJob, reportedResult } from '../kernel/records/to-resource.ts';
import { encodeResult } from '../kernel/actors/job-codec.ts';
import { isTerminal, type JobState } from '../kernel/actors/actor-kinds.ts';
import { expectUpload } from '../files/object-store/outbox.ts';
import type { ObjectStorePart } from '../files/run-place.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import type { Judgements } from '../judgement/judgements.ts';
import { areStored, putHistories, reportedHistories, type StoredHistories } from '../histories/reported.ts';
import { doubtedEvent, isDoubted } from './doubted-code.ts';
import { requirePinnedCode } from './pinned-code.ts';
import { batchOrThrow, jobOrThrow, runnerOrThrow, sameInstanceOrThrow } from '../kernel/records/lookup.ts';

/** Characters of histories after which a turn ends: those of one run with the most histories of the most times, 2 ms of work. */
const TURN_CHARACTERS = 524_288;

interface ReportParts extends ObjectStorePart {
  share: EventLoopShare;
  turns: Turns;
  studyCache: StudyCache;
  judgements: Judgements;
}

export const start = (parts: ReportParts, jobId: Uuid, { runner_id, ...request }: StartRequest): Promise<Job> =>
  single(parts, runner_id, { type: 'start', job_id: jobId, ...request });

export const complete = (
  parts: ReportParts,
  jobId: Uuid,
  { runner_id, attempt, result }: CompleteRequest,
): Promise<Job> => single(parts, runner_id, { type: 'complete', job_id: jobId, attempt, result });

export const fail = (parts: ReportParts, jobId: Uuid, { runner_id, ...request }: FailRequest): Promise<Job> =>
  single(parts, runner_id, { type: 'fail', job_id: jobId, ...request });

function single(parts: ReportParts, runnerId: string, report: Report): Promise<Job> {
  return parts.turns.run(report.type, (turn) => {
    const job = judge(parts, turn, runnerId, report);
    const batch = batchOrThrow(turn, batchIdOf(report.job_id));
    return toJob(job, parts.studyCache.of(batch.context));
  });
}

/** The outcome of one report among many: the job's status, or the refusal. */
export type ReportJudgement = { job_id: Uuid; status: JobStatus } | { job_id: Uuid; refusal: SimbatchError };

/**
 * Applies many reports in one turn; with histories as many turns as they are long, in slices of the event loop. Returns one judgement per report, in
 * their order, when all are on the disk.
 */
export async function reports(
  parts: ReportParts,
  runnerId: string,
  { instance, reports: all }: ReportsRequest,
): Promise<ReportJudgement[]> {
  const judged: Promise<ReportJudgement[]>[] = [];
  for (const some of forTurns(all)) {
    const later = judged.length === 0 ? undefined : parts.share.slice();
    if (later !== undefined) await later;
    const one = parts.turns.run('reports', (turn) => {
      sameInstanceOrThrow(runnerOrThrow(turn, runnerId), instance);
      return some.map((report) => judgementOf(parts, turn, runnerId, report));
    });
    // The next turn may be waited for when this one fails.
    one.catch(() => {});
    judged.push(one);
  }
  return (await Promise.all(judged)).flat();
}

/** The reports in pieces for a turn each: a turn ends after so many characters of histories. */
function forTurns(all: readonly Report[]): readonly (readonly Report[])[] {
  const pieces: Report[][] = [[]];
  let characters = 0;
  for (const report of all) {
    if (characters >= TURN_CHARACTERS) {
      pieces.push([]);
      characters = 0;
    }
    pieces.at(-1)!.push(report);
    if (!isOutcome(report)) continue;
    for (const text of Object.values(report.result?.histories ?? {})) characters += text.length;
  }
  return pieces;
}

function judgementOf(parts: ReportParts, turn: Turn, runnerId: string, report: Report): ReportJudgement {
  try {
    return { job_id: report.job_id, status: judge(parts, turn, runnerId, report).value };
  } catch (error) {
    // A refusal has changed nothing. Any other error fails the whole turn.
    if (!(error instanceof SimbatchError)) throw error;
    return { job_id: report.job_id, refusal: error };
  }
}

/** Applies a report, recognizes a repeat, or refuses it. */
function judge(parts: ReportParts, turn: Turn, runnerId: string, report: Report): JobState {
  const jobId = report.job_id;
  const before = jobOrThrow(turn, jobId);
  if (report.type === 'start') requirePinnedCode(turn, before, runnerId, report);
  const histories = historiesOf(parts, turn, report);
  const reported = eventOf(report, runnerId, turn.now, measuredOf(parts, turn, report));
  const event = isOutcome(report) && isDoubted(report) ? doubtedEvent(turn, runnerId, report, reported) : reported;
  const after = turn.trySend('job', jobId, event);
  if (after === undefined) {
    if (isRepeat(parts, turn, before, runnerId, report, histories)) return before;
    throw refusal(before, runnerId, report);
  }
  if (isTerminal(after.value)) {
    const result = resultOf(parts, turn, report, turn.now - (after.context.startedAtMs ?? turn.now));
    if (result !== undefined) {
      const code = after.context.attempts.at(-1)?.code;
      if (code !== undefined) result.code = code;
      if (histories !== undefined) putHistories(turn, jobId, histories);
      turn.put(keys.result(jobId), encodeResult(expectUpload(parts, turn, { jobId, runnerId }, result)));
    }
  }
  return after;
}

/** The histories that a report has, checked before it changes anything. */
function historiesOf(parts: ReportParts, turn: Turn, report: Report): StoredHistories | undefined {
  if (!isOutcome(report) || report.result?.histories === undefined) return undefined;
  const { submission } = parts.studyCache.of(batchOrThrow(turn, batchIdOf(report.job_id)).context);
  return reportedHistories(submission.config, report);
}

const isOutcome = (report: Report): report is OutcomeReport => report.type === 'complete' || report.type === 'fail';

/** The members of a report that its batch counts or judges. */
interface Measured {
  telemetry?: RunTelemetry;
  outcomes?: string;
  lookUps?: LookUps;
}

/** Undefined where there is nothing to count or judge, as in most studies. */
function measuredOf(parts: ReportParts, turn: Turn, report: Report): Measured | undefined {
  if (!isOutcome(report)) return undefined;
  const telemetry = telemetryOf(parts, turn, report);
  const outcomes =
    report.type === 'complete' ? parts.judgements.outcomesOf(batchIdOf(report.job_id), report.result) : undefined;
  const lookUps = report.type === 'complete' ? lookUpsOf(parts, turn, report) : undefined;
  if (telemetry === undefined && outcomes === undefined && lookUps === undefined) return undefined;
  const measured: Measured = {};
  if (telemetry !== undefined) measured.telemetry = telemetry;
  if (outcomes !== undefined) measured.outcomes = outcomes;
  if (lookUps !== undefined) measured.lookUps = lookUps;
  return measured;
}

/** The look-ups of a run; undefined when its runner does not know them. */
function lookUpsOf(parts: ReportParts, turn: Turn, { job_id, result }: OutcomeReport): LookUps | undefined {
  const { parameters_read: read, parameters_asked: asked } = result ?? {};
  if (read === undefined) return undefined;
  if (read === 'all') return { read: '' };
  const { names } = parts.studyCache.of(batchOrThrow(turn, batchIdOf(job_id)).context).sampler;
  const lookUps = { read: encodeRead(names, read) };
  return asked === undefined ? lookUps : { ...lookUps, asked };
}

function eventOf(report: Report, runnerId: string, now: number, measured: Measured | undefined): JobEvent {
  const { attempt } = report;
  switch (report.type) {
    case 'start':
      return report.code === undefined
        ? { type: 'START', runnerId, attempt, now }
        : { type: 'START', runnerId, attempt, code: report.code, now };
    case 'complete':
      return measured === undefined
        ? { type: 'COMPLETE', runnerId, attempt, now }
        : { type: 'COMPLETE', runnerId, attempt, ...measured, now };
    case 'fail': {
      const ownError = ownErrorOf(report.reason, report.error_message);
      return {
        type: 'FAIL',
        runnerId,
        attempt,
        reason: report.reason,
        message: report.error_message,
        ...(ownError === undefined ? {} : { ownError }),
        ...(measured?.telemetry === undefined ? {} : { telemetry: measured.telemetry }),
        now,
      };
    }
    case 'hand_back':
      return { type: 'UNCLAIM', runnerId, attempt, now };
    case 'release': {
      const message = `runner ${runnerId}: ${report.message}`;
      return { type: 'INTERRUPT', runnerId, attempt, why: report.reason ?? 'runner-stopped', message, now };
    }
  }
}

/** The telemetry of the run as its batch counts it; undefined when the runner did not report it. */
function telemetryOf(parts: ReportParts, turn: Turn, report: OutcomeReport): RunTelemetry | undefined {
  if (report.result?.telemetry === undefined) return undefined;
  const { submission } = parts.studyCache.of(batchOrThrow(turn, batchIdOf(report.job_id)).context);
  return runTelemetry(report.result, conditionVariables(submission.config.early_termination));
}

function resultOf(parts: ReportParts, turn: Turn, report: Report, executionMs: number): StoredResult | undefined {
  if (!isOutcome(report)) return undefined;
  const error = report.type === 'fail' ? report.error_message : null;
  const result = reportedResult(report.job_id, report.result, error, executionMs);
  const lookUps = lookUpsOf(parts, turn, report);
  if (lookUps !== undefined) result.read = lookUps.read;
  const histories = Object.keys(report.result?.histories ?? {}).length;
  if (histories > 0) result.history_count = histories;
  return result;
}

function isRepeat(
  parts: ReportParts,
  turn: Turn,
  { value, context: c }: JobState,
  runnerId: string,
  report: Report,
  histories: StoredHistories | undefined,
): boolean {
  const record = c.attempts.find((it) => it.n === report.attempt);
  if (record === undefined || record.runner !== runnerId) return false;
  if (isOutcome(report) && isDoubted(report) && record.reason === 'code-changed') return true;
  switch (report.type) {
    case 'start':
      // Only while the attempt is current: a runner that lost the first answer must not start an attempt that is over.
      return value === 'Running' && record.n === c.attempt && c.runnerId === runnerId;
    case 'hand_back':
    case 'release':
      return record.outcome === 'released';
    case 'complete':
      return (
        record.outcome === 'completed' &&
        isSameResult(parts, turn, report) &&
        areStored(turn, report.job_id, histories ?? [])
      );
    case 'fail':
      // The coordinator's own deadline may have ended the attempt first.
      if (record.outcome === 'timeout' && report.reason === 'timeout') return true;
      return (
        record.outcome === 'failed' &&
        record.reason === report.reason &&
        record.message === report.error_message.slice(0, HISTORY_MESSAGE_LIMIT)
      );
  }
}

/** Compares with the stored result without what the coordinator adds, the execution time and the code, and as before its upload. */
function isSameResult(parts: ReportParts, turn: Turn, report: Report & { type: 'complete' }): boolean {
  const text = turn.read(keys.result(report.job_id));
  if (text === undefined) return false;
  const reported = JSON.parse(JSON.stringify(resultOf(parts, turn, report, 0))) as StoredResult;
  const { upload, code: _, ...stored } = JSON.parse(text) as StoredResult;
  return isDeepStrictEqual(upload === undefined ? stored : asReported(stored, reported), reported);
}

/** A stored result with the addresses that its files had on the runner before they were uploaded. */
function asReported(stored: StoredResult, reported: StoredResult): StoredResult {
  const beforeUpload = (address: string, known: string | undefined): string =>
    known !== undefined && address.startsWith('s3://') && pathInAttempt(address) === pathInAttempt(known)
      ? known
      : address;
  const { telemetry_data } = stored;
  return {
    ...stored,
    output_files: stored.output_files.map((it, at) => beforeUpload(it, reported.output_files[at])),
    ...(telemetry_data == null
      ? {}
      : { telemetry_data: beforeUpload(telemetry_data, reported.telemetry_data ?? undefined) }),
  };
}

function refusal({ value, context: c }: JobState, runnerId: string, { attempt, job_id, type }: Report): SimbatchError {
  if (attempt !== c.attempt || runnerId !== c.runnerId) {
    const current =
      c.runnerId === undefined ? 'no attempt is current' : `attempt ${c.attempt} by runner "${c.runnerId}" is`;
    return new SimbatchError(
      'stale-attempt',
      `attempt ${attempt} of run ${job_id} by runner "${runnerId}" is not current: the run is ${value} and ${current}`,
    );
  }
  if (type === 'start' && isTerminal(value)) {
    return new SimbatchError('stale-attempt', `attempt ${attempt} of run ${job_id} is over: the run is ${value}`);
  }
  return new SimbatchError('illegal-transition', `run ${job_id} is ${value}, which does not allow "${type}"`);
}
