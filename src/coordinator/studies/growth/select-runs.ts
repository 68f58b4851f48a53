/**
 * Selection of the runs of a batch by their states, failures, requirements and numbers. The records are read from a view of the
 * store in slices of the event loop, and the result costs what its ranges cost.
 */
import { reasonOf } from '../../../domain/runs/run-end.ts';
import { endingConditions } from '../../../domain/study/condition.ts';
import { outcomeOf, parseRequirement, type ParsedRequirement } from '../../../analysis/requirements/requirement.ts';
import { CLASS_CODES, runClassOf } from '../../../analysis/table/run-class.ts';
import { closestMatch } from '../../../base/text/closest-match.ts';
import type { BatchSubmission, JobRecord, JobStatus, RunSelect, StoredResult, Uuid } from '../../../contract/types.ts';
import { jobId, runIdOf } from '../../../domain/ids.ts';
import { numericOutputs } from '../../../domain/runs/outputs.ts';
import { appendRun, type RunRange } from '../../../domain/runs/run-ranges.ts';
import { RunSelection } from '../../../domain/runs/run-selection.ts';
import { isTerminal, type BatchState } from '../../kernel/actors/actor-kinds.ts';
import { idOf, keys, ofBatch } from '../../kernel/storage/keys.ts';
import { refuse } from './derive.ts';
import type { StoreView } from '../../kernel/storage/store.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';

interface SelectionParts {
  share: EventLoopShare;
}

/** A touched run as far as a selection looks at it. */
interface RunFacts {
  jobId: Uuid;
  runId: number;
  status: JobStatus;
  /** The reason of its last attempt. */
  reason: string | null;
  /** It has the result of another run. */
  isReused: boolean;
  record: JobRecord;
}

type Predicate = (run: RunFacts) => boolean;

const CHUNK = 500;
/** Untouched runs that are added in one step. */
const STEP = 10_000;

/**
 * The runs of a batch that a request selects, as of the view. `selection`: the runs of the batch.
 * @throws SimbatchError `invalid-request` for a selection that the study does not have, and for one without runs
 */
export async function selectRuns(
  parts: SelectionParts,
  view: StoreView,
  batch: BatchState,
  { submission, selection: held }: { submission: BatchSubmission; selection: RunSelection },
  select: RunSelect,
): Promise<RunSelection> {
  const among = select.run_ids === undefined ? held : namedRuns(select.run_ids, held);
  const predicate = predicateOf(view, submission, select);
  if (predicate === undefined && among.count > 0) return among;
  const takesUntouched =
    batch.context.cancelRequested &&
    select.states?.includes('Cancelled') === true &&
    select.failure_kind === undefined &&
    select.requirement === undefined;
  const selected = predicate && (await matchingRuns(parts, view, batch, among, predicate, takesUntouched));
  if (selected !== undefined && selected.count > 0) return selected;
  const which = select.run_ids === undefined ? `of the ${held.count} runs of the study` : 'of the runs in run_ids';
  return refuse({ pointer: '/select', detail: `selects no run: ${which}, none is ${described(select)}` });
}

function described({ states, failure_kind: kind, requirement }: RunSelect): string {
  const parts = [
    ...(states === undefined ? [] : [states.length === 0 ? 'in an empty list of states' : states.join(' or ')]),
    ...(kind === undefined ? [] : [`a failure of the kind ${kind}`]),
    ...(requirement === undefined ? [] : [`a failure of the requirement "${requirement}"`]),
  ];
  return parts.length === 0 ? 'left' : parts.join(' and ');
}

function namedRuns(text: string, held: RunSelection): RunSelection {
  const named = RunSelection.parse(text);
  if (typeof named === 'string') return refuse({ pointer: '/select/run_ids', detail: named });
  const among = named.intersection(held);
  if (among.count === named.count) return among;
  const { first } = named.ranges.find((range) => !isHeld(range, among))!;
  const missing = named.count - among.count;
  return refuse({
    pointer: '/select/run_ids',
    detail: `has ${missing} ${missing === 1 ? 'run' : 'runs'} that the study does not hold, in the part that begins with run ${first}; select runs of the study`,
  });
}

/** True when all runs of the range are in the selection. */
function isHeld(range: RunRange, selection: RunSelection): boolean {
  const count = Math.floor((range.last - range.first) / range.step) + 1;
  return selection.indexFrom(range.last + 1) - selection.indexFrom(range.first) === count;
}

/** Returns undefined when the numbers of the runs alone decide. */
function predicateOf(
  view: StoreView,
  submission: BatchSubmission,
  { states, failure_kind: kind, requirement: name }: RunSelect,
): Predicate | undefined {
  const parts: Predicate[] = [];
  if (states !== undefined) {
    const wanted = new Set<JobStatus>(states);
    parts.push(({ status }) => wanted.has(status));
  }
  if (kind !== undefined) parts.push(({ status, reason }) => runClassOf(status, reason) === kind);
  if (name !== undefined) parts.push(failing(view, submission, requirementNamed(submission, name)));
  return parts.length === 0 ? undefined : (run) => parts.every((part) => part(run));
}

function requirementNamed({ requirements = [] }: BatchSubmission, name: string): ParsedRequirement {
  const requirement = requirements.find((it) => it.name === name);
  if (requirement !== undefined) {
    const parsed = parseRequirement(requirement, requirements);
    return typeof parsed === 'string'
      ? refuse({ pointer: '/select/requirement', detail: `is not usable: ${parsed}` })
      : parsed;
  }
  const names = requirements.map((it) => it.name);
  const meant = closestMatch(name, names);
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`;
  const known = names.length === 0 ? 'the study has no requirements' : `the study has ${names.join(', ')}`;
  return refuse({ pointer: '/select/requirement', detail: `is ${JSON.stringify(name)}${hint}; ${known}` });
}

/** The runs that fail a requirement, by the same rule as its verdict. */
function failing(view: StoreView, submission: BatchSubmission, requirement: ParsedRequirement): Predicate {
  const hasRules = endingConditions(submission.config.early_termination).length > 0;
  return ({ jobId: id, status, reason }) => {
    const code = CLASS_CODES[runClassOf(status, reason)];
    const record = code === CLASS_CODES.ok ? view.get(keys.result(id)) : undefined;
    const result = record === undefined ? undefined : (JSON.parse(record) as StoredResult);
    const isLossy = hasRules && (result?.telemetry?.lost ?? 0) > 0;
    const values = result === undefined ? undefined : numericOutputs(result);
    return outcomeOf(requirement, code, (output) => values?.get(output) ?? Number.NaN, isLossy) === 'fail';
  };
}

/** The runs among these that match. `takesUntouched`: so do those without a record, which are Cancelled. */
async function matchingRuns(
  parts: SelectionParts,
  view: StoreView,
  batch: BatchState,
  among: RunSelection,
  predicate: Predicate,
  takesUntouched: boolean,
): Promise<RunSelection> {
  const ranges: RunRange[] = [];
  let next = 0;
  const addUntouchedBefore = async (end: number): Promise<void> => {
    for (; takesUntouched && next < end; next += 1) {
      if (next % STEP === 0) await parts.share.slice();
      appendRun(ranges, among.nth(next));
    }
    next = end;
  };
  for await (const part of terminalRuns(parts, view, batch, among)) {
    for (const run of part) {
      const index = among.indexFrom(run.runId);
      if (next < index) await addUntouchedBefore(index);
      next = index + 1;
      if (isTerminal(run.status) && predicate(run)) appendRun(ranges, run.runId);
    }
  }
  await addUntouchedBefore(among.count);
  return RunSelection.ofRanges(ranges);
}

/** The runs of a batch that have a record and are among these, ascending, in parts that each fit into a slice. */
export async function* terminalRuns(
  parts: SelectionParts,
  view: StoreView,
  { context: { batchId } }: BatchState,
  among: RunSelection,
): AsyncGenerator<RunFacts[]> {
  const [first, last] = [among.ranges[0], among.ranges.at(-1)];
  if (first === undefined || last === undefined) return;
  const range = {
    ...ofBatch('job', batchId),
    gte: keys.job(jobId(batchId, first.first)),
    lt: `${keys.job(jobId(batchId, last.last))} `,
  };
  for await (const chunk of view.entries(range, { chunkSize: CHUNK })) {
    const wanted = chunk.filter(([key]) => among.indexOf(runIdOf(idOf(key))) !== undefined);
    yield* parts.share.mapped(wanted, ([key, record]): RunFacts => {
      const job = JSON.parse(record) as JobRecord;
      const id = idOf(key);
      return {
        jobId: id,
        runId: runIdOf(id),
        status: job.value,
        reason: reasonOf(job),
        isReused: job.reusedFrom !== undefined,
        record: job,
      };
    });
  }
}
