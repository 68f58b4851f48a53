/**
 * The verdicts on the requirements of studies while they run, and how near they are to their precisions: each committed end of a run advances the
 * complete prefix, and a study whose rule is fulfilled is stopped there. Judges in slices of the event loop, after the commit, in the order of
 * runs; what is judged is stored now and then, and a restart reads the runs after that again.
 */
import type { Fact } from '../../../machines/protocol.ts';
import { dependenceWarnings } from '../../analysis/table/header.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { PrecisionReached, ReportedResult, RequirementVerdict, Uuid, Verdict } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { designMethod } from '../../domain/study/design-method.ts';
import { decodeBatch, isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import type { Study, StudyCache } from '../kernel/records/study-cache.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import { isJudged, keptRequirements, latestVerdicts, limitsOf, readVerdicts, storedOf } from './batch-part.ts';
import { isDue, isOver, type Entry } from './entry.ts';
import { openJudgement } from './open-judgement.ts';
import { outcomesForFact, outcomesOfFact } from './outcomes.ts';
import { addStoredOutcomes, outcomesOnDisk } from './stored-outcomes.ts';
import type { StudyJudgement, VerdictsRecord } from './study-judgement.ts';

interface Parts {
  clock: Clock;
  share: EventLoopShare;
  store: Store;
  studyCache: StudyCache;
  turns: Turns;
  /** The open batches after a restart. */
  openBatches(): Iterable<BatchState>;
  /** The state of a batch, in memory or stored. */
  stateOf(batchId: Uuid): BatchState | undefined;
  /** Called when judging fails. */
  failed(error: unknown): void;
}

export class Judgements {
  readonly #parts: Parts;
  readonly #entries = new Map<Uuid, Entry>();
  /** Studies that cannot be judged; each is reported once. */
  readonly #unusable = new Set<Uuid>();
  #isStopped = false;
  readonly #running = new Set<Promise<void>>();
  /** Readings of stored runs, one after the other. */
  #readings: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The outcomes of a completed run under the requirements and precisions of its study; undefined for a study without any. */
  outcomesOf(batchId: Uuid, result: ReportedResult): string | undefined {
    const judgement = this.#entries.get(batchId)?.judgement;
    return judgement === undefined ? undefined : outcomesForFact(judgement.study, result);
  }

  /** Takes over the open batches after a restart. */
  restore(): void {
    for (const state of this.#parts.openBatches()) this.#takeOver(state);
  }

  /** Takes over an open batch after a restart, or an ended batch that is not judged to its end. */
  #takeOver(state: BatchState): void {
    const { batchId } = state.context;
    if (this.#isStopped || !isJudged(state)) return;
    if (this.#entries.has(batchId) || this.#unusable.has(batchId)) return;
    const record = readVerdicts(this.#parts, batchId);
    if (record?.verdicts !== undefined) return;
    const entry = this.#open(state, record);
    if (entry === undefined) return;
    entry.isEnded = this.#hasEnded(batchId);
    this.#readings = this.#readings.then(() => this.#read(entry)).catch((error: unknown) => this.#failed(error));
    this.#track(this.#readings);
  }

  /** Whether the end of a batch is on disk. In memory it may come before the records of its last runs, which would be missing for ever. */
  #hasEnded(batchId: Uuid): boolean {
    const record = this.#parts.store.get(keys.batch(batchId));
    return record !== undefined && isTerminal(decodeBatch(record).value);
  }

  /** Takes the facts of a group that is on disk. */
  committed(facts: readonly Fact[]): void {
    const changed = new Set<Entry>();
    for (const fact of facts) {
      if (fact.type === 'batch.opened') this.#opened(fact.batchId);
      else if (fact.type === 'batch.amended') this.#amended(fact.batchId);
      const entry = 'batchId' in fact ? this.#entries.get(fact.batchId) : undefined;
      if (entry === undefined) continue;
      if (fact.type === 'job.ended') {
        const index = entry.selection.indexOf(fact.runId);
        const outcomes =
          outcomesOfFact(entry.judgement.study, fact) ??
          outcomesOnDisk(this.#parts.store, entry.judgement.study, fact.jobId);
        if (index !== undefined && outcomes !== undefined) entry.judgement.add(index, outcomes);
      } else if (fact.type === 'batch.ended') entry.isEnded = true;
      else if (fact.type === 'batch.deleted') this.#entries.delete(fact.batchId);
      else continue;
      changed.add(entry);
    }
    for (const entry of changed) this.#wake(entry);
  }

  /**
   * The verdicts on a study's requirements, as of its runs on disk; undefined without requirements, and for an ended study until
   * it is judged. At most some milliseconds of it are computed at once; of many requirements, some may be a little older.
   */
  verdictsOf(state: BatchState): RequirementVerdict[] | undefined {
    const { requirements = 0 } = state.context;
    if (requirements === 0) return undefined;
    if (isTerminal(state.value)) return this.#final(state)?.verdicts;
    const entry = this.#entryOf(state);
    return entry === undefined ? undefined : latestVerdicts(entry, state, this.#parts.clock);
  }

  /**
   * How near the runs on disk are to the precisions of a study; undefined without any, and for an ended study until it is
   * judged.
   */
  precisionOf(state: BatchState): PrecisionReached[] | undefined {
    const { stopWhen } = state.context;
    if (stopWhen !== 'precise') return undefined;
    if (isTerminal(state.value)) return this.#final(state)?.reached;
    const entry = this.#entryOf(state);
    return entry?.judgement.precision(dependenceWarnings(entry.method));
  }

  /** Whether nothing of an ended study is to be judged any more. */
  isFinal(state: BatchState): boolean {
    return !isJudged(state) || this.#unusable.has(state.context.batchId) || this.#final(state) !== undefined;
  }

  /** The record of an ended study that is judged to its end; judges it otherwise. */
  #final(state: BatchState): VerdictsRecord | undefined {
    const record = readVerdicts(this.#parts, state.context.batchId);
    if (record?.verdicts !== undefined) return record;
    this.#takeOver(state);
    return undefined;
  }

  /** The verdict so far on each requirement of each open study without scenarios. */
  *openVerdicts(): Generator<Verdict> {
    for (const entry of this.#entries.values()) {
      const { judgement, method } = entry;
      if (!judgement.hasVerdicts) continue;
      const limits = limitsOf(method, entry.state(), judgement);
      for (const at of judgement.study.requirements.keys()) yield judgement.answer(at, limits).verdict;
    }
  }

  /** Ends all judging; the next start continues it. */
  async close(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  /** Resolves when every run that has ended is judged. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** The judgement of a batch under its requirements as of this state. */
  #entryOf({ context: { batchId, judgement } }: BatchState): Entry | undefined {
    const entry = this.#entries.get(batchId);
    return entry?.judgement.study.revision === judgement?.revision ? entry : undefined;
  }

  /** Judges a batch from its first run, under the requirements that are in force now. */
  #amended(batchId: Uuid): void {
    const before = this.#entries.get(batchId);
    this.#entries.delete(batchId);
    this.#unusable.delete(batchId);
    const state = this.#parts.stateOf(batchId);
    if (state === undefined) return;
    this.#takeOver(state);
    const entry = this.#entries.get(batchId);
    if (entry === undefined || before === undefined) return;
    // A requirement that stays is not announced as settled again.
    const kept = keptRequirements(before.judgement, entry.judgement);
    entry.stored = { ...entry.stored, settled: before.stored.settled.filter((name) => kept.has(name)) };
  }

  #opened(batchId: Uuid): void {
    const state = this.#parts.stateOf(batchId);
    if (state === undefined || !isJudged(state) || this.#entries.has(batchId)) return;
    const entry = this.#open(state, undefined);
    if (entry !== undefined) entry.isRead = true;
  }

  /** Reports a study that cannot be judged, and leaves it out. */
  #open({ context }: BatchState, record: VerdictsRecord | undefined): Entry | undefined {
    const { batchId } = context;
    let study: Study;
    let judgement: StudyJudgement;
    try {
      study = this.#parts.studyCache.of(context);
      judgement = openJudgement(context, study, record, (error) => this.#parts.failed(error));
    } catch (error) {
      this.#unusable.add(batchId);
      this.#parts.failed(error);
      return undefined;
    }
    const entry: Entry = {
      judgement,
      selection: study.selection,
      method: designMethod(study.submission),
      state: () => this.#parts.stateOf(batchId),
      isRead: false,
      isEnded: false,
      isRunning: false,
      stored: storedOf(judgement, record),
    };
    this.#entries.set(batchId, entry);
    return entry;
  }

  async #read(entry: Entry): Promise<void> {
    await addStoredOutcomes(this.#parts, entry.judgement, entry.selection, () => this.#isStopped);
    entry.isRead = !this.#isStopped;
    this.#wake(entry);
  }

  #wake(entry: Entry): void {
    if (entry.isRunning || this.#isStopped) return;
    entry.isRunning = true;
    this.#track(this.#run(entry).catch((error: unknown) => this.#failed(error)));
  }

  #track(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** A stopping coordinator refuses the turn that stores a verdict; the next start judges again. */
  #failed(error: unknown): void {
    const isStopping = error instanceof SimbatchError && error.code === 'unavailable';
    if (!isStopping) this.#parts.failed(error);
  }

  /** Judges until no run is left that can be. */
  async #run(entry: Entry): Promise<void> {
    try {
      while (await this.#advance(entry)) {
        const over = isOver(entry);
        await this.#store(entry, over);
        const { batchId } = entry.judgement.study;
        if (over && this.#entries.get(batchId) === entry) this.#entries.delete(batchId);
      }
    } catch (error) {
      entry.isRunning = false;
      throw error;
    }
  }

  /** Judges up to the next state that is to be stored. Returns false when there is none. */
  async #advance(entry: Entry): Promise<boolean> {
    const { judgement } = entry;
    do {
      const later = this.#parts.share.slice();
      if (later !== undefined) await later;
      if (this.#isStopped || this.#entries.get(judgement.study.batchId) !== entry) return false;
      if (entry.isEnded && entry.isRead) judgement.end();
    } while (judgement.step() && !isDue(entry));
    const isNext = isOver(entry) || isDue(entry);
    // In the same step as the last look at the outcomes, so that a run that ends after it wakes the study again.
    if (!isNext) entry.isRunning = false;
    return isNext;
  }

  /** Stores what is judged and, where its rule is fulfilled, stops the study, in one turn. */
  async #store(entry: Entry, isLast: boolean): Promise<void> {
    const { judgement } = entry;
    const { batchId } = judgement.study;
    const record = judgement.record();
    const stored = storedOf(judgement);
    const names = stored.settled.filter((it) => !entry.stored.settled.includes(it));
    const settled = names.length === 0 ? {} : { settled: { names, total: stored.settled.length } };
    if (isLast) {
      record.verdicts = await this.#lastVerdicts(entry);
      const reached = judgement.precision(dependenceWarnings(entry.method));
      if (reached !== undefined) record.reached = reached;
    }
    await this.#parts.turns.run('judge', (turn) => {
      const state = turn.state('batch', batchId);
      // Verdicts on requirements that were amended meanwhile neither stop the study nor are kept.
      if (state === undefined || state.context.judgement?.revision !== judgement.study.revision) return;
      if (judgement.isStopped && !isTerminal(state.value))
        turn.trySend('batch', batchId, { type: 'SETTLE', runId: judgement.stopRunId, now: turn.now });
      turn.put(keys.verdicts(batchId), JSON.stringify(record));
      turn.emit({ type: 'batch.judged', batchId, ...settled, now: turn.now });
    });
    entry.stored = stored;
  }

  /** The verdicts on an ended study, each computed within a slice. */
  async #lastVerdicts(entry: Entry): Promise<RequirementVerdict[]> {
    const limits = limitsOf(entry.method, entry.state(), entry.judgement);
    const verdicts: RequirementVerdict[] = [];
    if (!entry.judgement.hasVerdicts) return verdicts;
    for (const at of entry.judgement.study.requirements.keys()) {
      const later = this.#parts.share.slice();
      if (later !== undefined) await later;
      verdicts.push(entry.judgement.answer(at, limits));
    }
    return verdicts;
  }
}
