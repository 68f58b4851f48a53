/** The studies in the memory of the analysis worker: the least recently used ones are dropped when they hold too many bytes. */
import type { Uuid } from '../../../contract/types.ts';
import type { Study } from './study.ts';

interface Entry {
  version: string;
  /** 0 while the study is read. */
  bytes: number;
  study: Promise<Study>;
}

export class StudyTables {
  readonly #read: (batchId: Uuid) => Promise<Study>;
  readonly #maxBytes: number;
  /** In order of use. */
  readonly #entries = new Map<Uuid, Entry>();

  /** `maxBytes` is the sum of the sizes of all columns; the study in use is kept even if it is larger. */
  constructor(read: (batchId: Uuid) => Promise<Study>, maxBytes: number) {
    this.#read = read;
    this.#maxBytes = maxBytes;
  }

  /** The study as of this version or a later one. */
  async of(batchId: Uuid, version: string): Promise<Study> {
    const known = this.#entries.get(batchId);
    this.#entries.delete(batchId);
    const entry = known?.version === version ? known : { version, bytes: 0, study: this.#read(batchId) };
    this.#entries.set(batchId, entry);
    try {
      const study = await entry.study;
      entry.version = study.version;
      entry.bytes = study.bytes;
      this.#dropOld(batchId);
      return study;
    } catch (error) {
      if (this.#entries.get(batchId) === entry) this.#entries.delete(batchId);
      throw error;
    }
  }

  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, it) => sum + it.bytes, 0);
  }

  #dropOld(inUse: Uuid): void {
    let bytes = this.bytes;
    for (const [batchId, entry] of this.#entries) {
      if (bytes <= this.#maxBytes) return;
      if (batchId === inUse || entry.bytes === 0) continue;
      this.#entries.delete(batchId);
      bytes -= entry.bytes;
    }
  }
}
