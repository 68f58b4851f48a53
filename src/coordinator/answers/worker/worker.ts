/** The analysis worker: a thread that reads studies through the coordinator and answers questions about them, one at a time. */
import { parentPort } from 'node:worker_threads';
import { stringifyExact } from '../../../base/json-writing.ts';
import type { Uuid } from '../../../contract/types.ts';
import { type Question, batchesOf } from '../question.ts';
import type { ReadingHead, RowKind } from '../row-readings.ts';
import { ThreadChannel } from '../thread-channel.ts';
import { answerTo } from './answer.ts';
import { countRuns, manifestPieces } from './manifest.ts';
import type { NextRows } from './runs.ts';
import { type Study, readStudy } from './study.ts';
import { StudyTables } from './study-tables.ts';

/** The columns of the studies in memory hold at most this many bytes; a study of 10^6 runs and 20 numbers has about 180 MB. */
const MAX_TABLE_BYTES = 512 * 1024 * 1024;

/** The methods of the thread that answers requests. */
export type CoordinatorMethods = {
  openReading(batchId: Uuid): Promise<ReadingHead>;
  nextRows(request: { reading: number; kind: RowKind }): Promise<Uint8Array | null>;
  restartReading(reading: number): Promise<void>;
  closeReading(reading: number): Promise<void>;
};

/** The methods of this thread. */
export type WorkerMethods = {
  answer(request: { question: Question; versions: string[] }): Promise<{ bytes: Uint8Array; versions: string[] }>;
  openManifest(batchId: Uuid): Promise<number>;
  nextPiece(manifest: number): Promise<Uint8Array | null>;
  closeManifest(manifest: number): Promise<void>;
};

/** Reads a study through one reading, which is closed at the end. */
async function read<T>(batchId: Uuid, use: (head: ReadingHead, next: NextRows) => Promise<T>): Promise<T> {
  const head = await coordinator.call('openReading', batchId);
  try {
    return await use(head, (kind) => coordinator.call('nextRows', { reading: head.reading, kind }));
  } finally {
    await coordinator.call('closeReading', head.reading);
  }
}

const tables = new StudyTables((batchId) => read(batchId, readStudy), MAX_TABLE_BYTES);

/** The manifests that are being written, by their reading. */
const manifests = new Map<number, AsyncGenerator<Uint8Array>>();

/** Reads the study twice, as of one instant: the counts come first in the file. */
async function* manifestOf(head: ReadingHead): AsyncGenerator<Uint8Array> {
  const next: NextRows = (kind) => coordinator.call('nextRows', { reading: head.reading, kind });
  try {
    const counts = await countRuns(head, next);
    await coordinator.call('restartReading', head.reading);
    yield* manifestPieces(head, next, counts);
  } finally {
    await coordinator.call('closeReading', head.reading);
  }
}

const methods: WorkerMethods = {
  async answer({ question, versions }) {
    const studies: Study[] = [];
    for (const [at, batchId] of batchesOf(question).entries()) studies.push(await tables.of(batchId, versions[at]!));
    const answer = answerTo(question, studies as [Study, Study?]);
    const bytes = new TextEncoder().encode(stringifyExact(answer));
    return { bytes, versions: studies.map((it) => it.version) };
  },
  async openManifest(batchId) {
    const head = await coordinator.call('openReading', batchId);
    manifests.set(head.reading, manifestOf(head));
    return head.reading;
  },
  async nextPiece(manifest) {
    const piece = await manifests.get(manifest)?.next();
    if (piece !== undefined && piece.done !== true) return piece.value;
    manifests.delete(manifest);
    return null;
  },
  async closeManifest(manifest) {
    const pieces = manifests.get(manifest);
    manifests.delete(manifest);
    await pieces?.return(undefined);
    // A generator that was closed before its first step has not closed the reading.
    await coordinator.call('closeReading', manifest);
  },
};

const coordinator = new ThreadChannel<CoordinatorMethods>(parentPort!, methods);
