/** The records of rounds whose batch is gone: no coordinator can serve them. */
import type { EngineView } from '../kernel/storage/engine.ts';
import { allOf, idOf, keys, ROUND_KINDS } from '../kernel/storage/keys.ts';
import { wholeRecord, wholeRecords } from './read-records.ts';

export interface RoundWithout {
  batchId: string;
  key: string;
  record: string;
  /** The batch was deleted, or a copy of it was not finished: the coordinator removes these records. */
  isDeleted: boolean;
}

/** The whole records of rounds, of rows and of keys whose batch `isThere` does not know. */
export async function* roundsWithout(
  view: EngineView,
  isThere: (batchId: string) => boolean,
): AsyncGenerator<RoundWithout> {
  let latest = { batchId: '', isGone: false, isDeleted: false };
  for (const kind of ROUND_KINDS) {
    for await (const [key, record] of wholeRecords(view, allOf(kind))) {
      const [batchId = ''] = idOf(key).split('/', 1);
      if (batchId !== latest.batchId) {
        const isDeleted = wholeRecord(view, keys.deletion(batchId)) !== undefined;
        latest = { batchId, isGone: !isThere(batchId), isDeleted };
      }
      if (latest.isGone) yield { batchId, key, record, isDeleted: latest.isDeleted };
    }
  }
}
