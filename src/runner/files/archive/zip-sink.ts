/** An archive on its way to a file: members without compression, one after the other, no faster than the disk takes them. */
import { closeSync, read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { ZipFile, type Options } from 'yazl';
import { NoArchive } from './find-members.ts';

/** Bytes that wait for the disk, besides one member that is in memory. */
const MOST_QUEUED = 4 << 20;
const WRITTEN_AT_ONCE = 1 << 20;
const READ_AT_ONCE = 256 << 10;
/** So many bytes become durable at once: each wait for the disk is short. */
const SYNCED_AT_ONCE = 64 << 20;

type MemberTimes = Required<Pick<Options, 'mtime' | 'mode'>>;

export class ZipSink {
  readonly #zip = new ZipFile();
  readonly #file: FileHandle;
  readonly #step: () => void;
  readonly #consumed: Promise<void>;
  /** Files and folders that were added. */
  members = 0;
  /** Bytes of members that were added, and bytes that were written. */
  #queued = 0;
  #written = 0;
  #source: Readable | undefined;
  #fault: Error | undefined;
  #wake: () => void = () => {};

  /** @param step called before each read and after each write; ends the archive by an error */
  constructor(file: FileHandle, step: () => void) {
    this.#file = file;
    this.#step = step;
    this.#zip.on('error', (error) => this.#fail(error));
    this.#consumed = this.#consume();
    this.#consumed.catch((error: unknown) => this.#fail(error as Error));
  }

  /** @throws the system's error of a write; the error of `step` */
  async add(path: string, bytes: Buffer, times: MemberTimes): Promise<void> {
    this.members += 1;
    this.#zip.addBuffer(bytes, path, { ...times, compress: false });
    await this.#room(bytes.length);
  }

  addFolder(path: string, times: MemberTimes): void {
    this.members += 1;
    this.#zip.addEmptyDirectory(path, times);
  }

  /** Adds a file of `size` bytes, and closes its descriptor. @throws as `add`; NoArchive for a file that gets shorter */
  async addFile(path: string, fd: number, size: number, times: MemberTimes): Promise<void> {
    this.members += 1;
    const source = Readable.from(this.#read(path, fd, size), { objectMode: false });
    this.#source = source;
    source.on('error', (error) => this.#fail(error));
    this.#zip.addReadStream(source, path, { ...times, size, compress: false });
    await this.#room(size);
  }

  /** Writes the directory of the archive. All of it is durable when the promise resolves. @throws as `add` */
  async end(comment: string): Promise<void> {
    this.#zip.end({ comment, forceZip64Format: false });
    await this.#consumed;
    await this.#file.sync();
  }

  /** Ends it as it is. Never rejects. */
  async abort(): Promise<void> {
    this.#fail(new Error('the archive was given up'));
    await this.#consumed.catch(() => {});
  }

  async *#read(path: string, fd: number, size: number): AsyncGenerator<Buffer> {
    try {
      for (let at = 0; at < size;) {
        this.#step();
        const length = Math.min(READ_AT_ONCE, size - at);
        const { bytesRead, buffer } = await readBytes(fd, Buffer.allocUnsafe(length), 0, length, at);
        if (bytesRead === 0) throw new NoArchive(`${path} became shorter while it was read`);
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      closeSync(fd);
    }
  }

  async #consume(): Promise<void> {
    const output = this.#output;
    let batch: Buffer[] = [];
    let size = 0;
    let unsynced = 0;
    for await (const chunk of output as AsyncIterable<Buffer>) {
      batch.push(chunk);
      size += chunk.length;
      if (size < WRITTEN_AT_ONCE && output.readableLength > 0) continue;
      await this.#file.writeFile(batch.length === 1 ? chunk : Buffer.concat(batch));
      this.#step();
      this.#written += size;
      unsynced += size;
      batch = [];
      size = 0;
      if (unsynced >= SYNCED_AT_ONCE) {
        await this.#file.datasync();
        unsynced = 0;
      }
      this.#wake();
    }
  }

  get #output(): Readable {
    return this.#zip.outputStream as Readable;
  }

  /** Waits until few bytes wait for the disk, or the archive has failed. */
  async #room(added: number): Promise<void> {
    this.#queued += added;
    while (this.#fault === undefined && this.#queued - this.#written > MOST_QUEUED)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#fault !== undefined) throw this.#fault;
  }

  #fail(error: Error): void {
    this.#fault ??= error;
    this.#source?.destroy();
    this.#output.destroy();
    this.#wake();
  }
}

const readBytes = promisify(read);
