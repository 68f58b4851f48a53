/** The verdicts on disk, compared with those that the runs on disk give: counted here anew, along the complete prefix. */
import type { BatchContext } from '../../machines/batch.ts';
import { CellsProgress, type CellsState } from '../../src/analysis/requirements/cells/cells-progress.ts';
import { type ParsedRequirement, parseRequirement } from '../../src/analysis/requirements/requirement.ts';
import { SequentialTest } from '../../src/analysis/requirements/sequential-test.ts';
import { precisionsOf } from '../../src/analysis/precision/planning.ts';
import { isPrecise, sequenceOf } from '../../src/analysis/precision/precision.ts';
import type { BatchSubmission, Requirement } from '../../src/contract/types.ts';
import { isTerminal, type BatchState, type JobState } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { isJudged } from '../../src/coordinator/judgement/batch-part.ts';
import type { VerdictsRecord } from '../../src/coordinator/judgement/study-judgement.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../src/domain/ids.ts';
import { selectedRuns } from '../../src/domain/runs/run-selection.ts';
import { amended } from '../../src/domain/identity/judgement.ts';
import { cellsOf } from '../../src/domain/scenarios/cells.ts';
import { replicateRunsOf } from '../../src/domain/sampling/replicates.ts';
import { decodeSubmission } from './decoded.ts';
import { insist } from './acknowledged.ts';
import { missOf } from './runners.ts';

type Jobs = ReadonlyMap<string, JobState>;

interface Count {
  passed: number;
  failed: number;
  unknown: number;
  verdict: 'met' | 'violated' | null;
  settled_at_run_id: number | null;
}

/** The state of a requirement after these ended runs, by the definition of the sequential test. */
function judgedAlone(
  { probability, confidence = 0.95 }: Requirement,
  runs: readonly (readonly [number, string])[],
): Count {
  const test = new SequentialTest(probability, confidence);
  const count: Count = { passed: 0, failed: 0, unknown: 0, verdict: null, settled_at_run_id: null };
  for (const [runId, status] of runs) {
    if (count.verdict !== null) break;
    if (status === 'Completed' && missOf(runId) < 50) count.passed += 1;
    else if (status === 'Completed' || status === 'Terminated') count.failed += 1;
    else count.unknown += 1;
    const { passed, failed, unknown } = count;
    if (test.logMet(passed, failed + unknown) >= test.threshold) count.verdict = 'met';
    else if (test.logViolated(passed + unknown, failed) >= test.threshold) count.verdict = 'violated';
    if (count.verdict !== null) count.settled_at_run_id = runId;
  }
  return count;
}

/** Likewise in the cells of a study: by the class of the product, which has tests of its own by the definition. */
const judgedInCells =
  ({ config }: BatchSubmission) =>
  (requirement: Requirement, runs: readonly (readonly [number, string])[]): CellsState => {
    const parsed = parseRequirement({ ...requirement, look: 'continuous' }) as ParsedRequirement;
    const progress = new CellsProgress(parsed, requirement, cellsOf(config)!);
    for (const [runId, status] of runs) {
      const ended = missOf(runId) < 50 && status === 'Completed' ? 'pass' : 'fail';
      progress.take(status === 'Completed' || status === 'Terminated' ? ended : 'unknown', runId);
    }
    return progress.toJSON();
  };

/** The runs of the complete prefix with their statuses; `Terminated` for an early termination. */
function prefixOf(c: BatchContext, submission: BatchSubmission, jobs: Jobs): [runId: number, status: string][] {
  const prefix: [number, string][] = [];
  for (const runId of selectedRuns(submission.config, c.totalJobs).runIds()) {
    const state = jobs.get(jobId(c.batchId, runId));
    if (state === undefined && !c.cancelRequested) break;
    if (state !== undefined && !isTerminal(state.value)) break;
    const isTerminated = state?.context.attempts.at(-1)?.reason === 'early_termination';
    prefix.push([runId, state === undefined ? 'Cancelled' : isTerminated ? 'Terminated' : state.value]);
  }
  return prefix;
}

/** @throws Violation when a study was stopped at another run than its prefix says, or its stored verdicts are others. */
export function checkVerdicts(
  disk: ReadonlyMap<string, string>,
  { value, context: c }: BatchState,
  { jobs }: { jobs: Jobs },
): void {
  const isOver = isTerminal(value);
  if ((c.requirements ?? 0) === 0 && c.stopWhen === undefined) return;
  const submission = amended(decodeSubmission(disk.get(keys.submission(c.batchId)) as string).submission, c);
  const { requirements = [], policy } = submission;
  const prefix = prefixOf(c, submission, jobs);
  const isContinuous = policy?.stop_when !== undefined;
  const judged = submission.config.scenarios === undefined ? judgedAlone : judgedInCells(submission);
  if (policy?.stop_when === 'precise') checkPrecision(disk, { value, context: c }, submission, prefix);
  else if (c.settledAtRunId !== undefined) {
    insist(isContinuous, () => `batch ${c.batchId} was stopped without a rule`);
    const counts = requirements.map((it) => judged(it, prefix));
    const at = Math.max(...counts.map((it) => it.settled_at_run_id ?? Infinity));
    insist(
      at === c.settledAtRunId,
      () => `batch ${c.batchId} was stopped at run ${c.settledAtRunId}, its prefix settles at ${at}`,
    );
  }
  const stored = disk.get(keys.verdicts(c.batchId));
  if (stored === undefined) return;
  const record = JSON.parse(stored) as VerdictsRecord;
  insist(
    record.judged <= prefix.length,
    () => `batch ${c.batchId} has judged ${record.judged} of ${prefix.length} runs`,
  );
  if (!isContinuous) return;
  const isSettled = policy.stop_when === 'settled' && record.requirements.every((it) => it.verdict !== null);
  const at = Math.max(...record.requirements.map((it) => it.settled_at_run_id ?? 0));
  // One write stores the verdicts and stops the study.
  insist(!isSettled || isOver, () => `batch ${c.batchId} is settled at run ${at} and was not stopped`);
  const counts = requirements.map((it) => judged(it, prefix.slice(0, record.judged)));
  const [shown, expected] = [record.requirements, counts].map((it) => JSON.stringify(it));
  insist(shown === expected, () => `batch ${c.batchId} has the verdicts ${shown}, and its runs give ${expected}`);
}

/** @throws Violation when an ended study is not judged to its end. */
export function checkJudged(disk: ReadonlyMap<string, string>, state: BatchState): void {
  if (!isJudged(state)) return;
  const stored = disk.get(keys.verdicts(state.context.batchId));
  const { verdicts } = JSON.parse(stored ?? '{}') as Partial<VerdictsRecord>;
  insist(verdicts !== undefined, () => `batch ${state.context.batchId} has ended, and is not judged: ${stored}`);
}

/** The precisions after these ended runs: the sequences of the study, taken in order and looked at after each whole replicate. */
function reachedAlong(submission: BatchSubmission, prefix: readonly (readonly [number, string])[]): number | null {
  const sequences = precisionsOf(submission).map((precision) => ({ precision, sequence: sequenceOf(precision) }));
  const size = replicateRunsOf(submission.config.monte_carlo) ?? 1;
  for (const [at, [runId, status]] of prefix.entries()) {
    if (status === 'Cancelled') return null;
    for (const { precision, sequence } of sequences) {
      const value = precision.holds === undefined ? missOf(runId) : Number(missOf(runId) < 50);
      sequence.take(status === 'Completed' ? value : Number.NaN);
    }
    const areReached = sequences.every(({ precision, sequence }) => isPrecise(precision, sequence.interval()));
    if ((at + 1) % size === 0 && areReached) return runId;
  }
  return null;
}

/** @throws Violation when a study was stopped at another run than the one at which its prefix reaches its precisions, or not there. */
function checkPrecision(
  disk: ReadonlyMap<string, string>,
  { value, context: c }: BatchState,
  submission: BatchSubmission,
  prefix: readonly [number, string][],
): void {
  const stop = reachedAlong(submission, prefix);
  const at = c.settledAtRunId;
  insist(
    at === undefined || at === stop,
    () => `batch ${c.batchId} was stopped at run ${at}, its prefix is precise at ${stop}`,
  );
  const stored = disk.get(keys.verdicts(c.batchId));
  if (stored === undefined) return;
  const record = JSON.parse(stored) as VerdictsRecord;
  const { precision } = record;
  const expected = reachedAlong(submission, prefix.slice(0, record.judged));
  // One write stores the state and stops the study.
  insist(
    expected === null || isTerminal(value),
    () => `batch ${c.batchId} is precise at run ${expected} and was not stopped`,
  );
  insist(
    precision === undefined || precision.stop_run_id === expected,
    () => `batch ${c.batchId} has the stop ${precision?.stop_run_id}, and its runs give ${expected}`,
  );
}
