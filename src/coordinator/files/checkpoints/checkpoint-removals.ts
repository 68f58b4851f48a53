/**
 * Removes checkpoints from the object store when their runs have ended, and what unfinished and replaced uploads have left. The
 * record of a checkpoint is deleted last, so that a restart continues. A store that fails is asked again later.
 */
import type { Fact } from '../../../../machines/protocol.ts';
import type { Clock } from '../../../base/clock.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import type { CheckpointRecord, JobRecord, Uuid } from '../../../contract/types.ts';
import { batchIdOf } from '../../../domain/ids.ts';
import { isTerminal } from '../../kernel/actors/actor-kinds.ts';
import { allOf, idOf, keys } from '../../kernel/storage/keys.ts';
import type { Store } from '../../kernel/storage/store.ts';
import type { Turns } from '../../kernel/turn/turn.ts';
import { PUT_SECS, type ObjectStore } from '../object-store/object-store.ts';

interface Parts {
  clock: Clock;
  share: EventLoopShare;
  store: Store;
  turns: Turns;
  objectStore: ObjectStore | undefined;
}

/** The record of a run's checkpoint. */
export const recordFrom = (text: string | undefined): CheckpointRecord | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as CheckpointRecord);

/** A signed address may be used until its end, and a little longer where clocks differ: the last look is then. */
const LAST_LOOK_MS = PUT_SECS * 1000 + 300_000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 3_600_000;

export class CheckpointRemovals {
  readonly #parts: Parts;
  readonly #failed: ((jobId: Uuid, error: unknown) => void) | undefined;
  /** Jobs that have the record of a checkpoint. */
  readonly #known = new Set<Uuid>();
  /** Jobs whose runs have ended, and when their objects are looked at next. */
  readonly #due = new Map<Uuid, { atMs: number; failures: number }>();
  /** The last upload of each run that its runner gave up. After a restart only uploads that are given up again are pruned. */
  readonly #givenUp = new Map<Uuid, number>();
  #nextMs = Infinity;
  #isStopped = false;
  /** The chain of removals, one after the other: requests of runners come first. */
  #work: Promise<void> = Promise.resolve();

  /** @param failed called when a checkpoint could not be removed. */
  constructor(parts: Parts, failed?: (jobId: Uuid, error: unknown) => void) {
    this.#parts = parts;
    this.#failed = failed;
  }

  /** Continues the removals after a restart. */
  async restore(): Promise<void> {
    const { share, store, clock } = this.#parts;
    const view = store.snapshot();
    try {
      for await (const chunk of share.paced(view.entries(allOf('checkpoint')))) {
        for (const [key] of chunk) {
          const jobId = idOf(key);
          this.#known.add(jobId);
          if (this.#isOver(jobId)) this.#schedule(jobId, clock.now());
        }
      }
    } finally {
      await view.close();
    }
  }

  /** The job has a record from now on. */
  note(jobId: Uuid): void {
    this.#known.add(jobId);
  }

  committed(facts: readonly Fact[]): void {
    if (this.#known.size === 0) return;
    for (const fact of facts)
      if (fact.type === 'job.ended' && this.#known.has(fact.jobId)) this.#schedule(fact.jobId, fact.now);
  }

  /** Begins the removals that are due. */
  tick(): void {
    const now = this.#parts.clock.now();
    if (now < this.#nextMs) return;
    this.#nextMs = Infinity;
    for (const [jobId, { atMs }] of this.#due) {
      if (atMs > now) this.#nextMs = Math.min(this.#nextMs, atMs);
      else {
        // The removal is not due until it is done: another tick must not begin it again.
        this.#due.set(jobId, { atMs: Infinity, failures: this.#due.get(jobId)?.failures ?? 0 });
        this.#run(() => this.#remove(jobId));
      }
    }
  }

  /** The uploads up to this number are given up, also where a completion of one is in flight: their files are removed. */
  giveUp(jobId: Uuid, number: number): void {
    this.#givenUp.set(jobId, Math.max(number, this.#givenUp.get(jobId) ?? 0));
    this.prune(jobId, number);
  }

  isGivenUp(jobId: Uuid, number: number): boolean {
    return number <= (this.#givenUp.get(jobId) ?? 0);
  }

  /** Removes the files of uploads up to this number that the checkpoint of the run does not use. */
  prune(jobId: Uuid, upTo: number): void {
    this.#run(async () => {
      // The check is a turn, so that a completion on its way to the disk counts.
      const place = keys.checkpoint(jobId);
      const record = await this.#parts.turns.run('prune-checkpoint', (turn) => recordFrom(turn.read(place)));
      if (record === undefined) return;
      const used = new Set(record.complete?.files.map((it) => `${record.prefix}/${String(it.number)}/${it.path}`));
      const numberOf = (key: string): number => Number(key.slice(record.prefix.length + 1).split('/', 1)[0]);
      // Files that stay because of an error are removed at the end of the run.
      await this.#removeBelow(record, (key) => used.has(key) || !(numberOf(key) <= upTo)).catch(() => {});
    });
  }

  /** Begins nothing more; the next start continues. It does not wait for a store that does not answer. */
  close(): void {
    this.#isStopped = true;
  }

  /** Resolves when nothing that has begun is left to do. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#work; await seen) seen = this.#work;
  }

  /** Whether the run of a job has ended, or is not there any more. */
  #isOver(jobId: Uuid): boolean {
    const { store } = this.#parts;
    const record = store.get(keys.job(jobId));
    if (record === undefined || store.get(keys.batch(batchIdOf(jobId))) === undefined) return true;
    return isTerminal((JSON.parse(record) as JobRecord).value);
  }

  #run(task: () => Promise<void>): void {
    this.#work = this.#work.then(() => (this.#isStopped ? undefined : task())).catch(() => {});
  }

  #schedule(jobId: Uuid, atMs: number, failures = 0): void {
    this.#due.set(jobId, { atMs, failures });
    this.#nextMs = Math.min(this.#nextMs, atMs);
  }

  async #remove(jobId: Uuid): Promise<void> {
    const { store, turns, clock } = this.#parts;
    const record = recordFrom(store.get(keys.checkpoint(jobId)));
    const { failures = 0 } = this.#due.get(jobId) ?? {};
    try {
      if (record !== undefined) await this.#removeBelow(record);
      const lastLookMs = (record?.signedAtMs ?? 0) + LAST_LOOK_MS;
      if (clock.now() < lastLookMs) {
        this.#schedule(jobId, lastLookMs);
        return;
      }
      await turns.run('forget-checkpoint', (turn) => turn.put(keys.checkpoint(jobId), null));
      this.#due.delete(jobId);
      this.#known.delete(jobId);
      this.#givenUp.delete(jobId);
    } catch (error) {
      if (this.#isStopped) return;
      this.#schedule(jobId, clock.now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures), failures + 1);
      this.#failed?.(jobId, error);
    }
  }

  async #removeBelow({ bucket, prefix }: CheckpointRecord, keeps?: (key: string) => boolean): Promise<void> {
    const { objectStore } = this.#parts;
    if (objectStore?.serves(bucket) !== true) {
      throw new Error(`this coordinator does not use the bucket ${JSON.stringify(bucket)}; see --s3-bucket`);
    }
    await objectStore.removeBelow(bucket, `${prefix}/`, keeps);
  }
}
