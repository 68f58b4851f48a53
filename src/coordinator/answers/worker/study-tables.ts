/** The studies in the memory of the analysis worker: the least recently used ones are dropped when they hold too many bytes. */
import type { Uuid } from '../../../contract/types.ts';
import type { KeptStudy } from './study.ts';

interface Entry {
  version: string;
  /** 0 while the study is read. */
  bytes: number;
  study: Promise<KeptStudy>;
}

export class StudyTables {
  readonly #refreshed: (batchId: Uuid, known: KeptStudy | undefined) => Promise<KeptStudy>;
  readonly #maxBytes: number;
  /** Studies, the last used at the end. */
  readonly #entries = new Map<Uuid, Entry>();

  /**
   * `refreshed`: reads a study, or brings a known one to its latest version. `maxBytes` is the sum of the sizes of all columns; the
   * study in use is kept even if it is larger.
   */
  constructor(refreshed: (batchId: Uuid, known: KeptStudy | undefined) => Promise<KeptStudy>, maxBytes: number) {
    this.#refreshed = refreshed;
    this.#maxBytes = maxBytes;
  }

  /** The study as of this version or a later one. */
  async of(batchId: Uuid, version: string): Promise<KeptStudy> {
    const known = this.#entries.get(batchId);
    this.#entries.delete(batchId);
    const entry = known?.version === version ? known : this.#entry(batchId, version, known);
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

  /** One reading of a study after the other: each continues where the last one ended. */
  #entry(batchId: Uuid, version: string, known: Entry | undefined): Entry {
    const before = known?.study.catch(() => undefined) ?? Promise.resolve(undefined);
    return { version, bytes: known?.bytes ?? 0, study: before.then((study) => this.#refreshed(batchId, study)) };
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
