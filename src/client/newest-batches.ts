/** The newest batches of a coordinator, without reading the list of all. */
import type { Batch } from '../contract/types.ts';
import type { BatchFilter } from '../contract/queries.ts';
import type { Client } from './client.ts';
import { ApiError } from './transport.ts';

/**
 * Returns at most `count` (1 to 10,000) batches that match, newest first. An older coordinator refuses the order: the whole list is
 * read there.
 * @throws ApiError, UnreachableError
 */
export async function newestBatches(
  client: Pick<Client, 'batches' | 'batchesPage'>,
  count: number,
  filter: BatchFilter = {},
): Promise<Batch[]> {
  try {
    return (await client.batchesPage({ ...filter, order: 'newest' }, { limit: count })).items;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'malformed-query')) throw error;
  }
  const latest: Batch[] = [];
  for await (const batch of client.batches(filter)) {
    latest.push(batch);
    if (latest.length > count) latest.shift();
  }
  return latest.toReversed();
}
