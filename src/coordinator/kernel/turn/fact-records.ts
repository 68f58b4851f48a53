/** The records that the facts of a turn imply: the lists of open batches and requeued runs, and results that no runner reported. */
import type { Fact, JobClaimed, JobEnded } from '../../../../machines/protocol.ts';
import { reportedResult } from '../records/to-resource.ts';
import { keys } from '../storage/keys.ts';
import type { Turn } from './turn.ts';

/** The record of a requeued run. */
export interface RequeueRecord {
  lastRunner: string;
  sinceMs: number;
}

/** Adds the records that the facts of a turn imply. */
export function addFactRecords(facts: readonly Fact[], turn: Turn): void {
  for (const fact of facts) addFactRecord(fact, turn);
}

/** A requeued run is claimed again, or ends without a claim. */
export const leavesTheQueue = (fact: Fact): fact is JobClaimed | JobEnded =>
  (fact.type === 'job.claimed' && fact.requeued) ||
  (fact.type === 'job.ended' && fact.from === 'Pending' && fact.touched);

function addFactRecord(fact: Fact, turn: Turn): void {
  if (leavesTheQueue(fact)) turn.put(keys.requeue(fact.jobId), null);
  switch (fact.type) {
    case 'batch.opened':
    case 'batch.extended':
      turn.put(keys.open(fact.batchId), '');
      break;
    case 'batch.ended':
      turn.put(keys.open(fact.batchId), null);
      break;
    case 'job.requeued': {
      const entry: RequeueRecord = { lastRunner: fact.runnerId, sinceMs: fact.now };
      turn.put(keys.requeue(fact.jobId), JSON.stringify(entry));
      break;
    }
    case 'job.ended':
      writeUnreportedResult(fact, turn);
      break;
    default:
  }
}

/** Writes the result of a job that the coordinator itself ended, by its time limit or its losses. */
function writeUnreportedResult({ jobId, to, error, startedAtMs, now }: JobEnded, turn: Turn): void {
  // Only a report completes a job, and it has put the result.
  if (to === 'Completed' || to === 'Cancelled' || turn.isPut(keys.result(jobId))) return;
  const result = reportedResult(jobId, undefined, error ?? to, now - (startedAtMs ?? now));
  turn.put(keys.result(jobId), JSON.stringify(result));
}
