/** The studies in the memory of the analysis worker: the least recently used ones are dropped when they hold too many bytes, before another is read. */
import type { Uuid } from '../../../contract/types.ts';
import type { KeptStudy } from './study.ts';

interface Entry {
  version: string;
  /** 0 while the study is read. */
  bytes: number;
  study: Promise<KeptStudy>;
}

/**
 * Reads a study, or brings a known one to its latest version. `beside`: the studies of the same question that were read before it. A study that is
 * read calls `makeRoom` with the bytes that it will hold at least.
 */
type Refreshed = (
  batchId: Uuid,
  known: KeptStudy | undefined,
  beside: readonly KeptStudy[],
  makeRoom: (bytes: number) => void,
) => Promise<KeptStudy>;

export class StudyTables {
  readonly #refreshed: Refreshed;
  readonly #maxBytes: number;
  /** Studies, the last used at the end. */
  readonly #entries = new Map<Uuid, Entry>();

  /** `maxBytes` is the sum of the sizes of all columns; the study in use is kept even if it is larger. */
  constructor(refreshed: Refreshed, maxBytes: number) {
    this.#refreshed = refreshed;
    this.#maxBytes = maxBytes;
  }

  /** The study as of this version or a later one. `beside`: the studies of the same question that were read before it. */
  async of(batchId: Uuid, version: string, beside: readonly KeptStudy[] = []): Promise<KeptStudy> {
    const known = this.#entries.get(batchId);
    this.#entries.delete(batchId);
    const entry = known?.version === version ? known : this.#entry(batchId, version, known, beside);
    this.#entries.set(batchId, entry);
    try {
      const study = await entry.study;
      entry.version = study.version;
      entry.bytes = study.bytes;
      this.#dropOld(new Set([batchId]), this.#maxBytes);
      return study;
    } catch (error) {
      if (this.#entries.get(batchId) === entry) this.#entries.delete(batchId);
      throw error;
    }
  }

  /** One reading of a study after the other: each continues where the last one ended. */
  #entry(batchId: Uuid, version: string, known: Entry | undefined, beside: readonly KeptStudy[]): Entry {
    const before = known?.study.catch(() => undefined) ?? Promise.resolve(undefined);
    const inUse = new Set([batchId, ...beside.map((it) => it.table.batchId)]);
    const makeRoom = (bytes: number): void => this.#dropOld(inUse, this.#maxBytes - bytes);
    const study = before.then((it) => this.#refreshed(batchId, it, beside, makeRoom));
    return { version, bytes: known?.bytes ?? 0, study };
  }

  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, it) => sum + it.bytes, 0);
  }

  #dropOld(inUse: ReadonlySet<Uuid>, maxBytes: number): void {
    let bytes = this.bytes;
    for (const [batchId, entry] of this.#entries) {
      if (bytes <= maxBytes) return;
      if (inUse.has(batchId) || entry.bytes === 0) continue;
      this.#entries.delete(batchId);
      bytes -= entry.bytes;
    }
  }
}
