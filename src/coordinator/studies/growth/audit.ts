/** Audits: a part of the finished runs of a study again, drawn by a seed, on other runners where there are any. */
import type { AuditRequest, AuditResponse, JobStatus, Uuid } from '../../../contract/types.ts';
import { runClassOf } from '../../../analysis/table/run-class.ts';
import { auditOf } from '../../../domain/study/growth.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { appendRun, type RunRange } from '../../../domain/runs/run-ranges.ts';
import { RunSelection } from '../../../domain/runs/run-selection.ts';
import { openUniform, philox, TAG_AUDIT } from '../../../domain/sampling/philox.ts';
import type { BatchState } from '../../kernel/actors/actor-kinds.ts';
import type { StoreView } from '../../kernel/storage/store.ts';
import { createDerived, refuse, type GrowthOptions, type DeriveParts } from './derive.ts';
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
  { fraction, seed, name, reused = false }: AuditRequest,
  options: GrowthOptions = {},
): Promise<AuditResponse> {
  return createDerived(parts, batchId, options, async ({ view, batch, study, submission: whole }) => {
    if (!(fraction > 0)) refuse({ pointer: '/fraction', detail: `is ${fraction}; it must be above 0 and at most 1` });
    const used = seed ?? drawnSeed(parts);
    const selection = await drawnRuns(parts, view, batch, study.selection, { fraction, reused }, used);
    await parts.share.slice();
    const submission = auditOf(whole(), study.selection.count, selection, name);
    if ('pointer' in submission) return refuse(submission);
    return { submission, selection, relation: 'audit', answer: { relation: 'audit', seed: used } };
  });
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
  { fraction, reused }: Required<Pick<AuditRequest, 'fraction' | 'reused'>>,
  seed: number,
): Promise<RunSelection> {
  const finished: number[] = [];
  for await (const part of terminalRuns(parts, view, batch, held)) {
    for (const { runId, status, reason, isReused } of part)
      if (isComparable(status, reason) && (isReused || !reused)) finished.push(runId);
  }
  if (finished.length === 0) {
    const why = reused ? 'no run of the study has the result of another run' : 'no run of the study has finished';
    return refuse({ pointer: reused ? '/reused' : '', detail: `draws no run: ${why}` });
  }
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
