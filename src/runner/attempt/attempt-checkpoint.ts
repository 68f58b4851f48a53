/** The checkpoint of one attempt on its way through an object store: it continues at that of an earlier attempt, and sends its own. */
import { sleep, type Clock } from '../../base/clock.ts';
import type { AttemptActor } from '../attempt-actor.ts';
import type { ExecutionPlan } from './execution-site.ts';
import type { CheckpointFollower, StoredCheckpoints } from '../checkpoints/stored-checkpoints.ts';

/** Longest time for a checkpoint before the start: less than that after which the coordinator takes a claim back. */
const FETCH_BEFORE_START_MS = 30_000;

export class AttemptCheckpoint {
  readonly #stored: StoredCheckpoints;
  readonly #directory: string;
  readonly #actor: AttemptActor;
  #fetched: Promise<void> = Promise.resolve();
  #note: string | undefined;
  #follower: CheckpointFollower | undefined;

  private constructor(stored: StoredCheckpoints, actor: AttemptActor, directory: string) {
    this.#stored = stored;
    this.#actor = actor;
    this.#directory = directory;
  }

  /** Undefined for an attempt whose checkpoints stay where they are. */
  static of(
    stored: StoredCheckpoints | undefined,
    actor: AttemptActor,
    { checkpointDirectory }: ExecutionPlan,
  ): AttemptCheckpoint | undefined {
    if (stored === undefined || checkpointDirectory === undefined || !stored.isWanted(actor.ref)) return undefined;
    return new AttemptCheckpoint(stored, actor, checkpointDirectory);
  }

  /** Members that the plan of the attempt gets. */
  readonly additions: Pick<ExecutionPlan, 'notes'> = {
    notes: () => [...(this.#note === undefined ? [] : [this.#note]), ...(this.#follower?.notes ?? [])],
  };

  /**
   * Begins to fetch the checkpoint of the attempt before, and waits for it a while: the time limit of the run counts from the
   * start that is reported afterwards. Never rejects.
   */
  async fetchAwhile(clock: Clock): Promise<void> {
    const isWanted = (): boolean => this.#actor.state === 'Claimed' || this.#actor.isExecuting;
    this.#fetched = this.#stored.fetch(this.#actor.ref, this.#directory, isWanted).then((note) => {
      this.#note = note;
    });
    const waiting = new AbortController();
    await Promise.race([this.#fetched, sleep(clock, FETCH_BEFORE_START_MS, waiting.signal)]);
    waiting.abort();
  }

  /** Resolves when the checkpoint of the attempt before is here, or is not used. Never rejects. */
  get fetched(): Promise<void> {
    return this.#fetched;
  }

  /** The attempt is about to run: its checkpoints are sent until `end`. */
  follow(): void {
    this.#follower = this.#stored.follow(this.#actor.ref, this.#directory);
  }

  /** Resolves when nothing is sent any more. `isHandedBack`: the run is executed again elsewhere. Never rejects. */
  async end(isHandedBack: boolean): Promise<void> {
    await this.#follower?.end(isHandedBack);
  }
}
