/** The histories of single runs, read once each. */
import { useEffect, useState } from 'react';
import type { JobHistories, RunHistory, Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { request } from '../data/api.ts';

/** Runs whose histories are kept; the last used ones. */
const MOST_KEPT = 200;
const kept = new Map<Uuid, Promise<readonly RunHistory[]>>();

function historiesOf(job: Uuid): Promise<readonly RunHistory[]> {
  const known = kept.get(job) ?? request<JobHistories>(`/jobs/${job}/histories`).then(({ data }) => data.histories);
  kept.delete(job);
  kept.set(job, known);
  // A failed reading is repeated when the run is shown again.
  known.catch(() => kept.delete(job));
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
  return known;
}

const NONE: ReadonlyMap<number, readonly (number | null)[]> = new Map();

/** The values of a history of these runs, by run id, as far as they have been read; runs that left none are missing. */
export function useRunCurves(
  batchId: Uuid,
  name: string,
  runIds: readonly number[],
): ReadonlyMap<number, readonly (number | null)[]> {
  const [found, setFound] = useState(NONE);
  const wanted = runIds.join();
  useEffect(() => {
    let isLeft = false;
    const runs = wanted === '' ? [] : wanted.split(',').map(Number);
    void Promise.all(
      runs.map(async (runId) => {
        const histories = await historiesOf(jobId(batchId, runId)).catch(() => []);
        const values = histories.find((it) => it.name === name)?.values ?? null;
        return [runId, values?.map((it) => (typeof it === 'number' ? it : null)) ?? null] as const;
      }),
    ).then((read) => {
      if (!isLeft) setFound(new Map(read.flatMap(([runId, values]) => (values === null ? [] : [[runId, values]]))));
    });
    return () => {
      isLeft = true;
    };
  }, [batchId, name, wanted]);
  return found;
}
