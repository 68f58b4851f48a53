/** A job that takes the result of a finished one with the same key: the changes of its context, and its fact. Pure. */
import type { JobHistoryState } from '../../src/contract/types.ts';
import { jobEnded, type JobContext } from '../job-context.ts';
import type { JobEnded, JobEvent } from '../protocol.ts';

type Reuse = Extract<JobEvent, { type: 'REUSE' }>;

/** The event of the two transitions of a reuse. */
function reuseOf(event: JobEvent): Reuse {
  if (event.type !== 'REUSE') throw new Error(`${event.type} takes no result`);
  return event;
}

/** The job has the result of another one. */
export function takeResult(event: JobEvent): Partial<JobHistoryState> {
  const { from, endedAtMs, code, error, now } = reuseOf(event);
  return { completedAtMs: now, error, reusedFrom: from, reusedEndedAtMs: endedAtMs, reusedCode: code };
}

/** The end of a job by the result of another one. */
export function jobReused(c: JobContext, event: JobEvent): JobEnded {
  const { now, error, code, identity, index, telemetry, outcomes, lookUps } = reuseOf(event);
  const fact = jobEnded(c, now, 'Pending', error === undefined ? 'Completed' : 'Failed', error, telemetry);
  fact.reused = true;
  fact.code = code;
  if (identity !== undefined) fact.identity = identity;
  if (index !== undefined) fact.index = index;
  if (outcomes !== undefined) fact.outcomes = outcomes;
  if (lookUps !== undefined) fact.lookUps = lookUps;
  if (error !== undefined) fact.terminated = true;
  return fact;
}
