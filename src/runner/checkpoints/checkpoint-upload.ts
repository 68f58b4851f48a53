/** One upload of a checkpoint: links its files, sends those that the store does not have, and reports the complete set. */
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sleep, type Clock } from '../../base/clock.ts';
import type { Client } from '../../client/client.ts';
import type {
  AttemptRef,
  CheckpointCompleteRequest,
  CheckpointUploadRequest,
  CheckpointUploadResponse,
  SignedUpload,
} from '../../contract/types.ts';
import type { RunnerConfig } from '../config/config.ts';
import type { CoordinatorConnection } from '../connection/coordinator-connection.ts';
import { repeated } from '../files/object-transfer.ts';
import { readPart } from '../files/read-part.ts';
import { FileChanged, sendFile, type FileDigests, type ReadBytes, type Signed } from '../files/send-file.ts';
import { oneLine } from '../system-error.ts';
import type { Waits } from '../waits.ts';
import { CheckpointFault, digestsOf, faultOf, isSameLook, linkSet, lookAt, type Look } from './checkpoint-set.ts';

export interface CheckpointLink {
  client: Client;
  connection: CoordinatorConnection;
  clock: Clock;
  waits: Waits;
  config: Pick<RunnerConfig, 'id' | 'checkpointBytes'>;
}

type Sent = CheckpointCompleteRequest['files'][number];
type Digests = Omit<FileDigests, 'version'> & { version: string | undefined };
type Content = Digests & { path: string };

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
  /** Folder in which the files are linked; each upload has its own. */
  #folder = '';
  #uploads = 0;
  /** The files that the store has, and those that are being sent. */
  #sent: Look | undefined;
  #sending: Look | undefined;
  /** Version of a file -> its digest: an unchanged file is not read again. */
  readonly #digests = new Map<string, Digests>();

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
      for (const [path, it] of look) contents.push({ path, ...(await this.#digest(path, it)) });
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

  async #digest(path: string, { bytes, version }: { bytes: number; version: string }): Promise<Digests> {
    const key = `${path}\0${version}`;
    const known = this.#digests.get(key);
    if (known !== undefined) return known;
    const read = await this.#local('reading', digestsOf(this.#folder, path, bytes, this.#link.clock));
    // A copy in the folder of another upload has another version.
    this.#digests.set(key, { ...read, version: undefined });
    return read;
  }

  async #exchange(contents: readonly Content[], stop: AbortSignal): Promise<void> {
    const { client, connection, clock, config } = this.#link;
    const { job_id, attempt } = this.#ref;
    const head = { runner_id: config.id, attempt };
    const tries = { clock, stop };
    const begin = (more: Pick<CheckpointUploadRequest, 'files' | 'number'>): Promise<CheckpointUploadResponse> =>
      connection.ask(() => client.files.beginCheckpoint(job_id, { ...head, ...more }, { signal: stop }), stop);
    const atMs = clock.monotonicMs();
    const { number, files } = await repeated(() => begin({ files: contents.map(declaredOf) }), tries);
    try {
      const sent: Sent[] = [];
      for (const [index, content] of contents.entries()) {
        const upload = files[index];
        if (upload?.path !== content.path) throw new Error('the coordinator signed addresses of other files');
        const { upload_id } = upload;
        const renew = async (): Promise<SignedUpload> => {
          const again = await begin({
            number,
            files: [{ ...declaredOf(content), ...(upload_id === undefined ? {} : { upload_id }) }],
          });
          if (again.files[0] === undefined) throw new Error('the coordinator signed no addresses');
          return again.files[0];
        };
        sent.push(await this.#sendFile(content, { upload, atMs, renew }, stop));
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

  async #sendFile(content: Content, signed: Signed, stop: AbortSignal): Promise<Sent> {
    const { path, size: bytes, sha256 } = content;
    const { upload_id } = signed.upload;
    if (upload_id === undefined) return { path, bytes, sha256, etags: [] };
    try {
      const read: ReadBytes = (offset, length) =>
        this.#local('reading', readPart(this.#folder, path, { offset, length, maxBytes: Infinity }));
      const etags = await sendFile(read, signed, content, { clock: this.#link.clock, stop });
      return { path, bytes, sha256, upload_id, etags };
    } catch (error) {
      throw error instanceof FileChanged ? faultOf(path, error) : error;
    }
  }

  #local<T>(what: string, operation: Promise<T>): Promise<T> {
    return this.#link.waits.within(FILES_MS, `${what} the checkpoint in ${this.#directory}`, operation);
  }
}

const declaredOf = ({ version: _, size: bytes, ...file }: Content): CheckpointUploadRequest['files'][number] => ({
  ...file,
  bytes,
});
