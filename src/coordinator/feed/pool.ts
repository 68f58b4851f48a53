/** The topic of the runner pool: all runners, then the changed ones. */
import type { PoolData } from '../../contract/types.ts';
import type { Core } from '../core.ts';
import { keys } from '../kernel/storage/keys.ts';
import * as readings from '../reads/resources.ts';
import type { ChangeSet } from './change-set.ts';
import { PendingRows } from './pending-rows.ts';
import type { Topic } from './topic.ts';

/** The limit on runners in one delta; the others follow with the next one. */
const MAX_RUNNERS = 300;

export class PoolTopic implements Topic<PoolData> {
  readonly everyMs = 200;
  readonly #core: Core;
  readonly #changed = new PendingRows<string>();
  readonly #forgotten = new Set<string>();

  constructor(core: Core) {
    this.#core = core;
  }

  async snapshot(): Promise<PoolData> {
    return { ...(await readings.runners(this.#core, {})), now: this.#core.clock.now() };
  }

  onCommit(changes: ChangeSet): boolean {
    for (const id of changes.runners) this.#changed.set(id, undefined);
    for (const id of changes.forgottenRunners) this.#forgotten.add(id);
    return this.#changed.size + this.#forgotten.size > 0;
  }

  delta(): PoolData | undefined {
    if (this.#changed.size + this.#forgotten.size === 0) return undefined;
    const { store } = this.#core;
    const runners = this.#changed.take(MAX_RUNNERS, (id) =>
      store.get(keys.runner(id)) === undefined ? undefined : readings.runner(this.#core, id),
    );
    // A forgotten runner may have registered again.
    const forgotten = [...this.#forgotten].filter((id) => store.get(keys.runner(id)) === undefined);
    this.#forgotten.clear();
    return { runners, forgotten, now: this.#core.clock.now() };
  }
  get hasMore(): boolean {
    return this.#changed.size > 0;
  }
}
