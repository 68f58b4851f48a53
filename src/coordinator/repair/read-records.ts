/** Reads the records of an engine that may be damaged: whole ones by key range, and the keys of the damaged ones. */
import type { EngineView, Entry } from '../kernel/storage/engine.ts';
import { unseal } from '../kernel/storage/integrity/checksum.ts';
import { FORMAT_KEY } from '../kernel/storage/integrity/group-chain.ts';
import type { KeyRange } from '../kernel/storage/keys.ts';

const CHUNK = 500;

/** The whole records of the range, in key order; `onDamaged` receives the key of each other one. */
export async function* wholeRecords(
  view: EngineView,
  range: KeyRange,
  onDamaged: (key: string) => void = () => {},
): AsyncGenerator<Entry> {
  for await (const chunk of view.entries(range, { chunkSize: CHUNK })) {
    for (const [key, sealed] of chunk) {
      const value = key === FORMAT_KEY ? sealed : unseal(key, sealed);
      if (value === undefined) onDamaged(key);
      else yield [key, value];
    }
  }
}

/** An iterator that can be looked at without advancing it. */
export class Cursor {
  readonly #entries: AsyncGenerator<Entry>;
  head: Entry | undefined;

  private constructor(entries: AsyncGenerator<Entry>) {
    this.#entries = entries;
  }

  static async over(entries: AsyncGenerator<Entry>): Promise<Cursor> {
    const cursor = new Cursor(entries);
    await cursor.advance();
    return cursor;
  }

  async advance(): Promise<void> {
    const { done, value } = await this.#entries.next();
    this.head = done === true ? undefined : value;
  }
}

/** The record of a key; undefined where there is none or it is damaged. */
export function wholeRecord(view: EngineView, key: string): string | undefined {
  const sealed = view.get(key);
  return sealed === undefined ? undefined : unseal(key, sealed);
}
