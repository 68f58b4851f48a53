/**
 * Checkpoints through the object store, for runners that share no folder: sends that of a running attempt at a bounded rate and when
 * the runner hands its run back, and fetches that of the attempt before. Nothing here fails a run.
 */
import { sleep } from '../../base/clock.ts';
import { Gate } from '../../base/async/gate.ts';
import { ApiError } from '../../client/client.ts';
import type { AttemptRef } from '../../contract/types.ts';
import type { RunnerConfig } from '../config/config.ts';
import { Stopped } from '../connection/coordinator-connection.ts';
import type { Log } from '../log.ts';
import { oneLine } from '../system-error.ts';
import { latestCheckpoint } from './checkpoints.ts';
import { downloadCheckpoint } from './checkpoint-download.ts';
import { CheckpointFault } from './checkpoint-set.ts';
import { CheckpointUpload, type CheckpointLink } from './checkpoint-upload.ts';

export interface StoredCheckpointsOptions extends CheckpointLink {
  config: Pick<RunnerConfig, 'id' | 'checkpointDir' | 'checkpointIntervalMs' | 'checkpointBytes' | 'lifetime'>;
  log: Log;
  /** Aborted when the runner ends. */
  stop: AbortSignal;
}

/** How long the last checkpoint of a run that is handed back may take; less than the time after which the runner ends. */
const HAND_BACK_MS = 40_000;
const FINAL_PAUSE_MS = 1_000;
/** Factor up to which the interval grows after failures. */
const LONGEST_INTERVALS = 16;
/** Uploads side by side: one while runs execute, which need the machine, more while it leaves. */
const FINALS_AT_ONCE = 4;

export class StoredCheckpoints {
  readonly #options: StoredCheckpointsOptions;
  readonly #wanted = new Set<string>();
  readonly #periodic = new Gate(1);
  readonly #final = new Gate(FINALS_AT_ONCE);
  #followed = 0;

  constructor(options: StoredCheckpointsOptions) {
    this.#options = options;
  }

  /** Running attempts whose checkpoints are sent, until their last upload has ended. */
  get followed(): number {
    return this.#followed;
  }

  /** How long the last checkpoints may take when the runner leaves: within the margin before the end of its machine, if it has one. */
  get handBackMs(): number {
    const { endsAtMs, maxMs, marginMs } = this.#options.config.lifetime;
    return endsAtMs === undefined && maxMs === undefined ? HAND_BACK_MS : Math.min(HAND_BACK_MS, marginMs);
  }

  /** The study of this attempt names a bucket. */
  want(ref: AttemptRef): void {
    const { checkpointDir, checkpointBytes } = this.#options.config;
    if (checkpointDir === undefined && checkpointBytes > 0) this.#wanted.add(keyOf(ref));
  }

  isWanted(ref: AttemptRef): boolean {
    return this.#wanted.has(keyOf(ref));
  }

  forget(ref: AttemptRef): void {
    this.#wanted.delete(keyOf(ref));
  }

  /**
   * Brings the checkpoint of an earlier attempt to this machine, unless a later one is here. Never rejects.
   * @param directory of the attempt, as `checkpointDirectory` returns it.
   * @param isNeeded false once the attempt is not to be executed here.
   * @returns why the stored one is not used, for the reader of the result.
   */
  async fetch(ref: AttemptRef, directory: string, isNeeded: () => boolean): Promise<string | undefined> {
    if (ref.attempt < 2) return undefined;
    const { client, connection, config, clock, stop, log } = this.#options;
    const about = { ...ref };
    let what = 'the checkpoint in the object store';
    const ending = new AbortController();
    const cancel = clock.every(LOOK_MS, () => {
      if (!isNeeded()) ending.abort();
    });
    const signal = AbortSignal.any([stop, ending.signal]);
    try {
      const local = await latestCheckpoint(directory, ref.attempt);
      const request = { runner_id: config.id, attempt: ref.attempt };
      const { checkpoint } = await connection.ask(
        () => client.files.openCheckpoint(ref.job_id, request, { signal }),
        signal,
      );
      if (checkpoint === undefined || (local !== undefined && local >= checkpoint.attempt)) return undefined;
      what = `the checkpoint of attempt ${String(checkpoint.attempt)} in the object store`;
      await downloadCheckpoint(directory, checkpoint, { maxBytes: config.checkpointBytes, clock, stop: signal });
      const bytes = checkpoint.files.reduce((sum, it) => sum + it.bytes, 0);
      log.info(`${what} is here: ${String(checkpoint.files.length)} files, ${String(bytes)} bytes`, about);
      return undefined;
    } catch (error) {
      // The attempt is not executed, or its start is refused in the same way.
      if (error instanceof Stopped || (error instanceof ApiError && error.code === 'stale-attempt')) return undefined;
      const note = `${what} is not used: ${oneLine(error)}`;
      log.warn(note, about);
      return note;
    } finally {
      cancel();
    }
  }

  /** Sends the checkpoint of a running attempt from time to time. `end` must be called. */
  follow(ref: AttemptRef, directory: string): CheckpointFollower {
    this.#followed += 1;
    const upload = new CheckpointUpload(this.#options, ref, directory);
    const onEnd = (): void => {
      this.#followed -= 1;
    };
    const pool = { periodic: this.#periodic, final: this.#final, handBackMs: this.handBackMs, onEnd };
    return new CheckpointFollower(this.#options, ref, upload, pool);
  }
}

/** How often a download looks whether it is still wanted. */
const LOOK_MS = 1_000;
const keyOf = ({ job_id, attempt }: AttemptRef): string => `${job_id}/${String(attempt)}`;

/** The limits that the uploads of a runner share. */
interface UploadPool {
  periodic: Gate;
  final: Gate;
  handBackMs: number;
  onEnd: () => void;
}

/** The uploads of one running attempt. */
export class CheckpointFollower {
  readonly #options: StoredCheckpointsOptions;
  readonly #ref: AttemptRef;
  readonly #upload: CheckpointUpload;
  readonly #pool: UploadPool;
  readonly #waiting = new AbortController();
  readonly #sending = new AbortController();
  readonly #loop: Promise<void>;
  /** True when no checkpoint will be accepted any more: the attempt is not the current one, or its checkpoint cannot be sent as it is. */
  #isRefused = false;
  #isUnfit = false;
  #fault: string | undefined;

  constructor(options: StoredCheckpointsOptions, ref: AttemptRef, upload: CheckpointUpload, pool: UploadPool) {
    this.#options = options;
    this.#ref = ref;
    this.#upload = upload;
    this.#pool = pool;
    this.#loop = this.#repeat();
  }

  /** Why the latest checkpoint was not sent, for the reader of the result. */
  get notes(): string[] {
    return this.#fault === undefined ? [] : [`its checkpoint was not sent to the object store: ${this.#fault}`];
  }

  /**
   * Resolves when nothing is sent any more. Never rejects.
   * @param isHandedBack the run is executed again elsewhere, and the processes of this attempt have ended: the checkpoint is sent
   * once more.
   */
  async end(isHandedBack: boolean): Promise<void> {
    const { clock } = this.#options;
    const { handBackMs } = this.#pool;
    const endMs = clock.monotonicMs() + handBackMs;
    const cancel = clock.after(handBackMs, () => this.#sending.abort());
    try {
      this.#waiting.abort();
      if (!isHandedBack || !(await this.#upload.isCurrent())) this.#sending.abort();
      await this.#loop;
      if (isHandedBack && !this.#isRefused) await this.#sendLast(endMs);
    } finally {
      cancel();
      this.#pool.onEnd();
    }
  }

  async #repeat(): Promise<void> {
    const { clock, config, stop } = this.#options;
    const { checkpointIntervalMs: shortestMs } = config;
    const signal = AbortSignal.any([stop, this.#waiting.signal]);
    let pauseMs = shortestMs;
    while (!this.#isRefused) {
      await sleep(clock, pauseMs, signal);
      if (signal.aborted) return;
      const isDone = await this.#pool.periodic.pass(() => this.#send(AbortSignal.any([stop, this.#sending.signal])));
      pauseMs = isDone ? shortestMs : Math.min(pauseMs * 2, shortestMs * LONGEST_INTERVALS);
    }
  }

  /** Sends the last checkpoint again until it has succeeded or the time is over. */
  async #sendLast(endMs: number): Promise<void> {
    const { clock, stop, log } = this.#options;
    const over = new AbortController();
    const cancel = clock.after(Math.max(0, endMs - clock.monotonicMs()), () => over.abort());
    const signal = AbortSignal.any([stop, over.signal]);
    try {
      while (!signal.aborted && !(await this.#pool.final.pass(() => this.#send(signal)))) {
        if (this.#isRefused || this.#isUnfit) return;
        await sleep(clock, FINAL_PAUSE_MS, signal);
      }
      if (over.signal.aborted) {
        const why = this.#fault ?? 'the time was too short';
        log.warn(`the last checkpoint was not sent; the next attempt gets the one before: ${why}`, { ...this.#ref });
      }
    } finally {
      cancel();
    }
  }

  /** False when it failed. Never rejects. */
  async #send(signal: AbortSignal): Promise<boolean> {
    const { log } = this.#options;
    const about = { ...this.#ref };
    if (signal.aborted) return false;
    try {
      const sent = await this.#upload.send(signal);
      if (sent !== undefined) {
        log.debug(
          `its checkpoint is in the object store: ${String(sent.files)} files, ${String(sent.bytes)} bytes`,
          about,
        );
      }
      this.#fault = undefined;
      return true;
    } catch (error) {
      if (signal.aborted || error instanceof Stopped) return false;
      if (error instanceof ApiError && error.code === 'stale-attempt') this.#isRefused = true;
      this.#isUnfit = error instanceof CheckpointFault;
      const fault = oneLine(error);
      if (fault !== this.#fault) log.warn(`its checkpoint was not sent to the object store: ${fault}`, about);
      this.#fault = fault;
      return false;
    }
  }
}
