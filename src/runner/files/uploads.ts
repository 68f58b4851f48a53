/**
 * Uploads the files of runs that have ended, to addresses that the coordinator signs: this machine has no credential of the
 * object store. What is left to send is in the spool, and is tried until it is sent, again at least every half minute.
 */
import { lstat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { AttemptRef, OutcomeReport, Uuid } from '../../contract/types.ts';
import type { Client } from '../../client/client.ts';
import { randomFraction, settlesWithin, type Clock } from '../../base/clock.ts';
import { inParallel } from '../../base/async/in-parallel.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { filePathFault } from '../../domain/files/file-path.ts';
import { AttemptActor } from '../attempt-actor.ts';
import type { RunnerConfig } from '../config/config.ts';
import { Stopped, type CoordinatorConnection } from '../connection/coordinator-connection.ts';
import type { Log } from '../log.ts';
import type { Spool, SpooledAttempt } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import type { Waits } from '../waits.ts';
import { isSuperseded, tryUpload, versionOf, type UploadLink } from './try-upload.ts';

export interface UploadsOptions {
  client: Client;
  connection: Pick<CoordinatorConnection, 'ask'>;
  spool: Spool;
  clock: Clock;
  waits: Waits;
  log: Log;
  config: Pick<RunnerConfig, 'id'>;
  /** Aborted when the runner ends. */
  stop: AbortSignal;
  /** Called when an attempt has nothing left to send. */
  onChange: () => void;
}

/** An attempt with files to send. */
interface Waiting {
  actor: AttemptActor;
  record: SpooledAttempt;
  /** Why the latest try failed, as it was reported. */
  reason?: string;
}

/** The attempts of a study, whose files go to one bucket: while it takes none, one attempt tries for all. */
interface Lane {
  waiting: Waiting[];
  failures: number;
  /** When the next try is due, monotonic. */
  atMs: number;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A file system that does not answer must not keep an outcome from being reported. */
const LOOK_MS = 10_000;
const LOOKS_AT_ONCE = 16;

export class Uploads {
  readonly #options: UploadsOptions;
  readonly #link: UploadLink;
  readonly #wanted = new Set<string>();
  readonly #lanes = new Map<Uuid, Lane>();
  #isWorking = false;
  #wake: () => void = () => {};
  #size = 0;

  constructor(options: UploadsOptions) {
    this.#options = options;
    const { client, connection, clock, stop, config, spool } = options;
    this.#link = {
      client,
      ask: (exchange) => connection.ask(exchange, stop),
      clock,
      stop,
      runnerId: config.id,
      spool,
    };
    stop.addEventListener('abort', () => this.#wake());
  }

  /** Attempts with files to send. */
  get size(): number {
    return this.#size;
  }

  /** The files of this attempt are to be uploaded when its run has ended. */
  want(ref: AttemptRef): void {
    this.#wanted.add(keyOf(ref));
  }

  /** The record of an attempt with the files that its outcome names, as they are now, where these are to be uploaded. */
  async recorded(record: SpooledAttempt, outcome: OutcomeReport): Promise<SpooledAttempt> {
    if (!this.#wanted.delete(keyOf(record)) || outcome.result === undefined) return record;
    const { output_files, telemetry_data } = outcome.result;
    const addresses = new Set([...output_files, ...(telemetry_data == null ? [] : [telemetry_data])]);
    const files = [...addresses]
      .map((it) => relative(record.directory, it).replaceAll(sep, '/'))
      .filter((it) => filePathFault(it) === undefined);
    if (files.length === 0) return record;
    const versions: Record<string, string> = Object.create(null);
    const looks = inParallel(files, LOOKS_AT_ONCE, async (path) => {
      versions[path] = versionOf(await lstat(join(record.directory, path)));
    });
    const what = `looking at the files of ${record.directory}`;
    await this.#options.waits.within(LOOK_MS, what, looks).catch((error: unknown) => {
      this.#options.log.warn(`a change of its files cannot be noticed: ${oneLine(error)}`, refOf(record));
    });
    return { ...record, upload: { files, versions: { ...versions } } };
  }

  /** Sends the files of a run that has ended, in the background. The spool has the record. */
  add(actor: AttemptActor, record: SpooledAttempt): void {
    this.#size += 1;
    const batchId = batchIdOf(record.job_id);
    const lane = this.#lanes.get(batchId) ?? { waiting: [], failures: 0, atMs: -Infinity };
    this.#lanes.set(batchId, lane);
    lane.waiting.push({ actor, record });
    this.#wake();
    if (!this.#isWorking) void this.#work();
  }

  /** The same for files that a former process has not sent. */
  resume(record: SpooledAttempt): void {
    const actor = new AttemptActor(record, this.#options.log);
    actor.send({ type: 'RECOVERED', upload: true });
    this.#options.log.info('its files are sent to the object store', refOf(record));
    this.add(actor, record);
  }

  /** One attempt after the other: the link of the machine is shared with its simulations. Never rejects. */
  async #work(): Promise<void> {
    const { clock, stop } = this.#options;
    this.#isWorking = true;
    while (this.#lanes.size > 0 && !stop.aborted) {
      const [batchId, lane] = [...this.#lanes].reduce((a, b) => (b[1].atMs < a[1].atMs ? b : a));
      const pauseMs = lane.atMs - clock.monotonicMs();
      if (pauseMs > 0) {
        const woken = new Promise<void>((resolve) => (this.#wake = resolve));
        await settlesWithin(clock, pauseMs, woken);
        continue;
      }
      const next = lane.waiting.shift();
      if (next === undefined) this.#lanes.delete(batchId);
      else if (await this.#try(next, lane)) {
        this.#size -= 1;
        this.#options.onChange();
      } else lane.waiting.push(next);
    }
    this.#isWorking = false;
  }

  /** Returns whether the attempt needs nothing more from this process. */
  async #try(waiting: Waiting, lane: Lane): Promise<boolean> {
    const { log, spool, stop } = this.#options;
    const { actor } = waiting;
    const about = { ...actor.ref };
    try {
      const { sent, lost, record, reason } = await tryUpload(this.#link, waiting.record, waiting.reason);
      for (const { path, detail } of lost) log.warn(`${path} is not uploaded: ${detail}`, about);
      waiting.record = record;
      const isDone = record.upload?.files.length === 0;
      if (isDone) actor.send({ type: 'UPLOADED' });
      if (isDone || sent > 0) lane.failures = 0;
      else this.#pause(lane);
      if (!isDone && reason !== waiting.reason) log.warn(`files wait for the object store: ${reason ?? ''}`, about);
      if (reason === undefined) delete waiting.reason;
      else waiting.reason = reason;
      return isDone;
    } catch (error) {
      if (isSuperseded(error)) {
        actor.send({ type: 'REFUSED', code: error.code });
        log.warn(`its files are not uploaded, and stay in ${waiting.record.directory}: ${oneLine(error)}`, about);
        spool.finished(waiting.record);
        return true;
      }
      if (error instanceof Stopped || stop.aborted) {
        actor.send({ type: 'KEPT' });
        return true;
      }
      log.error(`files wait for the coordinator: ${oneLine(error)}`, about);
      this.#pause(lane);
      return false;
    }
  }

  /** Growing and scattered, and never longer than half a minute. */
  #pause(lane: Lane): void {
    const { clock } = this.#options;
    const grownMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(lane.failures, 10));
    lane.failures += 1;
    lane.atMs = clock.monotonicMs() + grownMs * (0.75 + randomFraction(clock) / 4);
  }
}

const refOf = ({ job_id, attempt }: AttemptRef): { job_id: string; attempt: number } => ({ job_id, attempt });
const keyOf = ({ job_id, attempt }: AttemptRef): string => `${job_id}/${String(attempt)}`;
