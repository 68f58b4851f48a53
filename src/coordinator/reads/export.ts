/**
 * The export: all records of one batch or of the whole store as of one instant. It omits idempotency keys, which are a
 * client's secret, and records that can be derived.
 */
import type { Uuid, JobRecord } from '../../contract/types.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { commonPrefix } from '../../domain/ids.ts';
import { packageVersion } from '../../base/package.ts';
import type { Listing } from './listings.ts';
import { backupText } from '../kernel/storage/backup.ts';
import { allOf, historiesOf, idOf, keys, ofBatch, roundsOf } from '../kernel/storage/keys.ts';
import { timestamp } from '../kernel/records/to-resource.ts';
import { decodeRunner } from '../kernel/actors/actor-kinds.ts';
import { SNAPSHOT_FORMAT, type Export } from '../snapshots/format.ts';
import type { Entry, StoreView, Store } from '../kernel/storage/store.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import type { Clock } from '../../base/clock.ts';

interface ExportParts {
  store: Store;
  clock: Clock;
  share: EventLoopShare;
}

/** A record of an export: its key in the file, and its value as stored. */
export interface ExportedRecord {
  key: string;
  json: string;
}

export interface ExportListing {
  head: Export;
  records: Listing<ExportedRecord>;
}

/** All records as of now, in the format of `kernel/storage/backup.ts`. Must be iterated to its end or returned from. */
export const backup = (parts: ExportParts): AsyncIterable<string> =>
  backupText(parts.store, parts.clock.now(), parts.share);

/** All records of one batch, or of all batches, as of one instant. @throws SimbatchError `unknown-batch` */
export function exportSnapshot(parts: ExportParts, batchId?: Uuid): ExportListing {
  const snapshot = parts.store.snapshot();
  try {
    if (batchId !== undefined) readBatch(snapshot, batchId);
  } catch (error) {
    void snapshot.close();
    throw error;
  }
  const head: Export = {
    format: SNAPSHOT_FORMAT,
    kind: 'export',
    made_by: `simbatch ${packageVersion}`,
    taken_at: timestamp(parts.clock.now()),
    batch_id: batchId ?? null,
  };
  return { head, records: { total: undefined, chunks: freed(parts.share, snapshot, batchId), next: () => undefined } };
}

async function* freed(
  share: EventLoopShare,
  snapshot: StoreView,
  batchId: Uuid | undefined,
): AsyncGenerator<ExportedRecord[]> {
  try {
    if (batchId === undefined) yield* everything(share, snapshot);
    else yield* oneBatch(share, snapshot, batchId);
  } finally {
    await snapshot.close();
  }
}

const records =
  (name: string) =>
  ([key, json]: Entry): ExportedRecord => ({ key: `${name}/${idOf(key)}`, json });

const historyRecord = ([key, values]: Entry): ExportedRecord => ({
  key: `history/${idOf(key)}`,
  json: JSON.stringify({ values }),
});

async function* everything(share: EventLoopShare, snapshot: StoreView): AsyncGenerator<ExportedRecord[]> {
  for await (const chunk of snapshot.entries(allOf('batch'), { chunkSize: 100 })) {
    for (const [key] of chunk) yield* recordsOf(share, snapshot, idOf(key));
  }
  for await (const chunk of snapshot.entries(allOf('runner'))) yield* share.mapped(chunk, records('runner'));
}

/** The batch, and the runners related to it, reduced to their relation with this batch. */
async function* oneBatch(share: EventLoopShare, snapshot: StoreView, batchId: Uuid): AsyncGenerator<ExportedRecord[]> {
  const runners = new Set<string>();
  const noteRunners = (record: ExportedRecord): ExportedRecord => {
    if (record.key.startsWith('job/')) {
      for (const attempt of (JSON.parse(record.json) as JobRecord).attempts) runners.add(attempt.runner);
    }
    return record;
  };
  for await (const chunk of recordsOf(share, snapshot, batchId)) yield* share.mapped(chunk, noteRunners);
  for await (const runnerId of share.paced([...runners].sort())) {
    const record = snapshot.get(keys.runner(runnerId));
    if (record !== undefined) yield [{ key: `runner/${runnerId}`, json: ofThisBatch(record, batchId) }];
  }
}

function ofThisBatch(record: string, batchId: Uuid): string {
  const { value, context } = decodeRunner(record);
  const held = context.held.filter((it) => it.jobId.startsWith(commonPrefix(batchId)));
  return JSON.stringify({ value, ...context, held });
}

async function* recordsOf(share: EventLoopShare, snapshot: StoreView, batchId: Uuid): AsyncGenerator<ExportedRecord[]> {
  const single = (['batch', 'submission'] as const).flatMap((name): ExportedRecord[] => {
    const json = snapshot.get(keys[name](batchId));
    return json === undefined ? [] : [{ key: `${name}/${batchId}`, json }];
  });
  yield single;
  // Each round is followed by its rows.
  for await (const chunk of snapshot.entries(roundsOf('round', batchId))) {
    for await (const entry of share.paced(chunk)) {
      yield [records('round')(entry)];
      const ofRound = {
        gte: entry[0].replace('!round!', '!rows!') + '/',
        lt: entry[0].replace('!round!', '!rows!') + '0',
      };
      for await (const rows of snapshot.entries(ofRound)) yield* share.mapped(rows, records('rows'));
    }
  }
  for (const name of ['job', 'result'] as const) {
    for await (const chunk of snapshot.entries(ofBatch(name, batchId))) yield* share.mapped(chunk, records(name));
  }
  for await (const chunk of snapshot.entries(historiesOf(batchId))) yield* share.mapped(chunk, historyRecord);
}
