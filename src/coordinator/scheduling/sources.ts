/** The questions of the scheduler about actors, studies, runners and pools. `live-queries.ts` answers them. */
import type { BatchContext } from '../../../machines/batch.ts';
import type { RunnerCapabilities, Uuid } from '../../contract/types.ts';
import type { FilePlaces } from './batches/file-places.ts';
import type { SitePools } from './site-pools.ts';

export interface SchedulerSources {
  /** Returns true when the job has a record. Called only for batches with runs that were cancelled one by one. */
  isTouched(id: Uuid): boolean;
  /** Returns the run id at an index among the runs of a batch. */
  runAt(batch: BatchContext, index: number): number;
  /** Returns true when another runner than `notThis` could take a run of this batch now. */
  isOtherFree(batch: BatchContext, notThis: string, now: number): boolean;
  /** Returns the runner of the run that this run of an audit repeats; undefined when it is not known any more. */
  originalRunner(audit: BatchContext, runId: number): string | undefined;
  /** Returns true when another runner than `notThis` is connected, takes work and is large enough for a run of this batch. */
  isOtherConnected(batch: BatchContext, notThis: string, now: number): boolean;
  /** Returns true when a run of the batch that starts now ends before `endsAtMs`; undefined: no end. */
  isInTime(batch: BatchContext, now: number, endsAtMs: number | undefined): boolean;
  /** Returns where the files of the runs of an extraction are; undefined where its submission is missing or damaged. */
  filePlaces(batch: BatchContext): FilePlaces | undefined;
  /** Returns the index of a run among the runs of a batch; undefined when it has none. */
  indexOf(batch: BatchContext, runId: number): number | undefined;
  /** Returns true when the settings of the runner refuse nothing that the study of the batch sets. */
  isAllowed(batch: BatchContext, capabilities: RunnerCapabilities): boolean;
  /** Returns true when no further run of the owner may start today; absent: no budgets. */
  isBudgetUsed?: ((owner: string | undefined) => boolean) | undefined;
  /** The pools of the coordinator; undefined: none. */
  pools?: SitePools | undefined;
}
