/** Answers about a study: waited for while they are computed, and asked again while the study runs. */
import type { BatchStatusResponse } from '../../../src/contract/types.ts';
import { request, useLoaded, type Loaded } from './api.ts';
import { useStudyVersion } from './use-refresh.ts';

/** Asks until the answer is there. Only an answer that is still being computed says when to come back. */
export async function answerTo<T>(path: string, signal: AbortSignal): Promise<T> {
  for (;;) {
    const { data, headers } = await request<T>(path, { signal });
    const retryAfter = headers.get('retry-after');
    if (retryAfter === null) return data;
    await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(retryAfter)));
  }
}

/**
 * The answer to a question of the study, such as `summary`; the one before while a newer one is computed. `mayChange`: it may change after
 * the end of the study too.
 */
export function useAnswer<T>(
  study: Pick<BatchStatusResponse, 'batch'> | undefined,
  question: string | undefined,
  mayChange = false,
): Loaded<T> {
  const batch = study?.batch;
  const version = useStudyVersion(batch, mayChange);
  const path = question === undefined || batch === undefined ? undefined : `/batches/${batch.id}/${question}`;
  return useLoaded<T>(path, version, answerTo);
}
