/** The analysis worker: a thread that reads studies through the coordinator and answers questions about them, one at a time. */
import { statedInFamily } from '../../../domain/identity/judgement.ts';
import { parentPort } from 'node:worker_threads';
import { type Asked, answerTo, batchesOf } from '../../../analysis/questions.ts';
import type { AnsweredStudy } from '../../../analysis/table/answered-study.ts';
import { joinTables, requireJoinable } from '../../../analysis/table/join.ts';
import { stringifyExact } from '../../../base/json/json-writing.ts';
import type { Uuid } from '../../../contract/types.ts';
import type { ReadingHead, RowKind, RowsRequest, StoredRound, StudyHead } from '../row-readings.ts';
import type { MergeRequest, TablePage, TablePageRequest } from '../table-request.ts';
import { ThreadChannel } from '../thread-channel.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { systemClock } from '../../../base/clock.ts';
import { countRuns, manifestPieces } from './manifest.ts';
import { type NextRows, nextOf } from './runs.ts';
import { type KeptStudy, type Study, leastBytesOf, readStudy, updateStudy } from './study.ts';
import { RoundCache } from './round-rows.ts';
import { StudyTables } from './study-tables.ts';
import { Tables } from './table/tables.ts';
import { Bands, type TelemetryReading } from './telemetry/bands.ts';

/** The columns of the studies in memory hold at most this many bytes; a study of 10^6 runs and 20 numbers has about 180 MB. */
const MAX_TABLE_BYTES = 512 * 1024 * 1024;

/** A study with more bytes of columns than this is read alone. */
const LARGE_BYTES = 128 * 1024 * 1024;
let largeRead: Promise<unknown> = Promise.resolve();

/** The methods of the thread that answers requests. */
export type CoordinatorMethods = {
  openReading(batchId: Uuid): Promise<ReadingHead>;
  openStudy(request: { batchId: Uuid; since: number | undefined }): Promise<StudyHead>;
  openReadings(batchIds: readonly Uuid[]): Promise<ReadingHead[]>;
  nextRows(request: { reading: number; kind: RowKind }): Promise<Uint8Array | null>;
  readRows(request: RowsRequest): Promise<Uint8Array>;
  nextRounds(request: { reading: number; from: number }): Promise<StoredRound[]>;
  restartReading(request: { reading: number; from?: number }): Promise<void>;
  closeReading(reading: number): Promise<void>;
  readTelemetry(jobId: Uuid): Promise<TelemetryReading>;
};

/** `isLasting`: the same versions have the same answer. */
export interface WorkerAnswer {
  bytes: Uint8Array;
  versions: string[];
  isLasting: boolean;
}

/** The methods of this thread. */
export type WorkerMethods = {
  answer(request: { question: Asked; versions: string[] }): Promise<WorkerAnswer>;
  openManifest(batchId: Uuid): Promise<number>;
  openTable(request: MergeRequest): Promise<number>;
  /** The next piece of a manifest or table; null after the last one. */
  nextPiece(stream: number): Promise<Uint8Array | null>;
  closeStream(stream: number): Promise<void>;
  tablePage(request: TablePageRequest): Promise<TablePage>;
};

/** The study as it is now: `known` with the runs that have ended since, or read anew. */
async function refreshed(
  batchId: Uuid,
  known: KeptStudy | undefined,
  beside: readonly KeptStudy[],
  makeRoom: (bytes: number) => void,
): Promise<KeptStudy> {
  const opened = await coordinator.call('openStudy', { batchId, since: known?.mark });
  const { reading, ended } = opened;
  try {
    const head = await rounds.withRounds(opened);
    if (known !== undefined && ended !== undefined) {
      const rows = (kind: RowKind, runIds: Uint32Array): Promise<Uint8Array> =>
        coordinator.call('readRows', { reading, kind, runIds });
      if (await updateStudy(known, head, nextOf(ended, rows))) return known;
    }
    const bytes = leastBytesOf(head);
    const besideBytes = beside.reduce((sum, it) => sum + it.bytes, 0);
    const next: NextRows = (kind) => coordinator.call('nextRows', { reading, kind });
    const read = (): Promise<KeptStudy> => {
      makeRoom(bytes);
      return readStudy(head, next, { besideBytes });
    };
    if (bytes < LARGE_BYTES) return await read();
    // Large studies are read one after the other: the memory of two at the same time would not be bounded.
    const done = largeRead.then(read);
    largeRead = done.catch(() => {});
    return await done;
  } finally {
    await coordinator.call('closeReading', reading);
  }
}

const rounds = new RoundCache((request) => coordinator.call('nextRounds', request));
const tables = new StudyTables(refreshed, MAX_TABLE_BYTES);

/** How long the files of a band are read. */
const BAND_MS = 60_000;
const bands = new Bands((jobId) => coordinator.call('readTelemetry', jobId), systemClock);

/** The runs of a family as those of the batch that was asked for, with its requirements and outputs. */
function pooled(batchId: Uuid, studies: readonly Study[]): AnsweredStudy {
  const large = studies.find((it) => it.table.absent !== undefined)?.table;
  if (large !== undefined)
    throw new SimbatchError(
      'answer-too-large',
      `the runs of the family are not pooled: ${String(large.absent!.runs)} runs of ${large.batchId} have not begun; ask about each batch without \`family\``,
    );
  requireJoinable(studies);
  const members = studies.map(({ table, submission }) => ({
    table,
    replicate: submission.config.monte_carlo.replicate ?? 0,
  }));
  const { submission } = studies.find((it) => it.table.batchId === batchId)!;
  const requirements = statedInFamily(
    submission,
    studies.map((it) => it.submission),
  );
  return { table: joinTables(batchId, members), submission: { ...submission, requirements } };
}

/** The tables and manifests in progress, by their first reading. */
const streams = new Map<number, { pieces: AsyncGenerator<Uint8Array>; readings: readonly number[] }>();

function openStream(heads: readonly ReadingHead[], pieces: AsyncGenerator<Uint8Array>): number {
  const readings = heads.map((it) => it.reading);
  streams.set(readings[0]!, { pieces, readings });
  return readings[0]!;
}

async function closeReadings(readings: readonly number[]): Promise<void> {
  await Promise.all(readings.map((reading) => coordinator.call('closeReading', reading)));
}

/** The heads with the rounds of adaptive studies; closes the readings where that fails. */
async function withRounds(heads: readonly ReadingHead[]): Promise<ReadingHead[]> {
  try {
    const complete: ReadingHead[] = [];
    for (const head of heads) complete.push(await rounds.withRounds(head));
    return complete;
  } catch (error) {
    await closeReadings(heads.map((it) => it.reading));
    throw error;
  }
}

const tableRuns = new Tables({
  next: (request) => coordinator.call('nextRows', request),
  rows: (request) => coordinator.call('readRows', request),
  restart: (request) => coordinator.call('restartReading', request),
});

/** Reads the study twice, as of one instant: the counts come first in the file. */
async function* manifestOf(head: ReadingHead): AsyncGenerator<Uint8Array> {
  const { reading } = head;
  const next: NextRows = (kind) => coordinator.call('nextRows', { reading, kind });
  const counts = await countRuns(head, next);
  await coordinator.call('restartReading', { reading });
  yield* manifestPieces(head, next, counts);
}

const encoded = (answer: object): Uint8Array => new TextEncoder().encode(stringifyExact(answer));

const methods: WorkerMethods = {
  async answer({ question, versions }) {
    const studies: KeptStudy[] = [];
    for (const [at, batchId] of batchesOf(question).entries())
      studies.push(await tables.of(batchId, versions[at]!, studies));
    const asked: AnsweredStudy[] = question.members === undefined ? studies : [pooled(question.batchId, studies)];
    let isLasting = true;
    const readBand: AnsweredStudy['readBand'] = async (without) => {
      const found = await bands.of(asked[0]!.table, without, BAND_MS);
      isLasting = found.isLasting;
      return found.band;
    };
    const answer = await answerTo(question, [{ ...asked[0]!, readBand }, asked[1]]);
    return { bytes: encoded(answer), versions: studies.map((it) => it.version), isLasting };
  },
  async openManifest(batchId) {
    const [head] = await withRounds([await coordinator.call('openReading', batchId)]);
    return openStream([head!], manifestOf(head!));
  },
  async openTable(request) {
    const heads = await withRounds(await coordinator.call('openReadings', request.batchIds));
    return openStream(heads, tableRuns.pieces(request, heads));
  },
  async nextPiece(stream) {
    const piece = await streams.get(stream)?.pieces.next();
    return piece === undefined || piece.done === true ? null : piece.value;
  },
  async closeStream(stream) {
    const open = streams.get(stream);
    streams.delete(stream);
    if (open === undefined) return;
    // Readings are closed first, so that a long one for a client that is gone ends at once.
    await closeReadings(open.readings);
    await open.pieces.return(undefined).catch(() => {});
  },
  async tablePage(request) {
    const heads = await withRounds(await coordinator.call('openReadings', request.batchIds));
    try {
      return await tableRuns.page(request, heads);
    } finally {
      await closeReadings(heads.map((it) => it.reading));
    }
  },
};

const coordinator = new ThreadChannel<CoordinatorMethods>(parentPort!, methods);
