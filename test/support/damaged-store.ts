/** A store in memory of which records can be damaged: reading one of them throws, as the checksum of the real store does. */
import { SimbatchError } from '../../src/domain/errors.ts';
import type { Entry, StoreView } from '../../src/coordinator/kernel/storage/store.ts';
import { MemoryStore } from './memory-store.ts';

export class DamagedStore extends MemoryStore {
  /** The keys of the damaged records. */
  readonly damaged: Set<string>;

  constructor(disk: Map<string, string>, damaged: Set<string> = new Set()) {
    super(disk);
    this.damaged = damaged;
  }

  #check(key: string): void {
    if (!this.damaged.has(key)) return;
    throw new SimbatchError('store-damaged', `the record ${JSON.stringify(key)} is damaged: run simbatch repair`);
  }

  override get(key: string): string | undefined {
    this.#check(key);
    return super.get(key);
  }

  override snapshot(): StoreView {
    const view = super.snapshot();
    const check = (key: string): void => this.#check(key);
    const { damaged } = this;
    async function* checked(...of: Parameters<StoreView['entries']>): AsyncGenerator<readonly Entry[]> {
      const onDamage = of[1]?.onDamage ?? check;
      for await (const chunk of view.entries(...of)) {
        for (const [key] of chunk) if (damaged.has(key)) onDamage(key);
        yield chunk.filter(([key]) => !damaged.has(key));
      }
    }
    return {
      ...view,
      get: (key) => {
        check(key);
        return view.get(key);
      },
      entries: checked,
    };
  }
}
