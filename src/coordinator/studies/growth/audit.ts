/** Audits: a part of the finished runs of a study again, drawn by a seed, on other runners where there are any. */
import type { AuditRequest, AuditResponse, JobStatus, Uuid } from '../../../contract/types.ts';
import { runClassOf } from '../../../analysis/table/run-class.ts';
import { auditOf } from '../../../domain/study/growth.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { appendRun, type RunRange } from '../../../domain/runs/run-ranges.ts';
import { RunSelection } from '../../../domain/runs/run-selection.ts';
import { openUniform, philox, TAG_AUDIT } from '../../../domain/sampling/philox.ts';
import type { BatchState } from '../../kernel/actors/actor-kinds.ts';
import { readBatch } from '../../kernel/records/read-batch.ts';
import type { StoreView } from '../../kernel/storage/store.ts';
import { createDerived, refuse, rememberedAnswer, type GrowthOptions, type DeriveParts } from './derive.ts';
import { terminalRuns } from './select-runs.ts';

/** Runs that are drawn in one step. */
const STEP = 10_000;

/**
 * Creates a batch that repeats a part of the finished runs.
 * @throws SimbatchError `unknown-batch`; `invalid-request` when no run has finished
 */
export async function auditBatch(
  parts: DeriveParts,
  batchId: Uuid,
  { fraction, seed, name }: AuditRequest,
  options: GrowthOptions = {},
): Promise<AuditResponse> {
  const remembered = await rememberedAnswer(parts, options);
  if (remembered !== undefined) return remembered as AuditResponse;
  if (!(fraction > 0)) refuse({ pointer: '/fraction', detail: `is ${fraction}; it must be above 0 and at most 1` });
  await parts.groupCommit.durable();
  const view = parts.store.snapshot();
  try {
    const batch = readBatch(view, batchId);
    const source = { read: (key: string) => view.get(key) };
    const study = parts.studyCache.of(batch.context, source);
    const used = seed ?? drawnSeed(parts);
    const selection = await drawnRuns(parts, view, batch, study.selection, fraction, used);
    await parts.share.slice();
    const whole = parts.studyCache.wholeSubmission(batch.context, source);
    const submission = auditOf(whole, study.selection.count, selection, name);
    if ('pointer' in submission) return refuse(submission);
    const answer = { relation: 'audit' as const, seed: used };
    await parts.share.slice();
    return await createDerived(parts, batchId, { submission, selection, relation: 'audit', answer }, options);
  } finally {
    await view.close();
  }
}

const drawnSeed = ({ clock }: DeriveParts): number => {
  const bytes = clock.random(4);
  return (((bytes[0]! & 0x7f) << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) % INT32_MAX;
};

/** True for a run whose end is its own: it was neither cancelled nor lost with a runner. */
export function isComparable(status: JobStatus, reason: string | null): boolean {
  const runClass = runClassOf(status, reason);
  return runClass === 'ok' || runClass === 'terminated' || runClass === 'crashed' || runClass === 'timeout';
}

/** The part of the comparable runs that the seed draws: at least one, the same for the same finished runs. */
async function drawnRuns(
  parts: DeriveParts,
  view: StoreView,
  batch: BatchState,
  held: RunSelection,
  fraction: number,
  seed: number,
): Promise<RunSelection> {
  const finished: number[] = [];
  for await (const part of terminalRuns(parts, view, batch, held)) {
    for (const { runId, status, reason } of part) if (isComparable(status, reason)) finished.push(runId);
  }
  if (finished.length === 0) return refuse({ pointer: '', detail: 'draws no run: no run of the batch has finished' });
  const ranges: RunRange[] = [];
  let wanted = Math.max(1, Math.round(fraction * finished.length));
  const block = new Int32Array(4);
  // Selection sampling: each run is drawn with the probability that is left for it. Source: Knuth, TAOCP 2, 3.4.2, algorithm S.
  for (const [index, runId] of finished.entries()) {
    if (index % STEP === 0) await parts.share.slice();
    philox(seed, 0, runId, 0, 0, TAG_AUDIT, block);
    if ((finished.length - index) * openUniform(block[0]!, block[1]!) >= wanted) continue;
    appendRun(ranges, runId);
    wanted -= 1;
  }
  return RunSelection.ofRanges(ranges);
}
