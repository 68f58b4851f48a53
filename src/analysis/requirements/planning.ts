/** How many runs a requirement takes, before any run: whether a study can meet what it requires. */
import type { BatchSubmission, SubmissionWarning } from '../../contract/types.ts';
import { cellCount, cellsOf } from '../../domain/scenarios/cells.ts';
import { moreCleanRuns } from '../special/exact-bounds.ts';
import { shareInPercent } from '../wording.ts';
import { samplesToMet } from './cells/pooled.ts';
import { parseRequirement, requirementsOf } from './requirement.ts';
import { SequentialTest } from './sequential-test.ts';

const MOST_FAILURES = 3;

export interface RunsNeeded {
  name: string;
  /** The runs with which it is met, by the number of failures among them: 0, 1, 2, 3. Null: more than can be computed. */
  runs_needed: (number | null)[];
  /** False where the runs of the study are too few even without a failure. */
  can_be_met: boolean;
  /** Present for the pooled share of cells: its runs are samples of all cells, of which the failures fail in every cell. */
  pooled?: true;
}

/** The part of a submission that the runs of its requirements follow from. */
type Planned = Pick<BatchSubmission, 'requirements' | 'policy'> & Partial<Pick<BatchSubmission, 'config'>>;

/** The runs that each requirement takes; `jobs`: the runs of the batch; of a study with scenarios each cell takes as many. A requirement that is not usable is left out, since it is a fault. */
export function runsNeeded(submission: Planned, jobs: number): RunsNeeded[] {
  const runs = runsOfCell(submission, jobs);
  // The bounds of such a study are not those of passing runs.
  if (submission.config?.adaptive?.algorithm === 'rare_event') return [];
  const requirements = requirementsOf(submission);
  return requirements.flatMap((requirement) => {
    const parsed = parseRequirement(requirement, requirements);
    if (typeof parsed === 'string') return [];
    const { name, probability, confidence, look } = parsed;
    const isPooled = requirement.in === 'pooled';
    const test = look === 'continuous' ? new SequentialTest(probability, confidence) : undefined;
    const runs_needed = Array.from({ length: MOST_FAILURES + 1 }, (_, failures) => {
      if (isPooled) return samplesToMet(failures, probability, confidence);
      const clean = test?.cleanRunsToMet(0, failures) ?? moreCleanRuns(0, failures, probability, confidence);
      return clean === null ? null : clean + failures;
    });
    const can_be_met = runs_needed[0] !== null && runs_needed[0]! <= runs;
    return [{ name, runs_needed, can_be_met, ...(isPooled ? { pooled: true as const } : {}) }];
  });
}

/** The runs of each cell of a study, which are all of them without scenarios. */
export const runsOfCell = ({ config }: Planned, jobs: number): number =>
  config === undefined ? jobs : Math.floor(jobs / cellCount(config));

/** `59 runs without a failure, 93 with 1, 124 with 2, 153 with 3`. */
export function neededText({ runs_needed: [none, ...others], pooled }: RunsNeeded): string {
  const more = others.map((it, at) => `${it ?? 'too many'} with ${at + 1}`);
  return [`${none ?? 'too many'} ${pooled === true ? 'samples' : 'runs'} without a failure`, ...more].join(', ');
}

/** The requirements that the runs of a study cannot meet. */
export function planningWarnings(submission: Planned, jobs: number): SubmissionWarning[] {
  const runs = runsOfCell(submission, jobs);
  const where = submission.config === undefined || cellsOf(submission.config) === undefined ? '' : ' in each cell';
  const requirements = submission.requirements ?? [];
  return runsNeeded(submission, jobs)
    .filter((it) => !it.can_be_met)
    .map((it) => {
      const at = requirements.findIndex(({ name }) => name === it.name);
      const { probability, confidence } = requirements[at]!;
      const wanted = `${shareInPercent(probability)} at ${shareInPercent(confidence ?? 0.95)} confidence`;
      return {
        code: 'requirement-cannot-be-met',
        pointer: `/requirements/${at}/probability`,
        detail: `${runs} ${runs === 1 ? 'run' : 'runs'}${where} cannot meet "${it.name}": ${wanted} takes ${neededText(it)}; raise the number of runs`,
      };
    });
}
