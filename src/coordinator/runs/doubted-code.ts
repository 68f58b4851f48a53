/** Outcomes of runs whose code changed, or may have changed, while they loaded it: the run has no code, and a study that pins its code executes it again. */
import { batchIdOf } from '../../domain/ids.ts';
import type { OutcomeReport } from '../../contract/types.ts';
import type { JobEvent } from '../../../machines/protocol.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';
import type { Turn } from '../kernel/turn/turn.ts';

export const CHANGED_MESSAGE =
  'its code changed while it loaded it, or could not be looked at, and the study pins its code';

/** True when the outcome does not say which code made it. */
export const isDoubted = ({ result }: OutcomeReport): boolean => result?.code_changed === true;

/** Returns the event of such an outcome, or `event` after the code of the attempt was taken from its history. */
export function doubtedEvent(turn: Turn, runnerId: string, report: OutcomeReport, event: JobEvent): JobEvent {
  const { job_id: jobId, attempt } = report;
  const { pinsCode } = batchOrThrow(turn, batchIdOf(jobId)).context;
  const own = { runnerId, attempt, now: turn.now };
  if (pinsCode !== undefined) return { type: 'INTERRUPT', ...own, why: 'code-changed', message: CHANGED_MESSAGE };
  // A refusal shows with the event itself.
  turn.trySend('job', jobId, { type: 'DOUBT_CODE', ...own });
  return event;
}
