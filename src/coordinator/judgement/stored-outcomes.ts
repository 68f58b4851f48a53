/** The outcomes of runs that ended before the coordinator started, read from their records. */
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { JobRecord, Uuid } from '../../contract/types.ts';
import { jobId as jobIdOf, runIdOf } from '../../domain/ids.ts';
import type { RunSelection } from '../../domain/runs/run-selection.ts';
import { idOf, keys, ofBatch } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import { outcomesOfRecords, type Judged } from './outcomes.ts';
import type { StudyJudgement } from './study-judgement.ts';

/** A source of records: the store, or a view of it. */
interface Records {
  get(key: string): string | undefined;
}

/** The outcomes of a run that has ended; undefined while it is open. */
export function outcomesOnDisk(records: Records, judged: Judged, jobId: Uuid, record?: string): string | undefined {
  const job = record ?? records.get(keys.job(jobId));
  if (job === undefined) return undefined;
  return outcomesOfRecords(judged, JSON.parse(job) as JobRecord, () => records.get(keys.result(jobId)));
}

/**
 * Adds the runs after the judged prefix, in slices of the event loop, until `isStopped`. Runs that end meanwhile are added by their
 * facts; a run that is added twice counts once.
 */
export async function addStoredOutcomes(
  { store, share }: { store: Store; share: EventLoopShare },
  judgement: StudyJudgement,
  selection: RunSelection,
  isStopped: () => boolean,
): Promise<void> {
  if (judgement.isDone) return;
  const { study } = judgement;
  const view = store.snapshot();
  try {
    const first = selection.nth(judgement.prefix);
    const range = { ...ofBatch('job', study.batchId), gte: keys.job(jobIdOf(study.batchId, first)) };
    for await (const chunk of view.entries(range)) {
      for await (const [key, record] of share.paced(chunk)) {
        if (isStopped()) return;
        const index = selection.indexOf(runIdOf(idOf(key)));
        const outcomes = outcomesOnDisk(view, study, idOf(key), record);
        if (index !== undefined && outcomes !== undefined) judgement.add(index, outcomes);
      }
    }
  } finally {
    await view.close();
  }
}
