/**
 * The index of studies while it is not whole: studies of an older version, of an import or of a repair are listed beside the requests, in small steps.
 * A submission that continues a study waits until it is whole, so that no study is overlooked. A study that cannot be read is listed as damaged, and holds up no other.
 */
import { settlesWithin, type Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { BatchSubmission, Seed, Uuid } from '../../contract/types.ts';
import { isDamage, SimbatchError } from '../../domain/errors.ts';
import { decodeBatch } from '../kernel/actors/actor-kinds.ts';
import { damagedEntry, entriesOf, INDEXED_KEY, listStudy } from '../kernel/records/study-index.ts';
import { allOf, idOf, keys } from '../kernel/storage/keys.ts';
import type { Store, StoreView } from '../kernel/storage/store.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';

/** Batches that a step passes in one turn: with twice as many, an iteration of the event loop takes up to 13 ms. */
const STEP = 100;
/** How long a submission waits for the index, in ms: less than the time limit of clients, 30 s. */
const LONGEST_WAIT_MS = 20_000;

interface IndexParts {
  clock: Clock;
  store: Store;
  share: EventLoopShare;
  turns: Turns;
}

/** The batches that a step passes. */
interface Step {
  /** The submitted studies among them, with the keys of their entries. */
  studies: { batchId: Uuid; entries: string[] }[];
  /** The batches that cannot be read, or whose submission cannot. */
  damaged: Uuid[];
  /** The last batch; undefined when there is none. */
  last: Uuid | undefined;
  /** True when no batch follows on the disk. */
  isLast: boolean;
}

export class StudyIndexing {
  readonly #parts: IndexParts;
  /** Reports an error that ends the listing until the next start. */
  readonly #failed: (error: unknown) => void;
  #isWhole = false;
  #isStopped = false;
  /** The studies that this process has listed. */
  #listed = 0;
  /** The highest id of the studies submitted before the index is whole. */
  #newest: Uuid = '';
  #work: Promise<void> = Promise.resolve();

  constructor(parts: IndexParts, failed: (error: unknown) => void) {
    this.#parts = parts;
    this.#failed = failed;
  }

  /**
   * Lists the first studies that have no entries, and the others later. Each step is one atomic write with the place up to which it goes, so a
   * coordinator that is stopped meanwhile continues there. Without such studies it writes nothing.
   */
  async restore(): Promise<void> {
    await this.#step();
    if (this.#isWhole) return;
    this.#work = this.#listAll();
    this.#work.catch((error: unknown) => {
      const isStopping = error instanceof SimbatchError && error.code === 'unavailable';
      if (!isStopping) this.#failed(error);
    });
  }

  /** Ends with the step that runs; the next start continues. */
  async close(): Promise<void> {
    this.#isStopped = true;
    await this.#work.catch(() => {});
  }

  /** Lists a new study in the turn that creates it. */
  list(turn: Turn, batchId: Uuid, submission: BatchSubmission, seed: Seed): void {
    listStudy(turn, batchId, submission, seed);
    if (this.#isWhole) turn.put(INDEXED_KEY, batchId);
    // The studies before it are not all listed: the last step passes it.
    else this.#newest = batchId;
  }

  /**
   * Resolves when every submitted study is listed.
   * @throws SimbatchError `unavailable` after 20 s, and when the coordinator stops; the error that has ended the listing
   */
  async whole(): Promise<void> {
    if (this.#isWhole) return;
    if ((await settlesWithin(this.#parts.clock, LONGEST_WAIT_MS, this.#work)) && this.#isWhole) return;
    throw new SimbatchError(
      'unavailable',
      `the study is not submitted: the coordinator has not listed all studies since its start, and among the others may be the study that it continues: ${this.#listed} are listed so far; ` +
        'try again in a minute, or submit a new study without --continue',
    );
  }

  async #listAll(): Promise<void> {
    while (!this.#isWhole && !this.#isStopped) await this.#step();
  }

  async #step(): Promise<void> {
    const { store, turns } = this.#parts;
    const before = store.get(INDEXED_KEY);
    const { studies, damaged, last, isLast } = await this.#next(before);
    if (last === undefined && this.#newest === '') {
      this.#isWhole = true;
      return;
    }
    const { written } = turns.runNow('index-studies', (turn) => {
      for (const { batchId, entries } of studies) {
        // A study that has been deleted since it was read has no entries.
        if (turn.read(keys.batch(batchId)) !== undefined) for (const key of entries) turn.put(key, '');
      }
      for (const batchId of damaged) turn.put(damagedEntry(batchId), '');
      const upTo = last ?? before ?? '';
      turn.put(INDEXED_KEY, isLast && this.#newest > upTo ? this.#newest : upTo);
    });
    this.#listed += studies.length;
    // From here on each new study moves the place by itself.
    if (isLast) this.#isWhole = true;
    await written;
  }

  /** Reads the batches after this one. The view is closed before they are listed: an open one keeps deleted records on the disk. */
  async #next(before: Uuid | undefined): Promise<Step> {
    const { store, share } = this.#parts;
    const all = allOf('batch');
    // `!` is the first character that can follow an id.
    const range = before === undefined ? all : { ...all, gte: `${keys.batch(before)}!` };
    const step: Step = { studies: [], damaged: [], last: undefined, isLast: true };
    const onDamage = (key: string): void => void step.damaged.push(idOf(key));
    let passed = 0;
    const view = store.snapshot();
    try {
      for await (const chunk of view.entries(range, { chunkSize: STEP / 4, onDamage })) {
        for await (const [, record] of share.paced(chunk)) {
          const { batchId, parent } = decodeBatch(record).context;
          step.last = batchId;
          if (parent !== undefined) continue;
          const entries = storedEntries(view, batchId);
          if (entries === undefined) step.damaged.push(batchId);
          else step.studies.push({ batchId, entries });
        }
        passed += chunk.length;
        if (passed < STEP) continue;
        step.isLast = false;
        break;
      }
    } finally {
      await view.close();
    }
    for (const batchId of step.damaged) if (step.last === undefined || batchId > step.last) step.last = batchId;
    return step;
  }
}

/** Undefined where the submission is damaged or missing: the study is not found. */
function storedEntries(view: StoreView, batchId: string): string[] | undefined {
  try {
    const record = view.get(keys.submission(batchId));
    return record === undefined ? undefined : entriesOf(batchId, record);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}
