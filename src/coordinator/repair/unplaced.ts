/** Records without the batch that they belong to: no coordinator can serve them, and a person may still want their values. */
import { open, rm, type FileHandle } from 'node:fs/promises';

/** A file with one record per line, as `{"key":...,"value":...}`; it is created with the first record. */
export class Unplaced {
  readonly path: string;
  records = 0;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.path = path;
  }

  async add(key: string, value: string): Promise<void> {
    this.#file ??= await open(this.path, 'w', 0o600);
    await this.#file.write(`${JSON.stringify({ key, value })}\n`);
    this.records += 1;
  }

  /** The file is on the disk when it resolves. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.sync();
    await file?.close();
  }

  async remove(): Promise<void> {
    await this.#file?.close();
    await rm(this.path, { force: true });
  }
}
