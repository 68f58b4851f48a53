/** The parts of a judgement that depend on the batch: whether it is judged, its limits, and the state that was stored last. */
import { dependenceWarnings, stoppedWarnings, unfinishedWarningsOf } from '../../analysis/table/header.ts';
import type { Clock } from '../../base/clock.ts';
import { SLICE_MS } from '../../base/event-loop-share.ts';
import type { Warning } from '../../analysis/warning.ts';
import type { RequirementVerdict, Uuid } from '../../contract/types.ts';
import { isDamage } from '../../domain/errors.ts';
import type { DesignMethod } from '../../domain/study/design-method.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { jobsByStatus } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { StudyJudgement, VerdictsRecord } from './study-judgement.ts';

/** The state of a judgement that was stored last. */
export interface StoredState {
  /** Length of the prefix. */
  prefix: number;
  /** Names of the settled requirements. */
  settled: readonly string[];
  isStopped: boolean;
}

/** Whether runs of a batch are judged: it has requirements on runs that are one sample, or a rule at which it stops. */
export const isJudged = ({ context: { requirements = 0, stopWhen } }: BatchState): boolean =>
  requirements > 0 || stopWhen !== undefined;

/** The state that a judgement stores, or that it was opened with. A judgement that is made again from the first run has stored more than it has. */
export function storedOf(judgement: StudyJudgement, record?: VerdictsRecord): StoredState {
  const names = judgement.study.requirements.map((it) => it.name);
  const settled = names.filter((_, at) => record?.requirements[at]?.verdict != null);
  const isNew = judgement.prefix >= (record?.judged ?? 0);
  return {
    prefix: Math.max(judgement.prefix, record?.judged ?? 0),
    settled: isNew ? judgement.settledNames : settled,
    isStopped: judgement.isStopped,
  };
}

/** The names of the requirements that are the same in both judgements. */
export function keptRequirements(before: StudyJudgement, after: StudyJudgement): ReadonlySet<string> {
  const known = new Set(before.study.requirements.map((it) => JSON.stringify(it)));
  return new Set(after.study.requirements.filter((it) => known.has(JSON.stringify(it))).map((it) => it.name));
}

/** The limits that the requirements of a study share. */
export function limitsOf(
  method: DesignMethod,
  state: BatchState | undefined,
  { stoppedAfter }: Pick<StudyJudgement, 'stoppedAfter'>,
): Warning[] {
  if (stoppedAfter !== undefined) return [...stoppedWarnings(stoppedAfter), ...dependenceWarnings(method)];
  if (state === undefined) return dependenceWarnings(method);
  const { Pending, Claimed, Running, Cancelled: cancelled } = jobsByStatus(state);
  const open = Pending + Claimed + Running;
  return [...unfinishedWarningsOf({ of: state.context.totalJobs, open, cancelled }), ...dependenceWarnings(method)];
}

/** The stored verdicts of a batch. Damaged ones are reported and computed again: they follow from its runs. */
export function readVerdicts(
  { store, failed }: { store: Pick<Store, 'get'>; failed: (error: unknown) => void },
  batchId: Uuid,
): VerdictsRecord | undefined {
  try {
    const stored = store.get(keys.verdicts(batchId));
    return stored === undefined ? undefined : (JSON.parse(stored) as VerdictsRecord);
  } catch (error) {
    if (!isDamage(error)) throw error;
    failed(error);
    return undefined;
  }
}

/** The verdicts on the requirements of an open study. At most some milliseconds of them are computed; some may be a little older. */
export function latestVerdicts(
  { judgement, method }: { judgement: StudyJudgement; method: DesignMethod },
  state: BatchState,
  clock: Pick<Clock, 'monotonicMs'>,
): RequirementVerdict[] {
  const startedMs = clock.monotonicMs();
  const limits = limitsOf(method, state, judgement);
  return judgement.study.requirements.map((_, at) => {
    const known = judgement.latest(at);
    const isLate = clock.monotonicMs() - startedMs >= SLICE_MS;
    return known !== undefined && isLate ? known : judgement.answer(at, limits);
  });
}
