/** A file on its way to an object store: its digests, which are declared before it is sent, and its parts. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { SignedPart, SignedUpload } from '../../contract/types.ts';
import { partBytesOf, partCountOf } from '../../domain/files/upload-parts.ts';
import { addTo, Final, putPart, repeated, type Tries } from './object-transfer.ts';
import { readPart, type FilePart, type FileRefusal } from './read-part.ts';

/** A file as it was when it was read. */
export interface FileDigests {
  size: number;
  /** Another one for each content. */
  version: string;
  /** Digests in hexadecimal: of its content, and of its parts where it has several. */
  sha256: string;
  parts?: string[];
}

/** A file that was written to since it was read. */
export class FileChanged extends Final {
  constructor() {
    super('it changed while it was sent');
  }
}

const READ_BYTES = 8 << 20;
/** Addresses are valid for 15 minutes; these are signed again before a part has to hurry. */
const RENEW_MS = 600_000;

/** Reads a file once, from its beginning to its end. @throws Final, FileChanged */
export async function digestFile(directory: string, path: string, clock: Pick<Clock, 'soon'>): Promise<FileDigests> {
  const bytesOf: ReadBytes = (offset, length) => readPart(directory, path, { offset, length, maxBytes: Infinity });
  const first = await partOf(bytesOf, 0);
  const { size, version } = first;
  if (size > LIMITS.uploadBytes)
    throw new Final(
      `it has ${String(size)} bytes, more than ${String(LIMITS.uploadBytes)}, the most that are uploaded`,
    );
  const whole = createHash('sha256');
  const parts: string[] = [];
  let part = createHash('sha256');
  const isOne = partCountOf(size) === 1;
  for (let at = 0, read = first; ; read = await partOf(bytesOf, at)) {
    if (read.version !== version || read.bytes.length !== Math.min(READ_BYTES, size - at)) throw new FileChanged();
    await addTo(whole, read.bytes, clock);
    if (!isOne) await addTo(part, read.bytes, clock);
    at += read.bytes.length;
    if (!isOne && (at === size || at % partBytesOf(size) === 0)) {
      parts.push(part.digest('hex'));
      part = createHash('sha256');
    }
    if (at === size) return { size, version, sha256: whole.digest('hex'), ...(isOne ? {} : { parts }) };
  }
}

/** Reads bytes of a file. */
export type ReadBytes = (offset: number, length: number) => Promise<FilePart | FileRefusal>;

async function partOf(read: ReadBytes, offset: number, length = READ_BYTES): Promise<FilePart> {
  const part = await read(offset, length);
  if ('fault' in part) throw new Final(part.detail);
  return part;
}

/** Signed addresses of a file's parts, and how they are signed again. */
export interface Signed {
  upload: SignedUpload;
  /** When they were asked for, monotonic. */
  atMs: number;
  renew: () => Promise<SignedUpload>;
}

/**
 * Sends the parts of a file, and returns their entity tags.
 * @param declared its size, and its version where that is known from the reading of its digests
 * @throws Final, FileChanged, Stopped, Error
 */
export async function sendFile(
  read: ReadBytes,
  signed: Signed,
  { size, version: declared }: { size: number; version?: string | undefined },
  tries: Tries,
): Promise<string[]> {
  const { part_bytes: partBytes, parts } = signed.upload;
  if (partBytes !== partBytesOf(size) || parts.length !== partCountOf(size))
    throw new Final('the coordinator has other parts for it; update the runner or the coordinator');
  const addresses = new Addresses(signed, tries.clock);
  const etags: string[] = [];
  let version = declared;
  for (const index of parts.keys()) {
    const part = await partOf(read, index * partBytes, partBytes);
    version ??= part.version;
    if (part.version !== version || part.size !== size) throw new FileChanged();
    etags.push(await repeated(async () => await putPart(await addresses.at(index), part.bytes, tries.stop), tries));
  }
  return etags;
}

/** The addresses of the parts of a file, signed again when they are about to expire. */
class Addresses {
  #parts: readonly SignedPart[];
  #atMs: number;
  readonly #renew: () => Promise<SignedUpload>;
  readonly #clock: Clock;

  constructor({ upload, atMs, renew }: Signed, clock: Clock) {
    this.#parts = upload.parts;
    this.#atMs = atMs;
    this.#renew = renew;
    this.#clock = clock;
  }

  async at(index: number): Promise<SignedPart> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#atMs > RENEW_MS) {
      this.#parts = (await this.#renew()).parts;
      this.#atMs = nowMs;
    }
    const part = this.#parts[index];
    if (part === undefined) throw new Final('the coordinator signed no address for a part of it');
    return part;
  }
}
