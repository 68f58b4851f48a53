/** The topic of the runner pool: all runners, then the changed ones. */
import type { PoolData } from '../../contract/types.ts';
import { keys } from '../kernel/storage/keys.ts';
import * as readings from '../reads/resources.ts';
import type { ChangeSet } from './change-set.ts';
import { PendingRows } from './pending-rows.ts';
import type { Topic } from './topic.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';

interface PoolParts {
  store: Store;
  clock: Clock;
  share: EventLoopShare;
}

/** The limit on runners in one delta; the others follow with the next one. */
const MAX_RUNNERS = 300;

export class PoolTopic implements Topic<PoolData> {
  readonly everyMs = 200;
  readonly #parts: PoolParts;
  readonly #changed = new PendingRows<string>();
  readonly #forgotten = new Set<string>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  async snapshot(): Promise<PoolData> {
    return { ...(await readings.runners(this.#parts, {})), now: this.#parts.clock.now() };
  }

  onCommit(changes: ChangeSet): boolean {
    for (const id of changes.runners) this.#changed.set(id, undefined);
    for (const id of changes.forgottenRunners) this.#forgotten.add(id);
    return this.#changed.size + this.#forgotten.size > 0;
  }

  delta(): PoolData | undefined {
    if (this.#changed.size + this.#forgotten.size === 0) return undefined;
    const { store } = this.#parts;
    const runners = this.#changed.take(MAX_RUNNERS, (id) =>
      store.get(keys.runner(id)) === undefined ? undefined : readings.runner(this.#parts, id),
    );
    // A forgotten runner may have registered again.
    const forgotten = [...this.#forgotten].filter((id) => store.get(keys.runner(id)) === undefined);
    this.#forgotten.clear();
    return { runners, forgotten, now: this.#parts.clock.now() };
  }
  get hasMore(): boolean {
    return this.#changed.size > 0;
  }
}
