/** The histories of one run as the API shows them. */
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { historyName, pointsOf } from '../../domain/histories/points.ts';
import { historyValues } from '../../domain/histories/values.ts';
import type { JobHistories, RunHistory, Uuid } from '../../contract/types.ts';
import { missingRecord } from '../kernel/actors/actor-kinds.ts';
import type { StoreReader } from '../kernel/records/lookup.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { jobResult } from '../kernel/records/results.ts';
import { keys } from '../kernel/storage/keys.ts';

/**
 * The histories of an ended run: all of its study, those that it left none of without values.
 * @throws SimbatchError `unknown-job`; `result-not-ready` before the run has ended; `store-damaged` where a history is lost
 */
export function jobHistories(parts: StoreReader, jobId: Uuid): JobHistories {
  const { history_count: stored = 0 } = jobResult(parts, jobId);
  const { store, studyCache } = parts;
  const batchId = batchIdOf(jobId);
  const { histories } = studyCache.of(readBatch(store, batchId).context).submission.config;
  const declared = histories ?? [];
  const shown = declared.map((history, place): RunHistory => {
    const key = keys.history(batchId, place, runIdOf(jobId));
    const text = stored === 0 ? undefined : store.get(key);
    // A repair leaves fewer where some were lost.
    if (text === undefined && stored === declared.length) throw missingRecord(`the history ${key}`);
    const { variable, units, at } = history;
    return {
      name: historyName(history),
      variable,
      ...(units === undefined ? {} : { units }),
      times: [...pointsOf(at)],
      values: text === undefined ? null : Array.from(historyValues(Buffer.from(text, 'base64')), valueOf),
    };
  });
  return { job_id: jobId, run_id: runIdOf(jobId), histories: shown };
}

/** JSON has neither NaN, which is a missing value here, nor infinite numbers. */
function valueOf(value: number): number | 'Infinity' | '-Infinity' | null {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? null : value > 0 ? 'Infinity' : '-Infinity';
}
