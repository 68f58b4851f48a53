/** Readings of the rounds of adaptive studies: the list, one round, its results once its runs have ended, and the check of all of them. */
import { reasonOf } from '../../domain/runs/run-end.ts';
import { runClassOf, type RunClass } from '../../analysis/table/run-class.ts';
import type { Abandoned } from '../../base/abandonment.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type {
  JobRecord,
  Round,
  RoundDetail,
  RoundProgress as OpenRound,
  RoundRecord,
  RoundResults,
  RoundRow,
  RoundsCheck,
  StoredResult,
  Uuid,
} from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Answers } from '../answers/answers.ts';
import { jobId, runIdOf } from '../../domain/ids.ts';
import { outputsOf } from '../../domain/runs/outputs.ts';
import { isTerminal, missingRecord, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { RoundChain } from '../kernel/records/round-chain.ts';
import { readRound, recordDigest } from '../kernel/records/stored-rounds.ts';
import type { Study, StudyCache } from '../kernel/records/study-cache.ts';
import { idOf, keys } from '../kernel/storage/keys.ts';
import type { Entry, Store, StoreView } from '../kernel/storage/store.ts';
import type { GroupCommit } from '../kernel/turn/group-commit.ts';
import { openListing, listing, type Listing } from '../reads/listings.ts';
import type { RoundProgress } from './round-progress.ts';
import { appended } from './store-round.ts';

interface CheckParts extends ReadParts {
  answers: Answers;
}

interface ReadParts {
  store: Store;
  share: EventLoopShare;
  studyCache: StudyCache;
  groupCommit: GroupCommit;
  roundProgress: RoundProgress;
}

/** Items of one chunk of a list. */
const CHUNK = 100;
/** The results of so many runs are looked for one by one. */
const FEW_RUNS = 16;
/** The most faults that a check lists. */
const MAX_FAULTS = 100;

const sourceOf = (view: Pick<StoreView, 'get'>): { read(key: string): string | undefined } => ({
  read: (key) => view.get(key),
});

/** @throws SimbatchError `unknown-batch`, `not-external` for a study without rounds */
function adaptiveStudy(
  parts: ReadParts,
  view: Pick<StoreView, 'get'>,
  batchId: Uuid,
): { state: BatchState; study: Study } {
  const state = readBatch(view, batchId);
  const study = parts.studyCache.of(state.context, sourceOf(view));
  if (study.rows !== undefined) return { state, study };
  throw new SimbatchError('not-external', `study ${batchId} has a fixed number of runs and no rounds`);
}

function roundOrThrow(view: Pick<StoreView, 'get'>, batchId: Uuid, round: number): RoundRecord {
  const record = readRound(sourceOf(view), batchId, round);
  if (record !== undefined) return record;
  throw new SimbatchError('unknown-round', `study ${batchId} has no round ${round}`);
}

function toRound(parts: ReadParts, { value, context }: BatchState, record: RoundRecord): Round {
  const { round, key, label, note, source, previous, appended_at, decision } = record;
  const isTracked = context.budget !== undefined && !isTerminal(value);
  const complete = isTracked ? parts.roundProgress.isComplete(context.batchId, round) : isTerminal(value);
  return { ...appended(record), key, label, note, source, previous, appended_at, complete, decision };
}

/** The rounds of a study from the number `from` on, every `step`, at most `limit`. @throws SimbatchError `unknown-batch`, `not-external` */
export function rounds(
  parts: ReadParts,
  batchId: Uuid,
  { from = 0, limit = Infinity, step = 1 }: { from?: number; limit?: number; step?: number } = {},
): Promise<Listing<Round>> {
  return openListing(parts, (view) => {
    const { state } = adaptiveStudy(parts, view, batchId);
    const source = sourceOf(view);
    async function* chunks(): AsyncGenerator<Round[]> {
      const end = from + limit * step;
      for (let next = from; next < end;) {
        await parts.share.slice();
        const chunk: Round[] = [];
        for (; next < end && chunk.length < CHUNK; next += step) {
          const record = readRound(source, batchId, next);
          if (record === undefined && next < (state.context.rounds ?? 0))
            throw missingRecord(`round ${next} of study ${batchId}`);
          if (record === undefined) break;
          chunk.push(toRound(parts, state, record));
        }
        if (chunk.length > 0) yield chunk;
        if (chunk.length < CHUNK) return;
      }
    }
    return Promise.resolve(listing(view, chunks(), {}, () => '', state.context.rounds));
  });
}

/** One round with its runs by class. @throws SimbatchError `unknown-batch`, `not-external`, `unknown-round` */
export async function roundDetail(parts: ReadParts, batchId: Uuid, number: number): Promise<RoundDetail> {
  const view = parts.store.snapshot();
  try {
    const { state } = adaptiveStudy(parts, view, batchId);
    const record = roundOrThrow(view, batchId, number);
    const counts: RoundDetail['counts'] = {};
    for await (const classes of parts.share.mapped(runsOf(record), (run) =>
      classOf(state, jobRecord(view, state, run)),
    )) {
      for (const it of classes) counts[it] = (counts[it] ?? 0) + 1;
    }
    return { ...toRound(parts, state, record), complete: counts['open'] === undefined, counts };
  } finally {
    await view.close();
  }
}

/** The round that a client's key names. @throws SimbatchError `unknown-batch`, `not-external`, `unknown-round` */
export async function roundByKey(parts: ReadParts, batchId: Uuid, key: string): Promise<RoundDetail> {
  adaptiveStudy(parts, parts.store, batchId);
  const number = parts.store.get(keys['round-key'](batchId, key));
  if (number !== undefined) return roundDetail(parts, batchId, Number(number));
  throw new SimbatchError(
    'unknown-round',
    `no round of study ${batchId} has the key ${JSON.stringify(key.slice(0, 200))}`,
  );
}

/** The results of a round as JSON in pieces; or its progress, where runs have not ended. */
export type ResultsAnswer = { progress: OpenRound } | { pieces: readonly string[] };

/**
 * The runs of a round, ascending, once all of them have ended; waits for that up to `waitMs`.
 * @throws SimbatchError `unknown-batch`, `not-external`, `unknown-round`
 */
export async function roundResults(
  parts: ReadParts,
  batchId: Uuid,
  number: number,
  { waitMs = 0, abandoned }: { waitMs?: number; abandoned?: Abandoned } = {},
): Promise<ResultsAnswer> {
  adaptiveStudy(parts, parts.store, batchId);
  roundOrThrow(parts.store, batchId, number);
  await parts.roundProgress.wait(batchId, number, waitMs, abandoned);
  const view = parts.store.snapshot();
  try {
    const { state, study } = adaptiveStudy(parts, view, batchId);
    const record = roundOrThrow(view, batchId, number);
    const head = { round: number, first_run_id: record.first_run_id, count: record.count };
    const counts: RoundResults['counts'] = {};
    const pieces: string[] = [`${JSON.stringify(head).slice(0, -1)},"results":[`];
    const rowOf = ([run, result]: RunResult): [RunClass, string] => {
      const row = toRow(view, state, study, run, result);
      return [row.class as RunClass, JSON.stringify(row)];
    };
    for await (const runs of storedResults(view, batchId, record)) {
      for await (const rows of parts.share.mapped(runs, rowOf)) {
        for (const [it] of rows) counts[it] = (counts[it] ?? 0) + 1;
        pieces.push((pieces.length === 1 ? '' : ',') + rows.map(([, text]) => text).join(','));
      }
    }
    if (counts['open'] !== undefined) return { progress: { ...head, counts, complete: false } };
    pieces.push(`],"counts":${JSON.stringify(counts)},"complete":true}`);
    return { pieces };
  } finally {
    await view.close();
  }
}

function* runsOf({ first_run_id: first, count }: RoundRecord): Generator<number> {
  for (let run = first; run < first + count; run++) yield run;
}

/** A run with the record of its result; undefined where it has none. */
type RunResult = readonly [run: number, result: string | undefined];

/** The runs of a round, ascending, in chunks. Reading a range costs less for each record than looking for it, and more to begin with. */
async function* storedResults(view: StoreView, batchId: Uuid, round: RoundRecord): AsyncGenerator<Iterable<RunResult>> {
  const { first_run_id: first, count } = round;
  const keyOf = (run: number): string => keys.result(jobId(batchId, run));
  if (count <= FEW_RUNS) {
    yield Array.from(runsOf(round), (run) => [run, view.get(keyOf(run))] as const);
    return;
  }
  let next = first;
  function* withoutResult(end: number): Generator<RunResult> {
    for (; next < end; next++) yield [next, undefined];
  }
  function* withGaps(chunk: readonly Entry[]): Generator<RunResult> {
    for (const [key, result] of chunk) {
      yield* withoutResult(runIdOf(idOf(key)));
      yield [next++, result];
    }
  }
  for await (const chunk of view.entries({ gte: keyOf(first), lt: keyOf(first + count) })) yield withGaps(chunk);
  yield withoutResult(first + count);
}

/** The record of a run; undefined for an untouched one. */
export function jobRecord(view: Pick<StoreView, 'get'>, { context }: BatchState, run: number): JobRecord | undefined {
  const record = view.get(keys.job(jobId(context.batchId, run)));
  return record === undefined ? undefined : (JSON.parse(record) as JobRecord);
}

/** A run without a record is untouched, or was cancelled with its study. */
export function classOf({ context }: BatchState, job: JobRecord | undefined): RunClass {
  if (job === undefined) return context.cancelRequested ? 'cancelled' : 'open';
  return runClassOf(job.value, reasonOf(job));
}

function toRow(
  view: StoreView,
  state: BatchState,
  { sampler }: Study,
  run: number,
  record: string | undefined,
): RoundRow {
  const id = jobId(state.context.batchId, run);
  const result = record === undefined ? undefined : (JSON.parse(record) as StoredResult);
  // A result of a Completed run says so.
  const isOk = result?.success === true;
  const job = isOk ? undefined : jobRecord(view, state, run);
  const error = job?.error ?? result?.error_message ?? undefined;
  const row: RoundRow = {
    run_id: run,
    job_id: id,
    class: isOk ? 'ok' : classOf(state, job),
    parameters: sampler.parameters(run),
    outputs: result === undefined ? {} : Object.fromEntries(outputsOf(result.metadata)),
  };
  const draw = sampler.drawOf!(run);
  if (draw !== undefined) row.draw = draw;
  return error === undefined ? row : { ...row, error };
}

/** Checks the rows of every round against their digest, and the chain of records. @throws SimbatchError `unknown-batch`, `not-external` */
export async function checkRounds(parts: CheckParts, batchId: Uuid): Promise<RoundsCheck> {
  await parts.groupCommit.durable();
  const view = parts.store.snapshot();
  try {
    const { state, study } = adaptiveStudy(parts, view, batchId);
    const { parent, rounds: expected, totalJobs } = state.context;
    const faults: string[] = [];
    const report = (fault: string): void => {
      if (faults.length < MAX_FAULTS) faults.push(fault);
    };
    const start = parent === undefined ? recordDigest(view.get(keys.submission(batchId)) ?? '') : undefined;
    const chain = new RoundChain(study.rows!, start, report);
    for (let number = 0; ; number++) {
      await parts.share.slice();
      const text = view.get(keys.round(batchId, number));
      if (text === undefined) {
        if (number >= (expected ?? 0)) break;
        report(`the record of round ${number} is missing`);
        continue;
      }
      chain.round(text);
      for (let block = 0; chain.expectsBlock; block++) {
        await parts.share.slice();
        chain.block(view.get(keys.rows(batchId, number, block)));
      }
    }
    chain.finish();
    const { rounds: found, runs } = chain;
    // A study that came of another one may hold a part of its runs.
    if (parent === undefined && (found !== (expected ?? 0) || runs !== totalJobs)) {
      report(`the study counts ${expected ?? 0} rounds with ${totalJobs} runs, and ${found} with ${runs} are stored`);
    }
    const computed = await computedAgain(parts, batchId, study);
    const verdict = faults.length === 0 && computed?.verdict !== 'differs' ? 'identical' : 'differs';
    return { rounds: found, runs, verdict, head: chain.head ?? null, faults, computed };
  } finally {
    await view.close();
  }
}

/** Computes the rounds of an algorithm of the coordinator again; null for those of clients, and for a batch that repeats runs of a study. */
async function computedAgain(
  { answers }: CheckParts,
  batchId: Uuid,
  { submission, rows, selection }: Study,
): Promise<RoundsCheck['computed']> {
  if (rows?.space !== 'normal' || typeof submission.config.monte_carlo.run_ids === 'string') return null;
  if (selection.count === 0) return null;
  const { rounds: compared, largest, first } = await answers.checkRareRounds(batchId);
  const verdict = largest === 0 && first === null ? 'identical' : first === null ? 'within-1e-9' : 'differs';
  return { rounds: compared, verdict, largest_difference: largest, first };
}
