/** The findings about runs that wait for a canary study, and words of those about canary runs. Pure. */
import type { Finding, JobStatus, Uuid } from '../../contract/types.ts';
import { shortId } from '../ids.ts';
import { plural } from '../plural.ts';
import { decisiveLine } from '../runs/failure-groups.ts';

/** The canary study that the runs of a study wait for. */
export interface CanaryStudy {
  batchId: Uuid;
  /** It was deleted, imported without it, or damage has lost it. */
  isGone: boolean;
  /** The first of its runs that has ended and is not Completed; absent while there is none. */
  failure?: CanaryFailure | undefined;
}

/** A run of a canary study that is not Completed. */
export interface CanaryFailure {
  runId: number;
  status: Extract<JobStatus, 'Failed' | 'Timeout' | 'Cancelled'>;
  /** Its error message, or the reason of its cancellation. */
  message: string | undefined;
}

type CanaryFinding = Omit<Finding, 'code'>;

/** The run of a canary study by its number. */
const ROLES = ['every input at its median', 'all inputs low', 'all inputs high'] as const;

const ENDS = { Failed: 'has failed', Timeout: 'exceeded its time limit', Cancelled: 'was cancelled' } as const;

/** Longer error messages are cut. */
const MOST_CHARACTERS = 200;

/** `the canary run with all inputs low has failed: thrust is too low`. */
function failureText({ runId, status, message }: CanaryFailure): string {
  const end = `the canary run with ${ROLES[runId] ?? `number ${runId}`} ${ENDS[status]}`;
  if (message === undefined || status === 'Timeout') return end;
  const line = status === 'Failed' ? decisiveLine(message) : message;
  return `${end}: ${line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line}`;
}

/** The finding after a canary study that has not passed, or is lost. `study`: the study that waits. */
export function studyFailed(study: Uuid, withheld: number, { batchId, isGone, failure }: CanaryStudy): CanaryFinding {
  const canary = shortId(batchId);
  const act = `cancel the study, correct the cause and submit a new one, or release its runs with \`simbatch release ${shortId(study)}\``;
  const why =
    failure !== undefined
      ? failureText(failure)
      : isGone
        ? `the canary study ${canary} has not passed, and does not exist any more`
        : `not every run of the canary study ${canary} has completed`;
  return {
    severity: 'blocked',
    message: `${why}; ${plural(withheld, 'run')} must wait`,
    remedy: isGone ? act : `see why with \`simbatch status ${canary}\`; then ${act}`,
    count: withheld,
    ...(isGone ? {} : { study: batchId }),
  };
}

/** The finding while a canary study is open. `study`: the study that waits. */
export const studyRunning = (study: Uuid, withheld: number, { batchId }: CanaryStudy): CanaryFinding => ({
  severity: 'waiting',
  message: `${plural(withheld, 'run')} must wait until every run of the canary study ${shortId(batchId)} has completed`,
  remedy: `wait; see what it waits for with \`simbatch status ${shortId(batchId)}\`; or release the runs with \`simbatch release ${shortId(study)}\``,
  count: withheld,
  study: batchId,
});

/** The canary runs that must complete, as the subject of a sentence. */
export const canaryRuns = (runs: number): string =>
  runs === 1 ? 'the canary run is' : runs === 2 ? 'both canary runs are' : `two thirds of the ${runs} canary runs are`;
