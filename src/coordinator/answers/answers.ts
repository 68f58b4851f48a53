/**
 * Answers about studies: asks the analysis worker, joins equal questions, and keeps recent answers as bytes. The life of the entry of a
 * question:
 *
 *      ask ── the client has these versions ──► unchanged, without an entry
 *       │
 *       │ no entry, or one of older versions that no client is owed
 *       ▼
 *   computing ───── worker answers ─────► ready ── a study changes, and no client is owed ──► replaced at the next ask
 *    │      │                             │   ▲
 *    │      │ the wait of a client ends   │   └── ask: the answer, and no client is owed any more
 *    │      ▼                             │
 *    │    pending: it is owed             └── more than 32 MiB are kept, and others were used later ──► dropped
 *    │
 *    └── worker fails or crashes ──► dropped; the clients that wait get the error
 *
 * An owed entry answers although a study has changed since: a study that changes faster than its answer is computed would never be answered.
 */
import type { Abandoned } from '../../base/abandonment.ts';
import { entityTag } from '../../base/entity-tag.ts';
import { packageVersion } from '../../base/package.ts';
import { type Asked, batchesOf, checkAsked, questionOf } from '../../analysis/questions.ts';
import type { Fact } from '../../../machines/protocol.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import { familyOf, mergeable, repeatsOf } from '../kernel/records/family.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import type { Store } from '../kernel/storage/store.ts';
import { AnalysisThread, type AnalysisThreadHooks } from './analysis-thread.ts';
import { RowReadings } from './row-readings.ts';
import { type RareCheck, type RareExtension, type RareOutcome, RareRounds } from './worker/rare-rounds.ts';
import { RoundCache } from './worker/round-rows.ts';
import { TableAnswers } from './table-answers.ts';
import type { ExtractedBatch } from '../../analysis/table/extracted.ts';
import { versionOf } from '../kernel/records/study-version.ts';

/** The answers that are kept hold at most this many bytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** The most questions that wait for the worker. */
const MAX_WAITING = 100;

/** `body`: JSON text in UTF-8. */
export type Answer =
  | { state: 'ready'; tag: string; body: Uint8Array }
  /** The client has this version. */
  | { state: 'unchanged'; tag: string }
  /** Still being computed: the same question later gets the answer. */
  | { state: 'pending' };

export interface AskOptions {
  /** Pools the runs of the batch with those of its extensions and reruns. */
  family?: boolean;
  /** How long to wait for the answer. */
  waitMs: number;
  /** True for the tag of an answer that the client has. */
  isKnown?: (tag: string) => boolean;
  /** Ends the wait. */
  abandoned?: Abandoned;
}

/**
 * `extractionsOf`: the extractions of a batch, whose outputs are columns of its table; `extractedOf`: the same for questions, which count the runs without
 * values themselves.
 */
export interface AnswersHooks extends AnalysisThreadHooks {
  extractionsOf(this: void, batchId: Uuid): Promise<ExtractedBatch[]>;
  extractedOf(this: void, batchId: Uuid): ExtractedBatch[];
}

interface Entry {
  /** The versions of the question's studies in this answer; one more of an answer that may be another one at the same versions. */
  versions: string[];
  body: Uint8Array | undefined;
  /** A client was asked to come back. */
  isOwed: boolean;
  done: Promise<void>;
}

export class Answers {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #share: EventLoopShare;
  readonly #readings: RowReadings;
  readonly #extractedOf: AnswersHooks['extractedOf'];
  readonly thread: AnalysisThread;
  /** Tables and manifests, which are streams. */
  readonly tables: TableAnswers;
  /** Computes rounds on this thread, where no worker does. */
  readonly #inline: RareRounds | undefined;
  /** Answers by question, the last used at the end. */
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;
  #bytes = 0;
  #waiting = 0;
  /** Counts the answers that may differ although the versions of their studies are the same. */
  #passing = 0;
  /** A part of every tag: a restored backup may have the counters of other results. */
  #epoch: string | undefined;

  constructor(
    parts: { store: Store; clock: Clock; share: EventLoopShare; studyCache: StudyCache; computesInWorker: boolean },
    hooks: AnswersHooks,
  ) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#share = parts.share;
    this.#readings = new RowReadings(parts);
    this.thread = new AnalysisThread(this.#readings, hooks);
    this.#inline = parts.computesInWorker ? undefined : inlineRounds(this.#readings);
    const tag = (key: string, versions: readonly string[]): string => this.#tag(key, versions);
    const { store, share } = parts;
    const { extractionsOf, extractedOf } = hooks;
    this.#extractedOf = extractedOf;
    this.tables = new TableAnswers({ store, share, thread: this.thread, tag, extractionsOf });
  }

  /**
   * The answer to a question, as of a version of its studies that is not older than the question. While a study runs, a client that
   * was asked to come back may get an older one; so may a client whose question reads files, since an unreadable file makes the answer passing.
   * @throws SimbatchError `unknown-batch`; `malformed-query` for a question that its study cannot answer; `too-many-requests`;
   * `unavailable` when the worker crashes.
   */
  async ask(asked: Asked, { waitMs, isKnown, abandoned, family = false }: AskOptions): Promise<Answer> {
    checkAsked(asked);
    const whole = family ? { ...asked, members: await this.#family(asked.batchId) } : this.#withRepeats(asked);
    const batches = batchesOf(whole);
    const own = batches.map((batchId) => readBatch(this.#store, batchId));
    const extracted = batches.flatMap((batchId) => this.#extractedOf(batchId));
    const question = extracted.length === 0 ? whole : { ...whole, extracted };
    const studies = [...own, ...extracted.map(({ batchId }) => readBatch(this.#store, batchId))];
    const versions = studies.map(versionOf);
    const key = JSON.stringify(question);
    const current = this.#tag(key, versions);
    if (isKnown?.(current) === true) return { state: 'unchanged', tag: current };
    // An older answer is allowed: else a study that changes faster than the answer is computed would have none.
    const mayBeOlder = questionOf(asked.name).readsFiles === true || studies.some(({ value }) => !isTerminal(value));
    const entry = this.#entry(key, question, versions, mayBeOlder);
    const isThere =
      entry.body !== undefined || (waitMs > 0 && (await this.#isDoneWithin(entry.done, waitMs, abandoned)));
    if (!isThere) {
      entry.isOwed = true;
      return { state: 'pending' };
    }
    entry.isOwed = false;
    return { state: 'ready', tag: this.#tag(key, entry.versions), body: entry.body! };
  }

  /** A question about all studies that were submitted together names them, as far as they exist. */
  #withRepeats(asked: Asked): Asked {
    if (questionOf(asked.name).joinsRepeats?.(asked.query as never) !== true) return asked;
    const read = (key: string): string | undefined => this.#store.get(key);
    const repeats = repeatsOf(read, readBatch(this.#store, asked.batchId).context);
    return repeats.length === 1 ? asked : { ...asked, repeats };
  }

  async #family(batchId: Uuid): Promise<Uuid[]> {
    const { context } = readBatch(this.#store, batchId);
    const members = await familyOf(this.#share, (key) => this.#store.get(key), context);
    return mergeable(members).map((it) => it.state.context.batchId);
  }

  /** The next round of a study of rare events. @throws SimbatchError `unavailable` when the worker ends meanwhile */
  nextRareRound(batchId: Uuid): Promise<RareOutcome> {
    return this.#rare((it) => it.next(batchId)) ?? this.thread.call('nextRareRound', batchId);
  }

  /** How such a study can be extended after its end, likewise. */
  rareExtension(batchId: Uuid): Promise<RareExtension> {
    return this.#rare((it) => it.extension(batchId)) ?? this.thread.call('rareExtension', batchId);
  }

  /** The rounds of such a study against those that are computed again, likewise. */
  checkRareRounds(batchId: Uuid): Promise<RareCheck> {
    return this.#rare((it) => it.check(batchId)) ?? this.thread.call('checkRareRounds', batchId);
  }

  /** Takes the facts of a group that is on disk. */
  committed(facts: readonly Fact[]): void {
    this.#readings.ended.committed(facts);
  }

  /** Computes on this thread, where no worker does; the end of the readings is refused as the worker's is. */
  #rare<T>(compute: (rounds: RareRounds) => Promise<T>): Promise<T> | undefined {
    if (this.#inline === undefined) return undefined;
    return compute(this.#inline).catch((error: unknown) => {
      throw this.#isClosed ? new SimbatchError('unavailable', 'the coordinator is stopping', { cause: error }) : error;
    });
  }

  /** Stops the worker; its questions are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.thread.stop();
    await this.#readings.closeAll();
  }

  #tag(key: string, versions: readonly string[]): string {
    this.#epoch ??= Buffer.from(this.#clock.random(8)).toString('hex');
    return entityTag(JSON.stringify([this.#epoch, packageVersion, key, versions]));
  }

  /** Returns the entry of a question, in flight or not: of these versions, or owed to a client; otherwise a new entry. */
  #entry(key: string, question: Asked, versions: string[], mayBeOlder: boolean): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#drop(key, known);
      const isCurrent =
        known.versions.length === versions.length && known.versions.every((it, at) => it === versions[at]);
      if (isCurrent || (known.isOwed && mayBeOlder)) {
        this.#keep(key, known);
        return known;
      }
    }
    if (this.#waiting >= MAX_WAITING)
      throw new SimbatchError(
        'too-many-requests',
        `the question is not accepted: ${MAX_WAITING} questions wait for an answer; repeat it in a minute`,
      );
    const entry: Entry = { versions, body: undefined, isOwed: false, done: Promise.resolve() };
    entry.done = this.#compute(key, question, entry);
    // A client that has stopped waiting asks again; the failure of an entry that is asked for is reported to the client.
    entry.done.catch(() => {});
    this.#keep(key, entry);
    return entry;
  }

  async #compute(key: string, question: Asked, entry: Entry): Promise<void> {
    this.#waiting++;
    try {
      const { bytes, versions, isLasting } = await this.thread.call('answer', { question, versions: entry.versions });
      const isKept = this.#entries.get(key) === entry;
      if (isKept) this.#drop(key, entry);
      entry.body = bytes;
      entry.versions = isLasting ? versions : [...versions, `passing-${String(this.#passing++)}`];
      if (isKept) this.#keep(key, entry);
      this.#dropOld(key);
    } catch (error) {
      this.#drop(key, entry);
      throw error;
    } finally {
      this.#waiting--;
    }
  }

  /** Rejects when the computation fails within the wait. */
  #isDoneWithin(done: Promise<void>, waitMs: number, abandoned?: Abandoned): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const late = (): void => resolve(false);
      const cancel = this.#clock.after(waitMs, late);
      abandoned?.addEventListener('abort', late, { once: true });
      if (abandoned?.aborted === true) late();
      done
        .then(() => resolve(true), reject)
        .finally(() => {
          cancel();
          abandoned?.removeEventListener('abort', late);
        });
    });
  }

  #dropOld(inUse: string): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= MAX_ANSWER_BYTES) return;
      if (key !== inUse && entry.body !== undefined) this.#drop(key, entry);
    }
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.body?.length ?? 0;
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.body?.length ?? 0;
  }
}

function inlineRounds(readings: RowReadings): RareRounds {
  const cache = new RoundCache((request) => readings.rounds(request));
  return new RareRounds({
    open: (batchId) => readings.open(batchId),
    rows: (request) => readings.rows(request),
    withRounds: (head) => cache.withRounds(head),
    close: (reading) => readings.close(reading),
  });
}
