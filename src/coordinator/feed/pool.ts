/** The topic of the runner pool: all runners, then the changed ones. */
import type { PoolData } from '../../contract/types.ts';
import { keys } from '../kernel/storage/keys.ts';
import * as readings from '../reads/resources.ts';
import type { ChangeSet } from './change-set.ts';
import { PendingRows } from './pending-rows.ts';
import type { Topic } from './topic.ts';
import type { Clock } from '../../base/clock.ts';

type PoolParts = readings.PoolParts & { clock: Clock };

/** The limit on runners in one delta; the others follow with the next one. */
const MAX_RUNNERS = 300;

export class PoolTopic implements Topic<PoolData> {
  readonly everyMs = 200;
  readonly #parts: PoolParts;
  readonly #changed = new PendingRows<string>();
  readonly #forgotten = new Set<string>();
  /** True when the use of the coordinator's resources, or the runs that wait for them, may have changed. */
  #isUseChanged = false;

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  async snapshot(): Promise<PoolData> {
    return { ...(await readings.runners(this.#parts, {})), now: this.#parts.clock.now() };
  }

  onCommit(changes: ChangeSet): boolean {
    for (const id of changes.runners) this.#changed.set(id, undefined);
    for (const id of changes.forgottenRunners) this.#forgotten.add(id);
    if (this.#parts.sitePools !== undefined && changes.batches.size + changes.runners.size > 0)
      this.#isUseChanged = true;
    return this.#isChanged;
  }

  delta(): PoolData | undefined {
    if (!this.#isChanged) return undefined;
    const { store, sitePools, scheduler } = this.#parts;
    const runners = this.#changed.take(MAX_RUNNERS, (id) =>
      store.get(keys.runner(id)) === undefined ? undefined : readings.runner(this.#parts, id),
    );
    // A forgotten runner may have registered again.
    const forgotten = [...this.#forgotten].filter((id) => store.get(keys.runner(id)) === undefined);
    this.#forgotten.clear();
    this.#isUseChanged = false;
    return {
      runners,
      forgotten,
      ...(sitePools === undefined ? {} : { site_resources: sitePools.shown(scheduler.waiting()) }),
      now: this.#parts.clock.now(),
    };
  }
  get #isChanged(): boolean {
    return this.#isUseChanged || this.#changed.size + this.#forgotten.size > 0;
  }
  get hasMore(): boolean {
    return this.#changed.size > 0;
  }
}
