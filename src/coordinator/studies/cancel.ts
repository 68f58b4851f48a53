/**
 * Cancels a job or a batch. Cancelling a cancelled one again succeeds; other terminal states refuse. The first of the studies that were submitted
 * together takes the others along, as far as they are open.
 */
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf } from '../../domain/ids.ts';
import type { Batch, Job, Uuid } from '../../contract/types.ts';
import { toBatch, toJob } from '../kernel/records/to-resource.ts';
import { byActor } from '../kernel/turn/acting-turns.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import { ledBy } from '../kernel/records/family.ts';
import { batchOrThrow, jobOrThrow } from '../kernel/records/lookup.ts';

interface CancelParts {
  turns: Turns;
  studyCache: StudyCache;
}

export function cancelBatch(parts: CancelParts, batchId: Uuid, reason?: string): Promise<Batch> {
  return parts.turns.run('cancel-batch', (turn) => {
    const read = (key: string): string | undefined => turn.read(key);
    const { value, context } = batchOrThrow(turn, batchId);
    const event = { type: 'CANCEL', reason, ...byActor(turn), now: turn.now } as const;
    const open = ledBy(read, context).filter((it) => turn.accepts('batch', it, event));
    if (open.length === 0 && value !== 'Cancelled')
      throw new SimbatchError('illegal-transition', `study ${batchId} is ${value} and cannot be cancelled any more`);
    for (const it of open) {
      turn.send('batch', it, event);
      turn.deliverFacts();
    }
    return toBatch(batchOrThrow(turn, batchId), read);
  });
}

export function cancelJob(parts: CancelParts, jobId: Uuid, reason?: string): Promise<Job> {
  return parts.turns.run('cancel-job', (turn) => {
    const { value } = jobOrThrow(turn, jobId);
    if (value !== 'Cancelled') {
      if (!turn.accepts('job', jobId, { type: 'CANCEL', reason, now: turn.now })) {
        throw new SimbatchError('illegal-transition', `run ${jobId} is ${value} and cannot be cancelled any more`);
      }
      turn.send('job', jobId, { type: 'CANCEL', reason, now: turn.now });
    }
    const batch = batchOrThrow(turn, batchIdOf(jobId));
    return toJob(jobOrThrow(turn, jobId), parts.studyCache.of(batch.context));
  });
}
