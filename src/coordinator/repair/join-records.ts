/**
 * Joins the records of a store by batch and by run. Keys of every kind sort by batch, so one pass over each kind suffices,
 * in constant memory; records without a batch appear as well.
 */
import { batchIdOf, commonPrefix } from '../../domain/ids.ts';
import type { Uuid } from '../../contract/types.ts';
import type { EngineView } from '../kernel/storage/engine.ts';
import { allOf, idOf, type KeyKind } from '../kernel/storage/keys.ts';
import { Cursor, wholeRecords } from './read-records.ts';

const RUN_KINDS = ['job', 'result', 'requeue'] as const;
const BATCH_KINDS = ['batch', 'submission', 'open', 'deletion'] as const;

/** The records of one run; undefined where there is none. */
export interface RunRecords {
  jobId: Uuid;
  job: string | undefined;
  result: string | undefined;
  requeue: string | undefined;
}

/** The records of one batch. `runs` must be read to its end before the next batch. */
export interface BatchRecords {
  batchId: Uuid;
  batch: string | undefined;
  submission: string | undefined;
  open: string | undefined;
  deletion: string | undefined;
  runs: AsyncGenerator<RunRecords>;
}

export async function* joinRecords(view: EngineView): AsyncGenerator<BatchRecords> {
  const cursorOf = async (kind: KeyKind): Promise<[string, Cursor]> => [
    kind,
    await Cursor.over(wholeRecords(view, allOf(kind))),
  ];
  const cursors = new Map(await Promise.all([...BATCH_KINDS, ...RUN_KINDS].map(cursorOf)));
  const at = (kind: string): Cursor => cursors.get(kind) as Cursor;
  const nextBatch = (): Uuid | undefined =>
    least([
      ...BATCH_KINDS.map((kind) => headId(at(kind))),
      ...RUN_KINDS.map((kind) => headId(at(kind))).map((id) => (id === undefined ? undefined : batchIdOf(id))),
    ]);

  for (let batchId = nextBatch(); batchId !== undefined; batchId = nextBatch()) {
    const own: Record<string, string | undefined> = {};
    for (const kind of BATCH_KINDS) own[kind] = await take(at(kind), batchId);
    yield {
      batchId,
      batch: own['batch'],
      submission: own['submission'],
      open: own['open'],
      deletion: own['deletion'],
      runs: runsOf(batchId, at),
    };
  }
}

async function* runsOf(batchId: Uuid, at: (kind: string) => Cursor): AsyncGenerator<RunRecords> {
  const nextRun = (): Uuid | undefined =>
    least(
      RUN_KINDS.map((kind) => headId(at(kind))).map((id) =>
        id?.startsWith(commonPrefix(batchId)) === true ? id : undefined,
      ),
    );
  for (let jobId = nextRun(); jobId !== undefined; jobId = nextRun()) {
    const own: Record<string, string | undefined> = {};
    for (const kind of RUN_KINDS) own[kind] = await take(at(kind), jobId);
    yield { jobId, job: own['job'], result: own['result'], requeue: own['requeue'] };
  }
}

const headId = (cursor: Cursor): string | undefined => (cursor.head === undefined ? undefined : idOf(cursor.head[0]));

const least = (ids: readonly (string | undefined)[]): string | undefined =>
  ids.filter((id) => id !== undefined).toSorted()[0];

/** The value under the id, if the cursor is at it. */
async function take(cursor: Cursor, id: string): Promise<string | undefined> {
  if (cursor.head === undefined || idOf(cursor.head[0]) !== id) return undefined;
  const [, value] = cursor.head;
  await cursor.advance();
  return value;
}
