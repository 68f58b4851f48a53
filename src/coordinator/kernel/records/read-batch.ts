/** Reads the state of a batch from the store, or from a view of it. */
import type { Uuid } from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { isBatchId } from '../../../domain/ids.ts';
import { decodeBatch, type BatchState } from '../actors/actor-kinds.ts';
import { keys } from '../storage/keys.ts';

/** A source of records: the store, or a view of it. */
export interface Records {
  get(key: string): string | undefined;
}

/** @throws SimbatchError `unknown-batch` */
export function readBatch(records: Records, batchId: Uuid): BatchState {
  const record = isBatchId(batchId) ? records.get(keys.batch(batchId)) : undefined;
  if (record === undefined) throw new SimbatchError('unknown-batch', `there is no study ${batchId}`);
  return decodeBatch(record);
}
