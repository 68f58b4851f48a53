/** Samples of a run that are read a second time: in a file while there are many, the last of them in memory. */
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { OrderedValues } from '../../../domain/histories/stream/sample-buffer.ts';
import { oneLine } from '../../system-error.ts';

/** Bytes of the file; a run that sends more has no second reading. */
export const MAX_KEPT_BYTES = 2 * 1024 ** 3;
/** Parts that may wait for the disk; each is at most 600 kB. */
const MAX_WAITING = 4;
/** A time and a value as doubles, and the number of a variable. */
const VALUE_BYTES = 18;

export class KeptValues {
  /** Why the values cannot be read; undefined: they can. */
  fault: string | undefined;
  readonly #path: string;
  readonly #wanted: ReadonlySet<number>;
  readonly #maxBytes: number;
  #file: FileHandle | undefined;
  /** Numbers of values of the parts in the file. */
  readonly #parts: number[] = [];
  #bytes = 0;
  #last: OrderedValues | undefined;
  #queue: Promise<void> = Promise.resolve();
  #waiting = 0;
  #paused: (() => void)[] = [];

  /** @param path of the file, which has a name only while it is made. @param wanted the variables to keep */
  constructor(path: string, wanted: ReadonlySet<number>, maxBytes: number = MAX_KEPT_BYTES) {
    this.#path = path;
    this.#wanted = wanted;
    this.#maxBytes = maxBytes;
  }

  /** True while the disk is too slow: nothing more should be added. */
  get pressed(): boolean {
    return this.#waiting >= MAX_WAITING;
  }

  /** Calls back, once, when there is room. */
  whenRelieved(action: () => void): void {
    this.#paused.push(action);
  }

  /** Keeps the wanted values. `isLast`: nothing follows, and the arrays belong to this object. */
  add(values: OrderedValues, isLast: boolean): void {
    if (isLast) this.#last = values;
    else if (this.fault === undefined) this.#write(this.#encoded(values));
  }

  #encoded({ times, variables, values }: OrderedValues): Buffer {
    const kept = variables.reduce((sum, it) => sum + Number(this.#wanted.has(it)), 0);
    const part = {
      times: new Float64Array(kept),
      values: new Float64Array(kept),
      variables: new Uint16Array(kept),
    };
    let to = 0;
    for (let from = 0; from < variables.length; from++) {
      if (!this.#wanted.has(variables[from]!)) continue;
      part.times[to] = times[from]!;
      part.values[to] = values[from]!;
      part.variables[to] = variables[from]!;
      to++;
    }
    return Buffer.concat([part.times, part.values, part.variables].map((it) => new Uint8Array(it.buffer)));
  }

  #write(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#bytes + bytes.length > this.#maxBytes) {
      this.fault = `the run sent more than the ${this.#maxBytes} bytes of samples that are kept for it`;
      return;
    }
    const position = this.#bytes;
    this.#bytes += bytes.length;
    this.#parts.push(bytes.length / VALUE_BYTES);
    this.#waiting++;
    this.#queue = this.#queue.then(async () => {
      try {
        if (this.fault !== undefined) return;
        this.#file ??= await openNameless(this.#path);
        let written = 0;
        while (written < bytes.length)
          written += (await this.#file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
      } catch (error) {
        this.fault = `its samples could not be kept: ${oneLine(error)}`;
      } finally {
        this.#waiting--;
        if (!this.pressed) this.#relieve();
      }
    });
  }

  #relieve(): void {
    const paused = this.#paused;
    this.#paused = [];
    for (const action of paused) action();
  }

  /** Reads everything that was kept, in its order, unless there is a fault. @param stop ends it early, with a fault */
  async read(take: (values: OrderedValues) => void, stop: Pick<AbortSignal, 'aborted'>): Promise<void> {
    await this.#queue;
    let position = 0;
    for (const count of this.#parts) {
      if (stop.aborted) this.fault ??= 'reading its samples again took too long';
      if (this.fault !== undefined) return;
      const bytes = Buffer.alloc(count * VALUE_BYTES);
      try {
        await fill(this.#file!, bytes, position);
      } catch (error) {
        this.fault = `its samples could not be read again: ${oneLine(error)}`;
        return;
      }
      position += bytes.length;
      const { buffer, byteOffset } = bytes;
      take({
        times: new Float64Array(buffer, byteOffset, count),
        values: new Float64Array(buffer, byteOffset + 8 * count, count),
        variables: new Uint16Array(buffer, byteOffset + 16 * count, count),
      });
    }
    if (this.fault === undefined && this.#last !== undefined) take(this.#last);
  }

  /** Releases the file. Never rejects. */
  async close(): Promise<void> {
    await this.#queue;
    this.#last = undefined;
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
  }
}

/** A file without a name: nothing of it is left when this process ends. */
async function openNameless(path: string): Promise<FileHandle> {
  // The directory of a function is made when it asks for it.
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  const file = await open(path, 'wx+', 0o600);
  await rm(path, { force: true });
  return file;
}

async function fill(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done);
    if (bytesRead === 0) throw new Error('the file is shorter than written');
    done += bytesRead;
  }
}
