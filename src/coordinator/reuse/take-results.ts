/** Ends runs that are about to be claimed, and whose results are known, with these results; in the turn of the claim. */
import { releasedRuns, type BatchContext } from '../../../machines/batch.ts';
import { runTelemetry } from '../../../machines/telemetry-tally.ts';
import { shortCode } from '../../domain/code-name.ts';
import { isDamage } from '../../domain/errors.ts';
import { batchIdOf, jobId as jobIdOf, runIdOf } from '../../domain/ids.ts';
import { conditionVariables } from '../../domain/study/condition.ts';
import type { CodeIdentity, StoredResult, Uuid } from '../../contract/types.ts';
import { putHistories } from '../histories/reported.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { encodeResult } from '../kernel/actors/job-codec.ts';
import { batchOrThrow, runnerOrThrow } from '../kernel/records/lookup.ts';
import type { Study, StudyCache } from '../kernel/records/study-cache.ts';
import { reusedFrom } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Turn } from '../kernel/turn/turn.ts';
import type { Judgements } from '../judgement/judgements.ts';
import type { LongPolls } from '../scheduling/long-polls.ts';
import type { RunAssignment } from '../scheduling/scheduler.ts';
import { codeOn, knownResult, sourcesOf, type KnownResult, type Sources } from './known-results.ts';
import type { Taking } from './taking.ts';

export interface ReuseParts {
  taking: Taking;
  studyCache: StudyCache;
  judgements: Judgements;
}

/** True where the run is of a study that takes results. */
export const takesResults = (turn: Turn, { jobId }: RunAssignment): boolean =>
  batchOrThrow(turn, batchIdOf(jobId)).context.reuse !== undefined;

/**
 * The runners that have to claim again before runs of studies that take results are theirs: a program may have been replaced since the look at their
 * code, before the study was submitted or while the claim waited.
 */
export function runnersToLook(
  polls: Pick<LongPolls<unknown>, 'hasLooked'>,
  turn: Turn,
  picks: readonly RunAssignment[],
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { runnerId, jobId } of picks) {
    const { reuse, createdAtMs } = batchOrThrow(turn, batchIdOf(jobId)).context;
    if (reuse !== undefined && !polls.hasLooked(runnerId, createdAtMs)) found.add(runnerId);
  }
  return found;
}

/**
 * Ends the assigned runs whose results are known, and claims the others, in their order: the cursors of their studies move on with them. When the
 * turn is full, further runs of studies that take results are left to a later one. Then ends further runs of the studies up to the first whose
 * result is not known. Returns the claimed ones.
 */
export function takeOrClaim(
  parts: ReuseParts,
  turn: Turn,
  picks: readonly RunAssignment[],
  claim: (pick: RunAssignment) => boolean,
): readonly RunAssignment[] {
  const { taking } = parts;
  const takers = new Map<Uuid, Taker>();
  taking.begin();
  const claimed = picks.filter((pick) => {
    // Most studies take no results: this must cost nothing then.
    if (!takesResults(turn, pick)) return claim(pick);
    if (taking.isFull) {
      taking.leave();
      return false;
    }
    return !isTaken(parts, turn, takers, pick) && claim(pick);
  });
  for (const taker of takers.values()) unlessDamaged(() => taker.takeFurther());
  return claimed;
}

/** False for a run without a known result, and where a record that decides it is damaged. */
const isTaken = (parts: ReuseParts, turn: Turn, takers: Map<Uuid, Taker>, pick: RunAssignment): boolean =>
  unlessDamaged(() => takerOf(parts, turn, takers, pick).takes(pick)) === true;

/** Undefined where a record is damaged: the claim decides what becomes of the run. */
function unlessDamaged<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}

function takerOf(parts: ReuseParts, turn: Turn, takers: Map<Uuid, Taker>, pick: RunAssignment): Taker {
  const batchId = batchIdOf(pick.jobId);
  const known = takers.get(batchId);
  if (known !== undefined) return known;
  const taker = new Taker(parts, turn, batchOrThrow(turn, batchId).context);
  takers.set(batchId, taker);
  return taker;
}

/** One study in one turn. */
class Taker {
  readonly #parts: ReuseParts;
  readonly #turn: Turn;
  readonly #batch: BatchContext;
  readonly #study: Study;
  readonly #sources: Sources;
  readonly #among: readonly BatchState[];
  readonly #codes = new Map<string, CodeIdentity | undefined>();
  /** The latest assignment of an untouched run, where its result was taken. */
  #latest: { runnerId: string; index: number } | undefined;

  constructor(parts: ReuseParts, turn: Turn, batch: BatchContext) {
    this.#parts = parts;
    this.#turn = turn;
    this.#batch = batch;
    const { studyCache } = parts;
    this.#sources = { read: (key) => turn.read(key), batch: (id) => turn.state('batch', id), studyCache };
    this.#study = studyCache.of(batch);
    this.#among = sourcesOf(this.#sources, batch, this.#study);
  }

  /** Ends the run with the result of another one. Returns false where none is known. */
  takes({ runnerId, jobId, index }: RunAssignment): boolean {
    const known = this.#known(runnerId, runIdOf(jobId));
    const place = index ?? runIdOf(jobId);
    if (known !== undefined) this.#take(jobId, index, known);
    // A requeued run is before the cursor.
    if (place >= this.#batch.next) this.#latest = known === undefined ? undefined : { runnerId, index: place };
    return known !== undefined;
  }

  /** Continues after the last assigned run while results are known, so that many of them do not take a turn each. */
  takeFurther(): void {
    if (this.#latest === undefined) return;
    const { batchId, selectsRuns } = this.#batch;
    const { runnerId, index: last } = this.#latest;
    const end = releasedRuns(this.#batch);
    for (let index = last + 1; index < end; index += 1) {
      if (this.#parts.taking.isFull) {
        this.#parts.taking.leave();
        return;
      }
      const runId = this.#parts.studyCache.runAt(this.#batch, index);
      const jobId = jobIdOf(batchId, runId);
      const job = this.#turn.state('job', jobId);
      // Cancelled ahead of the others.
      if (job?.value !== 'Pending') continue;
      const known = this.#known(runnerId, runId);
      if (known === undefined) return;
      this.#take(jobId, selectsRuns === true ? index : undefined, known);
    }
  }

  #known(runnerId: string, runId: number): KnownResult | undefined {
    if (this.#among.length === 0) return undefined;
    const code = this.#codeOn(runnerId);
    if (code === undefined) return undefined;
    const { timeLimitMs } = this.#batch;
    return knownResult(this.#sources, this.#among, { study: this.#study, runId, code, timeLimitMs });
  }

  #codeOn(runnerId: string): CodeIdentity | undefined {
    if (!this.#codes.has(runnerId)) {
      this.#codes.set(runnerId, codeOn(runnerOrThrow(this.#turn, runnerId).context, this.#study));
    }
    return this.#codes.get(runnerId);
  }

  #take(jobId: Uuid, index: number | undefined, known: KnownResult): void {
    const { batchId } = this.#batch;
    const { early_termination: rules } = this.#study.submission.config;
    const result = takenResult(jobId, known);
    const telemetry = result.telemetry === undefined ? undefined : runTelemetry(result, conditionVariables(rules));
    const outcomes = known.error === undefined ? this.#parts.judgements.outcomesOf(batchId, result) : undefined;
    this.#turn.send('job', jobId, {
      type: 'REUSE',
      from: known.jobId,
      endedAtMs: known.endedAtMs,
      code: shortCode(known.code.digest),
      identity: known.code,
      ...(known.error === undefined ? {} : { error: known.error }),
      ...(index === undefined ? {} : { index }),
      ...(telemetry === undefined ? {} : { telemetry }),
      ...(outcomes === undefined ? {} : { outcomes }),
      ...(result.read === undefined || known.error !== undefined ? {} : { lookUps: { read: result.read } }),
      now: this.#turn.now,
    });
    const text = encodeResult(result);
    this.#parts.taking.count(text.length);
    this.#turn.put(keys.result(jobId), text);
    putHistories(this.#turn, jobId, known.histories);
    for (const it of known.histories) this.#parts.taking.addChars(it.length);
  }
}

/** The result of the other run as that of this one. Where its files are is said by the other run. */
function takenResult(jobId: Uuid, { result: { upload: _, ...result }, ...known }: KnownResult): StoredResult {
  return { ...result, job_id: jobId, reused_from: reusedFrom(known.jobId, known.endedAtMs) };
}
