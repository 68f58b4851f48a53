/** Cancels a job or a batch. Cancelling a cancelled one again succeeds; other terminal states refuse. */
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf } from '../../domain/ids.ts';
import type { Batch, Job, Uuid } from '../../contract/types.ts';
import { toBatch, toJob } from '../kernel/records/to-resource.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import { batchOrThrow, jobOrThrow } from '../kernel/records/lookup.ts';

interface CancelParts {
  turns: Turns;
  studyCache: StudyCache;
}

export function cancelBatch(parts: CancelParts, batchId: Uuid, reason?: string): Promise<Batch> {
  return parts.turns.run('cancel-batch', (turn) => {
    const { value } = batchOrThrow(turn, batchId);
    if (value !== 'Cancelled') {
      if (!turn.accepts('batch', batchId, { type: 'CANCEL', reason, now: turn.now })) {
        throw new SimbatchError('illegal-transition', `batch ${batchId} is ${value} and cannot be cancelled any more`);
      }
      turn.send('batch', batchId, { type: 'CANCEL', reason, now: turn.now });
      turn.deliverFacts();
    }
    return toBatch(batchOrThrow(turn, batchId), (key) => turn.read(key));
  });
}

export function cancelJob(parts: CancelParts, jobId: Uuid, reason?: string): Promise<Job> {
  return parts.turns.run('cancel-job', (turn) => {
    const { value } = jobOrThrow(turn, jobId);
    if (value !== 'Cancelled') {
      if (!turn.accepts('job', jobId, { type: 'CANCEL', reason, now: turn.now })) {
        throw new SimbatchError('illegal-transition', `job ${jobId} is ${value} and cannot be cancelled any more`);
      }
      turn.send('job', jobId, { type: 'CANCEL', reason, now: turn.now });
    }
    const batch = batchOrThrow(turn, batchIdOf(jobId));
    return toJob(jobOrThrow(turn, jobId), parts.studyCache.of(batch.context));
  });
}
