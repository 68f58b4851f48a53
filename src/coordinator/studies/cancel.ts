/** Cancels a job or a batch. Cancelling a cancelled one again succeeds; other terminal states refuse. */
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf } from '../../domain/ids.ts';
import type { Batch, Job, Uuid } from '../../contract/types.ts';
import type { Core } from '../core.ts';
import { toBatch, toJob } from '../kernel/records/to-resource.ts';
import type { BatchState, JobState } from '../kernel/actors/actor-kinds.ts';
import type { Turn } from '../kernel/turn/turn.ts';

/** Returns the state of a batch. @throws SimbatchError `unknown-batch` */
export function batchOrThrow(turn: Pick<Turn, 'state'>, batchId: Uuid): BatchState {
  const state = turn.state('batch', batchId);
  if (state === undefined) throw new SimbatchError('unknown-batch', `there is no batch ${batchId}`);
  return state;
}

/** Returns the state of a job. @throws SimbatchError `unknown-job` */
export function jobOrThrow(turn: Pick<Turn, 'state'>, jobId: Uuid): JobState {
  const state = turn.state('job', jobId);
  if (state === undefined) throw new SimbatchError('unknown-job', `there is no job ${jobId}`);
  return state;
}

export function cancelBatch(core: Core, batchId: Uuid, reason?: string): Promise<Batch> {
  return core.turns.run('cancel-batch', (turn) => {
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

export function cancelJob(core: Core, jobId: Uuid, reason?: string): Promise<Job> {
  return core.turns.run('cancel-job', (turn) => {
    const { value } = jobOrThrow(turn, jobId);
    if (value !== 'Cancelled') {
      if (!turn.accepts('job', jobId, { type: 'CANCEL', reason, now: turn.now })) {
        throw new SimbatchError('illegal-transition', `job ${jobId} is ${value} and cannot be cancelled any more`);
      }
      turn.send('job', jobId, { type: 'CANCEL', reason, now: turn.now });
    }
    const batch = batchOrThrow(turn, batchIdOf(jobId));
    return toJob(jobOrThrow(turn, jobId), core.studyCache.of(batch.context));
  });
}
