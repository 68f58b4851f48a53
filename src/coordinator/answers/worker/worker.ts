/** The analysis worker: a thread that reads studies through the coordinator and answers questions about them, one at a time. */
import { statedInFamily } from '../../../domain/identity/judgement.ts';
import { parentPort } from 'node:worker_threads';
import { type Asked, answerTo, batchesOf } from '../../../analysis/questions.ts';
import type { AnsweredStudy } from '../../../analysis/table/answered-study.ts';
import { withExtracted as withColumns } from '../../../analysis/table/extracted.ts';
import { joinTables, requireJoinable } from '../../../analysis/table/join.ts';
import type { Uuid } from '../../../contract/types.ts';
import type { ReadingHead, RowKind, RowsRequest, StoredRound, StudyHead } from '../row-readings.ts';
import type { MergedHistoriesRequest, MergeRequest, TablePage, TablePageRequest } from '../table-request.ts';
import { ThreadChannel } from '../thread-channel.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { systemClock } from '../../../base/clock.ts';
import { type HistoryReading, readCurves } from './histories/curves.ts';
import { historyOf, historyPieces } from './histories/stream.ts';
import { answerBytes } from './answer-bytes.ts';
import { countRuns, manifestPieces } from './manifest.ts';
import { type NextRows, nextOf } from './runs.ts';
import { type KeptStudy, type Study, leastBytesOf, readStudy, studyOf, updateStudy } from './study.ts';
import { type RareCheck, type RareExtension, type RareOutcome, RareRounds } from './rare-rounds.ts';
import { RoundCache } from './round-rows.ts';
import { StudyTables } from './study-tables.ts';
import { type TableHead, withExtracted } from './table/extracted.ts';
import { takeBack } from './table/pieces.ts';
import { Tables } from './table/tables.ts';
import { DrawnRuns, type TelemetryReading } from './telemetry/drawn-runs.ts';
import { wholeResults } from './whole-results.ts';

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
  nextHistories(request: { reading: number; place: number }): Promise<Uint8Array | null>;
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
  /** The next round of a study of rare events. */
  nextRareRound(batchId: Uuid): Promise<RareOutcome>;
  /** How such a study can be extended after its end. */
  rareExtension(batchId: Uuid): Promise<RareExtension>;
  /** The rounds of such a study, computed again. */
  checkRareRounds(batchId: Uuid): Promise<RareCheck>;
  openManifest(batchId: Uuid): Promise<number>;
  openTable(request: MergeRequest): Promise<number>;
  openHistories(request: MergedHistoriesRequest): Promise<number>;
  /** The next piece of a manifest, table or history; null after the last one. `bytes`: an earlier piece that has been sent, for its memory. */
  nextPiece(request: { stream: number; bytes?: Uint8Array | undefined }): Promise<Uint8Array | null>;
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
const rareRounds = new RareRounds({
  open: (batchId) => coordinator.call('openReading', batchId),
  rows: (request) => coordinator.call('readRows', request),
  withRounds: (head) => rounds.withRounds(head),
  close: (reading) => coordinator.call('closeReading', reading),
});
const tables = new StudyTables(refreshed, MAX_TABLE_BYTES);

/** How long files of telemetry are read for one question. */
const TELEMETRY_MS = 60_000;
const drawnRuns = new DrawnRuns((jobId) => coordinator.call('readTelemetry', jobId), systemClock);

/** Opens the records of a history. */
async function openHistory(batchId: Uuid, place: number): Promise<HistoryReading> {
  const { reading } = await coordinator.call('openReading', batchId);
  return {
    next: () => coordinator.call('nextHistories', { reading, place }),
    close: () => coordinator.call('closeReading', reading),
  };
}

/** The runs of a family as those of the batch that was asked for, with its requirements and outputs. */
function pooled(batchId: Uuid, studies: readonly Study[]): AnsweredStudy {
  const large = studies.find((it) => it.table.absent !== undefined)?.table;
  if (large !== undefined)
    throw new SimbatchError(
      'answer-too-large',
      `the runs of the family are not pooled: ${String(large.absent!.runs)} runs of ${large.batchId} have not begun; ask about each study without \`family\``,
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

/** The studies of a question as it sees them. */
function askedStudies({ batchId, members, repeats }: Asked, studies: readonly KeptStudy[]): AnsweredStudy[] {
  if (repeats !== undefined) return [{ ...studies.find(({ table }) => table.batchId === batchId)!, repeats: studies }];
  return members === undefined ? [...studies] : [pooled(batchId, studies)];
}

/** The tables, histories and manifests in progress, by their first reading. */
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

/** The batches of a table, then their extractions, as of one instant. */
const headsOf = async ({ batchIds, extracted }: Pick<MergeRequest, 'batchIds' | 'extracted'>): Promise<ReadingHead[]> =>
  withRounds(await coordinator.call('openReadings', [...batchIds, ...extracted.map((it) => it.batchId)]));

const tableRuns = new Tables({
  next: (request) => coordinator.call('nextRows', request),
  rows: (request) => coordinator.call('readRows', request),
  restart: (request) => coordinator.call('restartReading', request),
});

/** The runs that a condition selects, and those that count in a family, are read before the history, as of the same instant. */
async function* historiesOf(request: MergedHistoriesRequest, heads: readonly TableHead[]): AsyncGenerator<Uint8Array> {
  const { batchId, name, where, family = false } = request;
  const nextOfHistory = (head: ReadingHead) => {
    const { place } = historyOf(studyOf(head).submission.config, name);
    return () => coordinator.call('nextHistories', { reading: head.reading, place });
  };
  const { history } = historyOf(studyOf(heads.find((it) => it.batchId === batchId)!).submission.config, name);
  const selected =
    where === undefined && !family ? undefined : await tableRuns.selected({ batchId, format: 'json', where }, heads);
  const sources = (selected?.members ?? [{ head: heads[0]!, replicate: 0 }]).map(({ head, replicate }) => ({
    replicate,
    next: nextOfHistory(head),
  }));
  yield* historyPieces(request, history, sources, selected);
}

/** Reads the study twice, as of one instant: the counts come first in the file. */
async function* manifestOf(head: ReadingHead): AsyncGenerator<Uint8Array> {
  const { reading } = head;
  const next: NextRows = (kind) => coordinator.call('nextRows', { reading, kind });
  const counts = await countRuns(head, next);
  await coordinator.call('restartReading', { reading });
  yield* manifestPieces(head, next, counts);
}

async function resultsOf(batchId: Uuid, most: number): ReturnType<typeof wholeResults> {
  const [head] = await withRounds([await coordinator.call('openReading', batchId)]);
  const { reading } = head!;
  try {
    return await wholeResults(
      studyOf(head!).sampler.names,
      (kind) => coordinator.call('nextRows', { reading, kind }),
      most,
    );
  } finally {
    await closeReadings([reading]);
  }
}

const methods: WorkerMethods = {
  async answer({ question, versions }) {
    const { extracted = [] } = question;
    const kept: KeptStudy[] = [];
    for (const [at, batchId] of [...batchesOf(question), ...extracted.map((it) => it.batchId)].entries())
      kept.push(await tables.of(batchId, versions[at]!, kept));
    const own = kept.slice(0, kept.length - extracted.length);
    const beside = extracted.map((it, at) => ({ ...it, ...kept[own.length + at]! }));
    const studies = own.map((it) =>
      withColumns(
        it,
        beside.filter(({ of }) => of === it.table.batchId),
      ),
    );
    const asked: AnsweredStudy[] = askedStudies(question, studies);
    let isLasting = true;
    const readTelemetry: AnsweredStudy['readTelemetry'] = async (options) => {
      const found = await drawnRuns.of(asked[0]!.table, TELEMETRY_MS, options);
      isLasting = found.isLasting;
      return found.telemetry;
    };
    const readResults = (most: number) => resultsOf(question.batchId, most);
    const readHistory: AnsweredStudy['readHistory'] = (name, rows, points) =>
      readCurves(asked[0]!.table, studies, { name, rows, points }, openHistory);
    const answer = await answerTo(question, [{ ...asked[0]!, readHistory, readTelemetry, readResults }, asked[1]]);
    return { bytes: answerBytes(answer, own, beside), versions: kept.map((it) => it.version), isLasting };
  },
  nextRareRound: (batchId) => rareRounds.next(batchId),
  rareExtension: (batchId) => rareRounds.extension(batchId),
  checkRareRounds: (batchId) => rareRounds.check(batchId),
  async openManifest(batchId) {
    const [head] = await withRounds([await coordinator.call('openReading', batchId)]);
    return openStream([head!], manifestOf(head!));
  },
  async openTable(request) {
    const heads = await headsOf(request);
    return openStream(heads, tableRuns.pieces(request, withExtracted(heads, request.extracted)));
  },
  async openHistories(request) {
    const heads = await headsOf(request);
    return openStream(heads, historiesOf(request, withExtracted(heads, request.extracted)));
  },
  async nextPiece({ stream, bytes }) {
    if (bytes !== undefined) takeBack(bytes);
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
    const heads = await headsOf(request);
    try {
      return await tableRuns.page(request, withExtracted(heads, request.extracted));
    } finally {
      await closeReadings(heads.map((it) => it.reading));
    }
  },
};

const coordinator = new ThreadChannel<CoordinatorMethods>(parentPort!, methods);
