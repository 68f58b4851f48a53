/** The judgement of one study while it runs, and when its state is stored. */
import type { DesignMethod } from '../../domain/study/design-method.ts';
import type { RunSelection } from '../../domain/runs/run-selection.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import type { StoredState } from './batch-part.ts';
import type { StudyJudgement } from './study-judgement.ts';

/** Runs that are judged before the state is stored: a restart reads at most as many of the prefix again. */
const STORE_EVERY = 1_000;

export interface Entry {
  judgement: StudyJudgement;
  /** The runs of the study; its submission is not kept, which may be large. */
  selection: RunSelection;
  method: DesignMethod;
  /** The latest committed state of the batch. */
  state(): BatchState | undefined;
  /** True once the runs that ended before this coordinator started are added. */
  isRead: boolean;
  isEnded: boolean;
  isRunning: boolean;
  /** The state that was stored last. */
  stored: StoredState;
}

/** True when no run is left to judge, or has to be. */
export const isOver = ({ judgement, isEnded, isRead }: Entry): boolean => isEnded && isRead && judgement.isDone;

/** True when the state is to be stored before a further run is judged. */
export function isDue({ judgement, stored }: Entry): boolean {
  if (!judgement.isBetweenRuns) return false;
  if (judgement.isStopped && !stored.isStopped) return true;
  return judgement.prefix - stored.prefix >= STORE_EVERY || judgement.settled > stored.settled.length;
}
