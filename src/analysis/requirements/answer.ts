/** The shape of a judged requirement. */
import type { Warning } from '../warning.ts';
import type { CoursePoint } from './course.ts';
import type { Look, TerminatedRule, Verdict } from '../../contract/types.ts';

/** While runs are open, the counts are those of the complete prefix; of a settled sequential test, those at its decision. */
export interface RequirementAnswer {
  name: string;
  output: string;
  condition: string;
  probability: number;
  confidence: number;
  terminated: TerminatedRule;
  look: Look;
  passed: number;
  failed: number;
  unknown: number;
  /** passed + failed + unknown. */
  judged: number;
  /** passed / (passed + failed); null without such runs. */
  estimate: number | null;
  /** Two-sided, for display. */
  wilson: [low: number, high: number] | null;
  /** One-sided, unknown runs counted against each; see `oneSidedBounds`. */
  lower: number;
  upper: number;
  verdict: Verdict;
  /** `certain`: whatever the open runs do. `sequential`: by the sequential test. Null once every run is terminal, or while undecided. */
  settled: 'certain' | 'sequential' | null;
  settled_at_run_id: number | null;
  /** Null where the requirement is looked at once. */
  log_e_met: number | null;
  log_e_violated: number | null;
  /** For `not-shown`: how many further runs, all passing, would show it. */
  more_clean_runs: number | null;
  /** For `open`: how many of the next runs, all passing, are enough. */
  needed_clean_runs: number | null;
  /** While runs are open: how many more failures leave `met` within reach; below 0 it is out of reach of this study. */
  failures_left: number | null;
  warnings: Warning[];
  sentence: string;
}

/** A verdict with the course that led to it. */
export interface JudgedRequirement extends RequirementAnswer {
  course: CoursePoint[];
}
