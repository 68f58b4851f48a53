/**
 * Uploads the files of runs that have ended, to addresses that the coordinator signs: this machine has no credential of the
 * object store. What is left to send is in the spool; a file that cannot be sent stays here, and the result says so.
 */
import { relative, sep } from 'node:path';
import type { AttemptRef, OutcomeReport, SignedUpload, UploadCompleteRequest } from '../../contract/types.ts';
import { ApiError, type Client } from '../../client/client.ts';
import type { Clock } from '../../base/clock.ts';
import { filePathFault } from '../../domain/runs/file-path.ts';
import { AttemptActor } from '../attempt-actor.ts';
import type { RunnerConfig } from '../config/config.ts';
import { Stopped, type CoordinatorConnection } from '../connection/coordinator-connection.ts';
import type { Log } from '../log.ts';
import type { Spool, SpooledAttempt } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import { Final, isUnavailable, repeated } from './object-transfer.ts';
import { readPart } from './read-part.ts';
import { digestFile, type FileDigests, type ReadBytes, sendFile, type Signed } from './send-file.ts';

export interface UploadsOptions {
  client: Client;
  connection: CoordinatorConnection;
  spool: Spool;
  clock: Clock;
  log: Log;
  config: Pick<RunnerConfig, 'id'>;
  /** Aborted when the runner ends. */
  stop: AbortSignal;
  /** Called when an attempt has nothing left to send. */
  onChange: () => void;
}

/** Files of one exchange with the coordinator; it takes a hundred, of at most 10,000 parts. */
const FILES_AT_ONCE = 20;
const DETAIL_LENGTH = 500;

type Sent = UploadCompleteRequest['files'][number];
type Failed = UploadCompleteRequest['failed'][number];
type Declared = FileDigests & { path: string };

export class Uploads {
  readonly #options: UploadsOptions;
  readonly #wanted = new Set<string>();
  /** One after the other: the link of the machine is shared with its simulations. */
  #queue: Promise<void> = Promise.resolve();
  #size = 0;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** Number of attempts with files to send. */
  get size(): number {
    return this.#size;
  }

  /** The files of this attempt are to be uploaded when its run has ended. */
  want(ref: AttemptRef): void {
    this.#wanted.add(keyOf(ref));
  }

  /** The record of an attempt with the files that its outcome names, where these are to be uploaded. */
  recorded(record: SpooledAttempt, outcome: OutcomeReport): SpooledAttempt {
    if (!this.#wanted.delete(keyOf(record)) || outcome.result === undefined) return record;
    const { output_files, telemetry_data } = outcome.result;
    const addresses = new Set([...output_files, ...(telemetry_data == null ? [] : [telemetry_data])]);
    const files = [...addresses]
      .map((it) => relative(record.directory, it).replaceAll(sep, '/'))
      .filter((it) => filePathFault(it) === undefined);
    return files.length === 0 ? record : { ...record, upload: { files } };
  }

  /** Sends the files of a run that has ended, in the background. The spool has the record. */
  add(actor: AttemptActor, record: SpooledAttempt): void {
    this.#size += 1;
    this.#queue = this.#queue
      .then(() => this.#upload(actor, record))
      .then(() => {
        this.#size -= 1;
        this.#options.onChange();
      });
  }

  /** Uploads the files that a former process has not sent. */
  resume(record: SpooledAttempt): void {
    const actor = new AttemptActor(record, this.#options.log);
    actor.send({ type: 'RECOVERED', upload: true });
    this.#options.log.info('its files are sent to the object store', {
      job_id: record.job_id,
      attempt: record.attempt,
    });
    this.add(actor, record);
  }

  /** Uploads the files of an attempt. Never rejects. */
  async #upload(actor: AttemptActor, record: SpooledAttempt): Promise<void> {
    const { spool, log } = this.#options;
    const about = { ...actor.ref };
    let left = record.upload?.files ?? [];
    try {
      while (left.length > 0) {
        const group = left.slice(0, FILES_AT_ONCE);
        await this.#sendGroup(record, group);
        left = left.slice(group.length);
        if (left.length > 0) await spool.running({ ...record, upload: { files: left } });
      }
      actor.send({ type: 'UPLOADED' });
      spool.settled(record);
    } catch (error) {
      if (error instanceof ApiError) {
        actor.send({ type: 'REFUSED', code: error.code });
        log.warn(`files are not uploaded: ${oneLine(error)}`, about);
        spool.settled(record);
      } else {
        actor.send({ type: 'KEPT' });
        if (!(error instanceof Stopped)) log.error(`files were not uploaded: ${oneLine(error)}`, about);
      }
    }
  }

  /** @throws Stopped; ApiError when the coordinator refuses for good */
  async #sendGroup(record: SpooledAttempt, paths: readonly string[]): Promise<void> {
    const { log } = this.#options;
    const sent: Sent[] = [];
    const failed: Failed[] = [];
    const fail = (path: string, error: unknown): void => {
      failed.push({ path, detail: oneLine(error).slice(0, DETAIL_LENGTH) });
    };
    const files: Declared[] = [];
    for (const path of paths) {
      try {
        files.push({ path, ...(await digestFile(record.directory, path, this.#options.clock)) });
      } catch (error) {
        fail(path, error);
      }
    }
    const atMs = this.#options.clock.monotonicMs();
    try {
      const signed = files.length === 0 ? [] : (await this.#repeated(() => this.#begin(record, files))).files;
      for (const [index, file] of signed.entries()) {
        try {
          sent.push(await this.#sendFile(record, files[index], { upload: file, atMs }));
        } catch (error) {
          if (error instanceof Stopped) throw error;
          fail(file.path, error);
        }
      }
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      for (const { path } of files) fail(path, error);
    }
    try {
      await this.#repeated(() => this.#complete(record, { files: sent, failed }));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      for (const { path } of sent) fail(path, error);
      await this.#complete(record, { files: [], failed });
    }
    for (const { path, detail } of failed)
      log.warn(`${path} stays here and is not uploaded: ${detail}`, { ...refOf(record) });
  }

  #begin(record: SpooledAttempt, declared: readonly (Declared & { upload_id?: string })[]) {
    const { client, connection, config, stop } = this.#options;
    const files = declared.map(({ version: _, ...file }) => file);
    const request = { runner_id: config.id, attempt: record.attempt, files };
    return connection.ask(() => client.files.beginUpload(record.job_id, request), stop);
  }

  #complete(record: SpooledAttempt, outcome: { files: Sent[]; failed: Failed[] }) {
    const { client, connection, config, stop } = this.#options;
    const request = { runner_id: config.id, attempt: record.attempt, ...outcome };
    return connection.ask(() => client.files.completeUpload(record.job_id, request), stop);
  }

  async #sendFile(record: SpooledAttempt, file: Declared | undefined, signed: Omit<Signed, 'renew'>): Promise<Sent> {
    const { path, upload_id } = signed.upload;
    if (file?.path !== path) throw new Final('the coordinator signed addresses of another file');
    // The store has it: the answer to its completion was lost.
    if (upload_id === undefined) return { path, etags: [] };
    const renew = async (): Promise<SignedUpload> => {
      const [again] = (await this.#begin(record, [{ ...file, upload_id }])).files;
      if (again === undefined) throw new Final('the coordinator signed no address for it');
      return again;
    };
    const read: ReadBytes = (offset, length) =>
      readPart(record.directory, path, { offset, length, maxBytes: Infinity });
    return { path, upload_id, etags: await sendFile(read, { ...signed, renew }, file, this.#options) };
  }

  #repeated<T>(operation: () => Promise<T>): Promise<T> {
    return repeated(operation, this.#options);
  }
}

const refOf = ({ job_id, attempt }: AttemptRef): AttemptRef => ({ job_id, attempt });
const keyOf = ({ job_id, attempt }: AttemptRef): string => `${job_id}/${String(attempt)}`;
