/** One upload of a checkpoint: links its files, sends those that the store does not have, and reports the complete set. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sleep, type Clock } from '../../base/clock.ts';
import type { Client } from '../../client/client.ts';
import type { AttemptRef, CheckpointCompleteRequest, SignedUpload } from '../../contract/types.ts';
import type { RunnerConfig } from '../config/config.ts';
import type { CoordinatorConnection } from '../connection/coordinator-connection.ts';
import { addTo, putPart, repeated } from '../files/object-transfer.ts';
import { readPart } from '../files/read-part.ts';
import { oneLine } from '../system-error.ts';
import type { Waits } from '../waits.ts';
import { changed, CheckpointFault, digestOf, isSameLook, linkSet, lookAt, type Look } from './checkpoint-set.ts';

export interface CheckpointLink {
  client: Client;
  connection: CoordinatorConnection;
  clock: Clock;
  waits: Waits;
  config: Pick<RunnerConfig, 'id' | 'checkpointBytes'>;
}

type Sent = CheckpointCompleteRequest['files'][number];
type Content = Pick<Sent, 'path' | 'bytes' | 'sha256'>;

/** Looks until a set is found in which no file changed; a simulation that saves all the time leaves moments in between. */
const LOOKS = 20;
const LOOK_PAUSE_MS = 50;
/** The file system answers by then. */
const FILES_MS = 60_000;
const REASON_LENGTH = 500;

/** The uploads of the checkpoint of one attempt, one after the other. */
export class CheckpointUpload {
  readonly #link: CheckpointLink;
  readonly #ref: AttemptRef;
  readonly #directory: string;
  /** Where its files are linked; another one for each upload. */
  #folder = '';
  #uploads = 0;
  /** The files that the store has, and those that are being sent. */
  #sent: Look | undefined;
  #sending: Look | undefined;
  /** Version of a file -> its digest: an unchanged file is not read again. */
  #digests = new Map<string, string>();

  /** @param directory of the attempt, as `checkpointDirectory` returns it. */
  constructor(link: CheckpointLink, ref: AttemptRef, directory: string) {
    this.#link = link;
    this.#ref = ref;
    this.#directory = directory;
  }

  /** Whether the upload in flight sends the checkpoint as it is now. Never rejects. */
  async isCurrent(): Promise<boolean> {
    if (this.#sending === undefined) return false;
    return isSameLook(this.#sending, await this.#local('looking at', lookAt(this.#directory)).catch(() => undefined));
  }

  /**
   * Sends the checkpoint unless there is none, or the store has it.
   * @returns its files and bytes; undefined when nothing was sent.
   * @throws CheckpointFault, ApiError when the coordinator refuses, Stopped, and errors of the store
   */
  async send(stop: AbortSignal): Promise<{ files: number; bytes: number } | undefined> {
    this.#uploads += 1;
    this.#folder = join(dirname(this.#directory), `sending-${String(this.#ref.attempt)}-${String(this.#uploads)}`);
    try {
      const look = await this.#take(stop);
      if (look === undefined) return undefined;
      this.#sending = look;
      const bytes = [...look.values()].reduce((sum, it) => sum + it.bytes, 0);
      const { checkpointBytes: most } = this.#link.config;
      if (bytes > most) {
        const why = `it has ${String(bytes)} bytes, more than ${String(most)}, the limit of this runner`;
        throw new CheckpointFault(`${why}; keep less, or raise --checkpoint-max-gb`);
      }
      const contents: Content[] = [];
      for (const [path, it] of look) contents.push({ path, bytes: it.bytes, sha256: await this.#digest(path, it) });
      await this.#exchange(contents, stop);
      this.#sent = look;
      return { files: look.size, bytes };
    } finally {
      this.#sending = undefined;
      await this.#local('removing', rm(this.#folder, { recursive: true, force: true })).catch(() => {});
    }
  }

  /** Links the files as they are at one moment; undefined when there is nothing new. */
  async #take(stop: AbortSignal): Promise<Look | undefined> {
    for (let looks = 1; ; looks++) {
      const look = await this.#local('looking at', lookAt(this.#directory));
      // A directory without files is what a container gets as a mount.
      if (look === undefined || look.size === 0 || isSameLook(look, this.#sent)) return undefined;
      if (await this.#local('linking', linkSet(this.#directory, look, this.#folder))) return look;
      if (looks >= LOOKS || stop.aborted) {
        throw new CheckpointFault(
          'its files change all the time; write another file and rename it, and save less often',
        );
      }
      await sleep(this.#link.clock, LOOK_PAUSE_MS, stop);
    }
  }

  async #digest(path: string, { bytes, version }: { bytes: number; version: string }): Promise<string> {
    const key = `${path}\0${version}`;
    const digest =
      this.#digests.get(key) ?? (await this.#local('reading', digestOf(this.#folder, path, bytes, this.#link.clock)));
    this.#digests.set(key, digest);
    return digest;
  }

  async #exchange(contents: readonly Content[], stop: AbortSignal): Promise<void> {
    const { client, connection, clock, config } = this.#link;
    const { job_id, attempt } = this.#ref;
    const head = { runner_id: config.id, attempt };
    const begin = { ...head, files: [...contents] };
    const tries = { clock, stop };
    const { number, files } = await repeated(
      () => connection.ask(() => client.files.beginCheckpoint(job_id, begin, { signal: stop }), stop),
      tries,
    );
    try {
      const sent: Sent[] = [];
      for (const [index, content] of contents.entries()) {
        const signed = files[index];
        if (signed?.path !== content.path) throw new Error('the coordinator signed addresses of other files');
        sent.push(await this.#sendFile(content, signed, stop));
      }
      const complete = { ...head, number, files: sent };
      await repeated(
        () => connection.ask(() => client.files.completeCheckpoint(job_id, complete, { signal: stop }), stop),
        tries,
      );
    } catch (error) {
      // The files of a failed upload are removed now: a store that is full stays full otherwise. Not waited for.
      const failed = { ...head, number, files: [], failed: oneLine(error).slice(0, REASON_LENGTH) };
      if (!stop.aborted) client.files.completeCheckpoint(job_id, failed).catch(() => {});
      throw error;
    }
  }

  async #sendFile(content: Content, signed: SignedUpload, stop: AbortSignal): Promise<Sent> {
    const { clock } = this.#link;
    const { upload_id, part_bytes, urls } = signed;
    const { path, bytes, sha256 } = content;
    const etags: string[] = [];
    if (urls.length === 0) return { ...content, etags };
    const hash = createHash('sha256');
    for (const [index, url] of urls.entries()) {
      const wish = { offset: index * part_bytes, length: part_bytes, maxBytes: Infinity };
      const part = await this.#local('reading', readPart(this.#folder, path, wish));
      if ('fault' in part) throw new CheckpointFault(`${JSON.stringify(path)} cannot be read: ${part.detail}`);
      if (part.size !== bytes) throw changed(path);
      await addTo(hash, part.bytes, clock);
      etags.push(await repeated(() => putPart(url, part.bytes, { clock, stop }), { clock, stop }));
    }
    if (hash.digest('hex') !== sha256) throw changed(path);
    return { ...content, etags, ...(upload_id === undefined ? {} : { upload_id }) };
  }

  #local<T>(what: string, operation: Promise<T>): Promise<T> {
    return this.#link.waits.within(FILES_MS, `${what} the checkpoint in ${this.#directory}`, operation);
  }
}
