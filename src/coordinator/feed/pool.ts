/** The topic of the runner pool: all runners, then the changed ones. */
import type { PoolData, Runner } from '../../contract/types.ts';
import type { Commit } from '../coordinator.ts';
import type { Core } from '../core.ts';
import { keys } from '../storage/keys.ts';
import * as readings from '../operations/readings.ts';
import type { Topic } from './topic.ts';

export class PoolTopic implements Topic<PoolData> {
  readonly everyMs = 200;
  readonly #core: Core;
  readonly #changed = new Set<string>();
  readonly #forgotten = new Set<string>();

  constructor(core: Core) {
    this.#core = core;
  }

  async snapshot(): Promise<PoolData> {
    return { ...(await readings.runners(this.#core, {})), now: this.#core.clock.now() };
  }

  onCommit({ facts, transitions: steps }: Commit): boolean {
    for (const step of steps) if (step.kind === 'runner') this.#changed.add(step.id);
    for (const fact of facts) if (fact.type === 'runner.forgotten') this.#forgotten.add(fact.runnerId);
    return this.#changed.size + this.#forgotten.size > 0;
  }

  delta(): PoolData | undefined {
    if (this.#changed.size + this.#forgotten.size === 0) return undefined;
    const runners: Runner[] = [];
    for (const id of this.#changed) {
      if (this.#core.store.get(keys.runner(id)) !== undefined) runners.push(readings.runner(this.#core, id));
    }
    // A forgotten runner may have registered again.
    const forgotten = [...this.#forgotten].filter((id) => this.#core.store.get(keys.runner(id)) === undefined);
    this.#changed.clear();
    this.#forgotten.clear();
    return { runners, forgotten, now: this.#core.clock.now() };
  }
}
