/**
 * The coordinator's interface, as `http/` uses it: derived from the table of operations. The promise of a change resolves
 * after the change is on disk; the promise of a reading resolves to data that is on disk.
 */
import type { EventLoopShare } from '../base/event-loop-share.ts';
import { histories, manifest, table } from './answers/operations.ts';
import { budgets } from './budgets/budgets.ts';
import { ActingTurns } from './kernel/turn/acting-turns.ts';
import { cancelBatch, cancelJob } from './studies/cancel.ts';
import { claim } from './runs/claims.ts';
import { demand } from './runs/demand.ts';
import { deleteBatch } from './studies/deletions.ts';
import { forgetRunner, signOff } from './pool/departures.ts';
import { findings } from './reads/findings.ts';
import { launchers, reportLauncher } from './pool/launcher-reports.ts';
import { auditBatch } from './studies/growth/audit.ts';
import { auditAnswer } from './reads/audit-answer.ts';
import { extractions } from './reads/extractions.ts';
import { extendBatch } from './studies/growth/extend.ts';
import { extractBatch } from './studies/growth/extract.ts';
import { rerunBatch } from './studies/growth/rerun.ts';
import { notifications } from './notifications/list.ts';
import { pauseBatch, releaseBatch, resumeBatch } from './studies/flow.ts';
import { batchResults } from './reads/results.ts';
import { batches, jobs } from './reads/listings.ts';
import { appendRound, closeBatch } from './rounds/append.ts';
import { evaluate } from './rounds/evaluate.ts';
import { checkRounds, roundDetail as round, roundByKey, roundResults, rounds } from './rounds/read.ts';
import { drain, heartbeat, poolHistory, register, resume } from './pool/runners.ts';
import {
  batchHistory,
  batchOwner,
  batchWithDurations as batch,
  codeVersions,
  job,
  jobHistory,
  runner,
  runners,
  samples,
  studyCode,
  submission,
} from './reads/resources.ts';
import { jobResult } from './kernel/records/results.ts';
import { jobHistories } from './histories/read.ts';
import { complete, fail, reports, start } from './runs/reports.ts';
import { jobFile } from './files/read-file.ts';
import { jobFiles } from './files/run-files.ts';
import { liveTelemetry } from './files/runner/live-telemetry.ts';
import { filePart, fileRequests } from './files/runner/serve-files.ts';
import { beginCheckpoint, completeCheckpoint, openCheckpoint } from './files/checkpoints/checkpoints.ts';
import { parentFiles } from './files/parent-files.ts';
import { beginUpload, completeUpload } from './files/uploads.ts';
import { objectStoreState } from './files/object-store/store-watch.ts';
import { backup, exportSnapshot } from './reads/export.ts';
import { answer } from './reads/study-answer.ts';
import { reuseForecast } from './reuse/forecast.ts';
import { submit } from './studies/submit.ts';
import { continueStudy } from './studies/continue.ts';
import { amendJudgement, judgement } from './studies/amend.ts';
import { keepView, removeView, views } from './studies/views.ts';

/** Each operation is a function of the parts that it takes and its arguments. Errors are `SimbatchError`s: docs/api.md lists the codes. */
const OPERATIONS = {
  submit,
  reuseForecast,
  continueStudy,
  batch,
  batches,
  batchHistory,
  batchOwner,
  batchResults,
  findings,
  submission,
  studyCode,
  codeVersions,
  samples,
  extendBatch,
  rerunBatch,
  extractBatch,
  extractions,
  parentFiles,
  auditBatch,
  auditAnswer,
  cancelBatch,
  pauseBatch,
  resumeBatch,
  releaseBatch,
  closeBatch,
  deleteBatch,
  appendRound,
  rounds,
  round,
  roundByKey,
  roundResults,
  checkRounds,
  evaluate,
  judgement,
  amendJudgement,
  views,
  keepView,
  removeView,
  job,
  jobs,
  jobResult,
  jobHistory,
  jobHistories,
  jobFiles,
  jobFile,
  liveTelemetry,
  cancelJob,
  runner,
  runners,
  poolHistory,
  notifications,
  budgets,
  drain,
  resume,
  forgetRunner,
  demand,
  launchers,
  reportLauncher,
  register,
  heartbeat,
  claim,
  start,
  complete,
  fail,
  reports,
  fileRequests,
  filePart,
  beginUpload,
  completeUpload,
  objectStoreState,
  openCheckpoint,
  beginCheckpoint,
  completeCheckpoint,
  signOff,
  answer,
  histories,
  manifest,
  table,
  exportSnapshot,
  backup,
};

type Operations = typeof OPERATIONS;
type PartsOf<F> = F extends (parts: infer P, ...args: never[]) => unknown ? P : never;
type Intersection<U> = (U extends unknown ? (it: U) => void : never) extends (it: infer I) => void ? I : never;

/** The parts that the operations take, all together. */
export type OperationParts = Intersection<PartsOf<Operations[keyof Operations]>>;

type Bound<F> = F extends (parts: never, ...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;

/** The operations of one coordinator. */
export type CoordinatorApi = { [K in keyof Operations]: Bound<Operations[K]> } & {
  /** Divides the event loop: answers that are long to write are written in its slices. */
  readonly share: EventLoopShare;
  /** The same operations on behalf of a client: its studies have it as owner, and histories name it. */
  as(actor: string): CoordinatorApi;
};

type Operation = (parts: OperationParts, ...args: unknown[]) => unknown;

/** Returns an operation whose error is always a rejection. Its own promise is passed on: another around it takes three microtasks. */
function bind(parts: OperationParts, operation: Operation): (...args: unknown[]) => Promise<unknown> {
  return (...args) => {
    try {
      const value = operation(parts, ...args);
      return value instanceof Promise ? value : Promise.resolve(value);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}

/** Clients whose operations are kept, so that none are made for each request. */
const MOST_CLIENTS = 1_000;

/** Returns the interface of a coordinator. */
export function apiOf(parts: OperationParts): CoordinatorApi {
  const bound = Object.entries(OPERATIONS).map(([name, operation]) => [name, bind(parts, operation as Operation)]);
  const clients = new Map<string, CoordinatorApi>();
  const as = (actor: string): CoordinatorApi => {
    let api = clients.get(actor);
    if (api === undefined) {
      if (clients.size >= MOST_CLIENTS) clients.clear();
      api = apiOf({ ...parts, turns: new ActingTurns(parts.turns, actor) });
      clients.set(actor, api);
    }
    return api;
  };
  return { ...(Object.fromEntries(bound) as CoordinatorApi), share: parts.share, as };
}
