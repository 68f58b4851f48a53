/**
 * Inspects the files of a LevelDB store before LevelDB opens them, and changes nothing. LevelDB itself accepts damaged and
 * missing files in many cases, serves the rest and deletes what it no longer refers to.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readLog } from './log-reader.ts';
import { parseManifest, type Manifest } from './manifest.ts';
import { tableFault } from './table.ts';
import { parseWriteBatch, type WriteBatch } from './write-batch.ts';

export interface FileFault {
  /** The file's name within the directory. */
  file: string;
  problem: string;
}

export interface Inspection {
  /** There is no store in the directory, or only the beginning of a new one. */
  isEmpty: boolean;
  faults: FileFault[];
  /** LevelDB's sequence number after it has recovered from these files. */
  lastSequence: number;
  /** The write-ahead log with the highest number. */
  lastLog?: string;
  /** The end of the last log that was not written to its end; LevelDB drops it. */
  torn?: { file: string; offset: number; bytes: number };
}

export interface InspectionOptions {
  /** Called with each write in the write-ahead logs, in order; returns its fault, if any. */
  onBatch?: (batch: WriteBatch) => string | undefined;
  /** Called with the bytes verified so far and the bytes of all files. */
  onProgress?: (done: number, total: number) => void;
}

const isTable = (name: string): boolean => /^\d+\.(ldb|sst)$/.test(name);
const isLog = (name: string): boolean => /^\d+\.log$/.test(name);
const isManifest = (name: string): boolean => /^MANIFEST-\d+$/.test(name);
const FIRST_MANIFEST = 'MANIFEST-000001';

/** Is this a file that LevelDB keeps data in? */
export const isDataFile = (name: string): boolean =>
  isTable(name) || isLog(name) || isManifest(name) || name === 'CURRENT';

export async function inspectFiles(directory: string, options: InspectionOptions = {}): Promise<Inspection> {
  return new Inspector(directory, options).run();
}

class Inspector {
  readonly #directory: string;
  readonly #options: InspectionOptions;
  readonly #result: Inspection = { isEmpty: false, faults: [], lastSequence: 0 };
  #names: string[] = [];
  #done = 0;
  #total = 0;

  constructor(directory: string, options: InspectionOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  async run(): Promise<Inspection> {
    this.#names = (await readdir(this.#directory)).filter(isDataFile).sort((a, b) => numberOf(a) - numberOf(b));
    const sizes = await Promise.all(this.#names.map(async (name) => (await stat(this.#path(name))).size));
    this.#total = sizes.reduce((sum, size) => sum + size, 0);
    // LevelDB writes its first manifest before it creates CURRENT: a crash in between leaves a store without records.
    if (this.#names.every((name) => name === FIRST_MANIFEST)) this.#result.isEmpty = true;
    else {
      const manifest = await this.#manifest();
      if (manifest !== undefined) {
        await this.#tables(manifest);
        await this.#logs(manifest);
      }
    }
    return this.#result;
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #fault(file: string, problem: string): undefined {
    this.#result.faults.push({ file, problem });
    return undefined;
  }

  async #read(name: string): Promise<Buffer> {
    const bytes = await readFile(this.#path(name));
    this.#done += bytes.length;
    this.#options.onProgress?.(this.#done, this.#total);
    return bytes;
  }

  async #manifest(): Promise<Manifest | undefined> {
    if (!this.#names.includes('CURRENT')) return this.#fault('CURRENT', 'the file is missing');
    const current = (await this.#read('CURRENT')).toString('latin1');
    const name = /^(MANIFEST-\d+)\n$/.exec(current)?.[1];
    if (name === undefined) return this.#fault('CURRENT', 'it does not name a manifest');
    if (!this.#names.includes(name)) return this.#fault(name, 'the file is missing, and CURRENT refers to it');
    const { records, fault } = readLog(await this.#read(name));
    if (fault?.isTorn === false) return this.#fault(name, `it is damaged at byte ${fault.offset}: ${fault.reason}`);
    try {
      const manifest = parseManifest(records);
      if (manifest.logNumber !== undefined) return manifest;
    } catch (error) {
      return this.#fault(name, `it is damaged: ${(error as Error).message}`);
    }
    return this.#fault(name, `it is damaged: ${fault?.reason ?? 'it names no write-ahead log'}`);
  }

  async #tables({ tables }: Manifest): Promise<void> {
    for (const [number, size] of tables) {
      const name = this.#names.find((it) => isTable(it) && numberOf(it) === number);
      if (name === undefined) {
        this.#fault(fileName(number, 'ldb'), 'the file is missing');
        continue;
      }
      const bytes = await this.#read(name);
      const problem =
        bytes.length === size ? tableFault(bytes) : `it has ${bytes.length} bytes, and the manifest says ${size}`;
      if (problem !== undefined) this.#fault(name, `it is damaged: ${problem}`);
    }
  }

  async #logs({ logNumber = 0, lastSequence }: Manifest): Promise<void> {
    this.#result.lastSequence = lastSequence;
    const live = this.#names.filter((it) => isLog(it) && numberOf(it) >= logNumber);
    if (logNumber > 0 && (live[0] === undefined || numberOf(live[0]) !== logNumber)) {
      this.#fault(fileName(logNumber, 'log'), 'the file is missing');
    }
    let next: number | undefined;
    for (const name of live) {
      this.#result.lastLog = name;
      const bytes = await this.#read(name);
      const { records, fault } = readLog(bytes);
      const { torn } = this.#result;
      if (torn !== undefined && records.length > 0) {
        this.#fault(torn.file, `it is damaged at byte ${torn.offset}, and later records follow in ${name}`);
      }
      for (const { offset, payload } of records) next = this.#batch(name, offset, payload, next);
      if (fault === undefined) continue;
      if (fault.isTorn) {
        this.#result.torn = { file: name, offset: fault.offset, bytes: bytes.length - fault.offset };
      } else this.#fault(name, `it is damaged at byte ${fault.offset}: ${fault.reason}, and later records follow`);
    }
  }

  /** Checks a write against those before it. Returns the sequence number that the next one must have. */
  #batch(file: string, offset: number, payload: Buffer, next: number | undefined): number | undefined {
    try {
      const batch = parseWriteBatch(payload);
      if (next !== undefined && batch.sequence !== next) {
        this.#fault(file, `writes are missing before byte ${offset}: ${batch.sequence - next} changes`);
      }
      const problem = this.#options.onBatch?.(batch);
      if (problem !== undefined) this.#fault(file, `the write at byte ${offset} is damaged: ${problem}`);
      const after = batch.sequence + batch.changes.length;
      this.#result.lastSequence = Math.max(this.#result.lastSequence, after - 1);
      return after;
    } catch (error) {
      this.#fault(file, `the write at byte ${offset} is damaged: ${(error as Error).message}`);
      return undefined;
    }
  }
}

const numberOf = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 0);

const fileName = (number: number, suffix: string): string => `${String(number).padStart(6, '0')}.${suffix}`;
