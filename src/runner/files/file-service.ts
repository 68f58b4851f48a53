/**
 * Serves the files of runs to readers of the coordinator, with `--serve-files`: asks the coordinator for requests over the
 * runner's own connection, and sends lists and parts of files, and the live telemetry of running runs. Reads no file outside the output directories of attempts.
 */
import { sleep, type Clock } from '../../base/clock.ts';
import { ApiError, type Client, type Files } from '../../client/client.ts';
import type { FileRequest } from '../../contract/types.ts';
import { LIMITS } from '../../contract/limits.ts';
import { batchIdOf, isJobId, runIdOf } from '../../domain/ids.ts';
import type { RunnerConfig } from '../config/config.ts';
import { Stopped, type CoordinatorConnection } from '../connection/coordinator-connection.ts';
import { deletionText } from '../ends/ended-attempts.ts';
import type { Log } from '../log.ts';
import { oneLine } from '../system-error.ts';
import type { Spool } from '../spool.ts';
import type { LiveViews } from '../telemetry/live/views.ts';
import type { Waits } from '../waits.ts';
import { ArchivedFiles } from './archive/archived-files.ts';
import { attemptDirectory } from './artifacts.ts';
import { listRunFiles } from './list-files.ts';
import { readPart } from './read-part.ts';

export interface FileServiceOptions {
  config: Pick<RunnerConfig, 'id' | 'outputRoot' | 'servesFiles' | 'servedFileBytes'>;
  client: Client;
  connection: CoordinatorConnection;
  clock: Clock;
  log: Log;
  waits: Waits;
  spool: Pick<Spool, 'ends'>;
  instance: string;
  /** Undefined where files are not served. */
  live: LiveViews | undefined;
  /** Aborted when the runner ends. */
  stop: AbortSignal;
}

const WAIT_SECS = 25;
/** Requests that are answered at the same time; the others wait. */
const AT_ONCE = 4;
/** Shorter than the coordinator waits for an answer. */
const READ_DEADLINE_MS = 15_000;
/** Pause after an answer that the runner did not expect. */
const PAUSE_MS = 5_000;
/** A runner does not ask more often than this when answers come without waiting. */
const HASTY_MS = 50;

const NOTHING = new Uint8Array(0);

/** Serves files until the runner ends, where its configuration says so. Never rejects. */
export async function serveFiles(options: FileServiceOptions): Promise<void> {
  if (options.config.servesFiles) await new FileService(options).run();
}

class FileService {
  readonly #options: FileServiceOptions;
  readonly #waits: Waits;
  readonly #archived: ArchivedFiles;
  readonly #held = new Map<string, FileRequest>();
  readonly #waiting: FileRequest[] = [];
  #running = 0;

  constructor(options: FileServiceOptions) {
    this.#options = options;
    this.#waits = options.waits.child();
    this.#archived = new ArchivedFiles(options.clock);
  }

  async run(): Promise<void> {
    const { clock, log, stop } = this.#options;
    while (!stop.aborted) {
      const sinceMs = clock.monotonicMs();
      try {
        const { requests } = await this.#ask();
        for (const request of requests) this.#take(request);
        if (requests.length === 0 && clock.monotonicMs() - sinceMs < HASTY_MS) await sleep(clock, PAUSE_MS, stop);
      } catch (error) {
        if (error instanceof Stopped) return;
        if (error instanceof ApiError && error.code === 'not-found') {
          log.warn('files are not served: this coordinator is of an older version');
          return;
        }
        log.warn(`the coordinator refuses to send requests for files: ${oneLine(error)}`);
        await sleep(clock, PAUSE_MS, stop);
      }
    }
  }

  async #ask(): ReturnType<Files['requests']> {
    const { client, connection, config, instance, stop } = this.#options;
    return await connection.ask(() => {
      const request = { instance, wait_seconds: WAIT_SECS, holding: [...this.#held.keys()] };
      return client.files.requests(config.id, request, { signal: stop });
    }, stop);
  }

  #take(request: FileRequest): void {
    if (this.#held.has(request.request_id)) return;
    this.#held.set(request.request_id, request);
    if (request.type === 'live') {
      // A live view is answered from memory, and does not wait for the disk as a file may.
      void this.#answer(request).finally(() => this.#held.delete(request.request_id));
      return;
    }
    this.#waiting.push(request);
    this.#next();
  }

  #next(): void {
    while (this.#running < AT_ONCE) {
      const request = this.#waiting.shift();
      if (request === undefined) return;
      this.#running += 1;
      void this.#answer(request).finally(() => {
        this.#running -= 1;
        this.#held.delete(request.request_id);
        this.#next();
      });
    }
  }

  /** Never rejects: a reader whose answer is lost gets a problem when its time is over. */
  async #answer(request: FileRequest): Promise<void> {
    const { client, config, log, stop } = this.#options;
    const name = request.request_id;
    const leaving = new AbortController();
    const reading = this.#read(request, leaving.signal);
    const read = await this.#waits
      .within(READ_DEADLINE_MS, 'reading files of a run', reading)
      .catch((error: unknown) => {
        leaving.abort();
        return { query: { fault: 'unreadable' as const, detail: oneLine(error) }, bytes: NOTHING };
      });
    try {
      await client.files.sendPart(config.id, { request: name, ...read.query }, read.bytes, { signal: stop });
    } catch (error) {
      if (stop.aborted) return;
      log.debug(`a part of a file was not sent: ${oneLine(error)}`);
      // The reader would wait for an answer that does not come.
      const query = {
        request: name,
        fault: 'unreadable' as const,
        detail: `the answer was refused: ${oneLine(error)}`,
      };
      if (error instanceof ApiError)
        await client.files.sendPart(config.id, query, NOTHING, { signal: stop }).catch(() => {});
    }
  }

  async #read(request: FileRequest, stop: AbortSignal) {
    const { outputRoot, servedFileBytes: maxBytes } = this.#options.config;
    const { job_id: jobId, attempt } = request;
    if (!isJobId(jobId) || !Number.isSafeInteger(attempt) || attempt < 1) {
      return {
        query: { fault: 'unknown-file' as const, detail: 'the run or its attempt is malformed' },
        bytes: NOTHING,
      };
    }
    if (request.type === 'live') return this.#readLive(request);
    const deletion = await this.#options.spool.ends.deletionOf(request);
    if (deletion !== undefined)
      return { query: { fault: 'unknown-file' as const, detail: deletionText(deletion) }, bytes: NOTHING };
    const directory = attemptDirectory(outputRoot, batchIdOf(jobId), runIdOf(jobId), attempt);
    if (request.type === 'list') {
      const list = Buffer.from(JSON.stringify(await listRunFiles(directory, this.#archived, stop)));
      return { query: { size: list.length, version: 'list' }, bytes: list };
    }
    const wish = { ...request, maxBytes };
    const found = await readPart(directory, request.path, wish);
    const isAbsent = 'fault' in found && found.fault === 'unknown-file';
    const part = (isAbsent ? await this.#archived.part(directory, request.path, wish) : undefined) ?? found;
    if ('fault' in part) return { query: { ...part, detail: part.detail.slice(0, 1000) }, bytes: NOTHING };
    const { bytes, size, offset, version, modifiedMs } = part;
    return { query: { size, offset, version, modified_ms: modifiedMs }, bytes };
  }

  async #readLive(request: FileRequest) {
    const lines = await this.#options.live?.lines(request);
    if (lines === undefined) {
      const detail = 'the run has not begun to take telemetry, or has ended';
      return { query: { fault: 'unknown-file' as const, detail }, bytes: NOTHING };
    }
    const bytes = Buffer.from(lines);
    if (bytes.length > LIMITS.filePartBytes) {
      const detail = `its live telemetry has ${String(bytes.length)} bytes, too many for an answer`;
      return { query: { fault: 'too-large' as const, detail }, bytes: NOTHING };
    }
    return { query: { size: bytes.length, version: 'live' }, bytes };
  }
}
