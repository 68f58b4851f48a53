/** The results of points, once their runs have ended. A point with several runs has the result of the first, or where that failed, of the last. */
import type { Abandoned } from '../../base/abandonment.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { AppendedRound, EvaluatedPoint, EvaluationProgress, StoredResult, Uuid } from '../../contract/types.ts';
import type { RunClass } from '../../analysis/table/run-class.ts';
import { HASH_WORDS, type PointIndex, type PointRuns } from '../../domain/adaptive/point-index.ts';
import { jobId } from '../../domain/ids.ts';
import { outputsOf } from '../../domain/runs/outputs.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store, StoreView } from '../kernel/storage/store.ts';
import { classOf, jobRecord } from './read.ts';
import type { RunEnds } from './run-ends.ts';

interface ResultParts {
  store: Store;
  share: EventLoopShare;
  runEnds: RunEnds;
}

/** The results as JSON in pieces; or the progress, where runs have not ended. */
export type EvaluationAnswer = { progress: EvaluationProgress } | { pieces: readonly string[] };

interface Wanted {
  /** The runs of each row. */
  runs: readonly PointRuns[];
  round: AppendedRound | null;
  outputs: readonly string[] | undefined;
  waitMs: number;
  abandoned: Abandoned | undefined;
}

const isFailed = (it: RunClass): boolean => it !== 'ok' && it !== 'open';

/** Returns a predicate: whether the latest run that counts for a point has failed. */
export async function failedPoints(
  { store, share }: ResultParts,
  batchId: Uuid,
  index: PointIndex,
  hashes: Uint32Array,
): Promise<(runs: PointRuns) => boolean> {
  const view = store.snapshot();
  try {
    const state = readBatch(view, batchId);
    const failed = new Set<number>();
    for (let at = 0; at < hashes.length; at += HASH_WORDS) {
      await share.slice();
      const runs = index.find(hashes, at);
      if (runs === undefined) continue;
      const [run, it] = runThatCounts(view, state, runs);
      if (isFailed(it) && run === runs.last) failed.add(run);
    }
    return ({ last }) => failed.has(last);
  } finally {
    await view.close();
  }
}

/** Waits for the runs, up to `waitMs`, and returns the results of all rows, or how far their runs are. */
export async function pointResults(parts: ResultParts, batchId: Uuid, wanted: Wanted): Promise<EvaluationAnswer> {
  const { runs, waitMs, abandoned } = wanted;
  const all = new Set(runs.flatMap(({ first, last }) => [first, last]));
  const wait = parts.runEnds.watch(batchId, [...all]);
  try {
    const before = await readPoints(parts, batchId, wanted, wait.open);
    if ('pieces' in before || waitMs <= 0) return before;
    await parts.runEnds.until(wait, waitMs, abandoned);
    return await readPoints(parts, batchId, wanted, wait.open);
  } finally {
    parts.runEnds.end(wait);
  }
}

/** The run that counts for a point, and its class. */
function runThatCounts(view: StoreView, state: BatchState, { first, last }: PointRuns): [run: number, it: RunClass] {
  const it = classOf(state, jobRecord(view, state, first));
  return first === last || !isFailed(it) ? [first, it] : [last, classOf(state, jobRecord(view, state, last))];
}

/** Reads the results, and leaves those runs in `open` that count and have not ended. */
async function readPoints(
  { store, share }: ResultParts,
  batchId: Uuid,
  { runs, round, outputs }: Wanted,
  open: Set<number>,
): Promise<EvaluationAnswer> {
  const view = store.snapshot();
  try {
    const state = readBatch(view, batchId);
    const counts: EvaluationProgress['counts'] = {};
    const counting: [number, RunClass][] = [];
    for await (const part of share.mapped(runs, (it) => runThatCounts(view, state, it))) {
      for (const pair of part) {
        counting.push(pair);
        counts[pair[1]] = (counts[pair[1]] ?? 0) + 1;
      }
    }
    const waited = new Set(counting.filter(([, it]) => it === 'open').map(([run]) => run));
    for (const run of open) if (!waited.has(run)) open.delete(run);
    const head = { count: runs.length, appended: round, counts };
    if (waited.size > 0) return { progress: { ...head, complete: false } };
    const pieces = [`${JSON.stringify({ ...head, complete: true }).slice(0, -1)},"points":[`];
    const pointOf = (pair: [number, RunClass]): string => JSON.stringify(toPoint(view, state, pair, outputs));
    for await (const part of share.mapped(counting, pointOf))
      pieces.push((pieces.length === 1 ? '' : ',') + part.join(','));
    pieces.push(']}');
    return { pieces };
  } finally {
    await view.close();
  }
}

function toPoint(
  view: StoreView,
  state: BatchState,
  [run, it]: [number, RunClass],
  outputs: readonly string[] | undefined,
): EvaluatedPoint {
  const record = view.get(keys.result(jobId(state.context.batchId, run)));
  const result = record === undefined ? undefined : (JSON.parse(record) as StoredResult);
  const all: ReadonlyMap<string, unknown> = result === undefined ? new Map() : outputsOf(result.metadata);
  const wanted =
    outputs === undefined ? [...all] : outputs.filter((name) => all.has(name)).map((name) => [name, all.get(name)]);
  const point: EvaluatedPoint = {
    run_id: run,
    class: it,
    outputs: Object.fromEntries(wanted) as Record<string, unknown>,
  };
  const error = jobRecord(view, state, run)?.error ?? result?.error_message ?? undefined;
  return error === undefined ? point : { ...point, error };
}
