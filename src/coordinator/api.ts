/**
 * The coordinator's interface, as `http/` uses it: derived from the table of operations. The promise of a change resolves
 * after the change is on disk; the promise of a reading resolves to data that is on disk.
 */
import type { EventLoopShare } from '../base/event-loop-share.ts';
import type { Core } from './core.ts';
import { manifest, table } from './answers/operations.ts';
import { cancelBatch, cancelJob } from './studies/cancel.ts';
import { claim } from './runs/claims.ts';
import { demand } from './runs/demand.ts';
import { deleteBatch, forgetRunner, signOff } from './studies/deletions.ts';
import { findings } from './reads/findings.ts';
import { launchers, reportLauncher } from './pool/launcher-reports.ts';
import { auditBatch } from './studies/growth/audit.ts';
import { auditAnswer } from './reads/audit-answer.ts';
import { extendBatch } from './studies/growth/extend.ts';
import { rerunBatch } from './studies/growth/rerun.ts';
import { notifications } from './notifications/list.ts';
import { pauseBatch, releaseBatch, resumeBatch } from './studies/flow.ts';
import { batchResults } from './reads/results.ts';
import { batches, jobs } from './reads/listings.ts';
import { drain, heartbeat, poolHistory, register, resume } from './pool/runners.ts';
import {
  batchHistory,
  batchWithDurations as batch,
  job,
  jobHistory,
  jobResult,
  runner,
  runners,
  samples,
  studyCode,
  submission,
} from './reads/resources.ts';
import { complete, fail, reports, start } from './runs/reports.ts';
import { jobFile } from './files/read-file.ts';
import { jobFiles } from './files/run-files.ts';
import { liveTelemetry } from './files/runner/live-telemetry.ts';
import { filePart, fileRequests } from './files/runner/serve-files.ts';
import { beginCheckpoint, completeCheckpoint, openCheckpoint } from './files/checkpoints/checkpoints.ts';
import { beginUpload, completeUpload } from './files/uploads.ts';
import { backup, exportSnapshot } from './reads/export.ts';
import { answer } from './reads/study-answer.ts';
import { submit } from './studies/submit.ts';
import { keepView, removeView, views } from './studies/views.ts';

/** Each operation is a function of the core and its arguments. Errors are `SimbatchError`s: docs/api.md lists the codes. */
const OPERATIONS = {
  submit,
  batch,
  batches,
  batchHistory,
  batchResults,
  findings,
  submission,
  studyCode,
  samples,
  extendBatch,
  rerunBatch,
  auditBatch,
  auditAnswer,
  cancelBatch,
  pauseBatch,
  resumeBatch,
  releaseBatch,
  deleteBatch,
  views,
  keepView,
  removeView,
  job,
  jobs,
  jobResult,
  jobHistory,
  jobFiles,
  jobFile,
  liveTelemetry,
  cancelJob,
  runner,
  runners,
  poolHistory,
  notifications,
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
  openCheckpoint,
  beginCheckpoint,
  completeCheckpoint,
  signOff,
  answer,
  manifest,
  table,
  exportSnapshot,
  backup,
};

type Bound<F> = F extends (core: Core, ...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;

/** The operations of one coordinator. */
export type CoordinatorApi = { [K in keyof typeof OPERATIONS]: Bound<(typeof OPERATIONS)[K]> } & {
  /** Divides the event loop: answers that are long to write are written in its slices. */
  readonly share: EventLoopShare;
};

type Operation = (core: Core, ...args: unknown[]) => unknown;

/** Returns an operation whose error is always a rejection. Its own promise is passed on: another around it takes three microtasks. */
function bind(core: Core, operation: Operation): (...args: unknown[]) => Promise<unknown> {
  return (...args) => {
    try {
      const value = operation(core, ...args);
      return value instanceof Promise ? value : Promise.resolve(value);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}

/** Returns the interface of a coordinator. */
export function apiOf(core: Core): CoordinatorApi {
  const bound = Object.entries(OPERATIONS).map(([name, operation]) => [name, bind(core, operation as Operation)]);
  return { ...(Object.fromEntries(bound) as CoordinatorApi), share: core.share };
}
