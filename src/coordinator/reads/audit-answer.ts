/**
 * The answer of an audit: its runs beside the original ones. Both are read by key in slices of the event loop, so it costs what
 * the drawn runs cost, whatever the size of the audited batch.
 */
import { AuditTally, differingMembers, type AuditedRun } from '../../analysis/compare/audit.ts';
import { runClassOf } from '../../analysis/table/run-class.ts';
import type { AuditAnswer, JobRecord, RunnerCapabilities, StoredResult, Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { jobId } from '../../domain/ids.ts';
import { outputsOf } from '../../domain/runs/outputs.ts';
import { reasonOf } from '../../domain/runs/run-end.ts';
import { decodeRunner, isTerminal } from '../kernel/actors/actor-kinds.ts';
import { versionOf } from '../kernel/records/study-version.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store, StoreView } from '../kernel/storage/store.ts';
import { isComparable } from '../studies/growth/audit.ts';
import type { ListingParts } from './listings.ts';

/** The latest answers, so that a client that polls costs nothing while no run ends. */
const MAX_ANSWERS = 20;
const latest = new WeakMap<Store, Map<string, Promise<AuditAnswer>>>();

/**
 * The comparison of an audit with the runs that it repeats, as of now.
 * @throws SimbatchError `unknown-batch`; `illegal-transition` for a batch that is not an audit
 */
export async function auditAnswer(parts: ListingParts, batchId: Uuid): Promise<AuditAnswer> {
  const state = readBatch(parts.store, batchId);
  const { parent } = state.context;
  if (parent?.relation !== 'audit') {
    const why = parent === undefined ? 'it was submitted' : `it is a ${parent.relation}`;
    throw new SimbatchError(
      'illegal-transition',
      `study ${batchId} is not a spot check: ${why}; ask for one of its children with the relation "audit"`,
    );
  }
  const answers = latest.get(parts.store) ?? new Map<string, Promise<AuditAnswer>>();
  latest.set(parts.store, answers);
  const key = `${batchId} ${versionOf(state)}`;
  const known = answers.get(key);
  const answer = known ?? comparison(parts, batchId);
  answers.delete(key);
  answers.set(key, answer);
  if (answers.size > MAX_ANSWERS) answers.delete(answers.keys().next().value as string);
  answer.catch(() => answers.delete(key));
  return answer;
}

async function comparison(parts: ListingParts, batchId: Uuid): Promise<AuditAnswer> {
  const view = parts.store.snapshot();
  try {
    const { context } = readBatch(view, batchId);
    const audited = context.parent!.batchId;
    const { selection } = parts.studyCache.of(context, { read: (key) => view.get(key) });
    // The records of a deleted batch remain for a while.
    const hasOriginals = view.get(keys.batch(audited)) !== undefined;
    const tally = new AuditTally();
    let open = 0;
    let notCompared = 0;
    for await (const runId of parts.share.paced(selection.runIds())) {
      const after = runOf(view, jobId(batchId, runId));
      if (after === 'open' && !context.cancelRequested) {
        open += 1;
        continue;
      }
      const before = hasOriginals ? runOf(view, jobId(audited, runId)) : 'none';
      if (typeof before === 'string' || typeof after === 'string') notCompared += 1;
      else tally.add(runId, before, after);
    }
    const { runners, ...result } = tally.result();
    const answer = {
      batch_id: batchId,
      audited,
      runs: selection.count,
      open,
      not_compared: notCompared,
      ...result,
      runners: runners.map((it) => ({ ...it, capabilities: capabilityDifferences(view, it.before, it.after) })),
    };
    return { ...answer, sentence: sentenceOf(answer) };
  } finally {
    await view.close();
  }
}

/** Returns a run with an end of its own, or the reason why there is no such run. */
function runOf(view: StoreView, id: Uuid): AuditedRun | 'open' | 'none' {
  const record = view.get(keys.job(id));
  if (record === undefined) return 'open';
  const job = JSON.parse(record) as JobRecord;
  if (!isTerminal(job.value)) return 'open';
  const reason = reasonOf(job);
  const runner = runnerOf(view, job);
  const result = view.get(keys.result(id));
  if (!isComparable(job.value, reason) || runner === undefined || result === undefined) return 'none';
  const { metadata } = JSON.parse(result) as StoredResult;
  return { class: runClassOf(job.value, reason), runner, outputs: outputsOf(metadata) };
}

/** The runner that executed a run, or the run whose result it has; empty where the record of that one was deleted. */
function runnerOf(view: StoreView, { attempts, reusedFrom }: JobRecord): string | undefined {
  if (reusedFrom === undefined) return attempts.at(-1)?.runner;
  const origin = view.get(keys.job(reusedFrom));
  return origin === undefined ? '' : (JSON.parse(origin) as JobRecord).attempts.at(-1)?.runner;
}

/** The stated capabilities in which two runners differ now. */
function capabilityDifferences(view: StoreView, before: string, after: string) {
  const [left, right] = [before, after].map((id): Partial<RunnerCapabilities> | undefined => {
    const record = view.get(keys.runner(id));
    return record === undefined ? undefined : decodeRunner(record).context.capabilities;
  });
  if (left === undefined || right === undefined || before === after) return [];
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort() as (keyof RunnerCapabilities)[];
  return differingMembers(
    names,
    (name) => left[name as keyof RunnerCapabilities],
    (name) => right[name as keyof RunnerCapabilities],
  );
}

function sentenceOf({ compared, differing, open, same_runner: same }: Omit<AuditAnswer, 'sentence'>): string {
  const runs = (count: number): string => `${count} ${count === 1 ? 'run' : 'runs'}`;
  const rest = open === 0 ? '' : `; ${runs(open)} open`;
  if (compared === 0) return `no run is compared yet${rest}`;
  const where = same === 0 ? 'on another runner' : `${runs(same)} on the same runner`;
  if (differing === 0) return `all ${runs(compared)} compared give the same outputs, to the bit (${where})${rest}`;
  return `${differing} of ${runs(compared)} compared give other outputs (${where})${rest}`;
}
