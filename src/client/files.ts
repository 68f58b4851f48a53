/** The files of runs, as `Client.files`: lists, and reading in a range of bytes. */
import type { FILE_PART_QUERY, FILE_QUERY, QueryOf } from '../contract/queries.ts';
import type {
  CheckpointCompleteRequest,
  CheckpointCompleteResponse,
  CheckpointRequest,
  CheckpointResponse,
  CheckpointUploadRequest,
  CheckpointUploadResponse,
  FilePartResponse,
  FileRequestsRequest,
  FileRequestsResponse,
  JobResult,
  LiveTelemetry,
  RunFiles,
  UploadCompleteRequest,
  UploadRequest,
  UploadResponse,
  Uuid,
} from '../contract/types.ts';
import type { Transport } from './transport.ts';

export interface ReadFileOptions extends QueryOf<typeof FILE_QUERY> {
  /** The first byte; a negative number counts from the end. */
  start?: number;
  /** The byte before which to stop; without it the end of the file. */
  end?: number;
  /** Aborts the exchange. */
  signal?: AbortSignal;
}

/** A file that is being read. */
export interface OpenFile {
  /** Size of the whole file, in bytes. */
  size: number;
  /** Where `content` begins. */
  start: number;
  /** Version of the content: a changed file has another one. */
  version: string;
  content: AsyncIterable<Uint8Array>;
  /** Ends the reading, for a caller that does not iterate `content`. */
  close: () => void;
}

/** The coordinator calls an object store for each file. */
const STORE_MS = 120_000;
/** A runner is asked, which may be slow. */
const RUNNER_MS = 30_000;

/** Every method throws what `Client` throws. */
export class Files {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The files of an attempt of a job, by default of the last one. */
  async list(jobId: Uuid, query: QueryOf<typeof FILE_QUERY> = {}): Promise<RunFiles> {
    const exchange = {
      method: 'GET',
      path: ['jobs', jobId, 'files'],
      query: { ...query },
      extraMs: RUNNER_MS,
    } as const;
    return (await this.#transport.send<RunFiles>(exchange)).body;
  }

  /**
   * Begins to read a file. `content` must be iterated, or `close` called.
   * @throws ApiError `unknown-file`, `artifact-not-uploaded` (naming runner and path), `range-not-satisfiable`
   */
  async read(jobId: Uuid, path: string, options: ReadFileOptions = {}): Promise<OpenFile> {
    const { start = 0, end, attempt, signal } = options;
    const isWhole = start === 0 && end === undefined;
    const range =
      start < 0 ? `bytes=${String(start)}` : `bytes=${String(start)}-${end === undefined ? '' : String(end - 1)}`;
    const { status, headers, content, close } = await this.#transport.open({
      method: 'GET',
      path: ['jobs', jobId, 'files', path],
      query: { attempt },
      extraMs: RUNNER_MS,
      headers: { accept: '*/*', ...(isWhole ? {} : { range }) },
      ...(signal === undefined ? {} : { signal }),
    });
    const [, first, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
    const isPart = status === 206 && first !== undefined;
    return {
      size: Number(isPart ? size : headers.get('content-length')),
      start: isPart ? Number(first) : 0,
      version: headers.get('etag') ?? '',
      content,
      close,
    };
  }

  /**
   * The telemetry so far of a job that runs, down-sampled.
   * @throws ApiError `run-not-running`, `live-telemetry-off`, `live-telemetry-unavailable`
   */
  async liveTelemetry(jobId: Uuid): Promise<LiveTelemetry> {
    const path = ['jobs', jobId, 'telemetry', 'live'];
    return (await this.#transport.send<LiveTelemetry>({ method: 'GET', path })).body;
  }

  // Operations of runners.

  /** Waits up to `wait_seconds` for requests to read files, plus the usual time limit for the answer. */
  async requests(
    runnerId: string,
    request: FileRequestsRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<FileRequestsResponse> {
    const extraMs = (request.wait_seconds ?? 0) * 1000;
    const path = ['runners', runnerId, 'file-requests'];
    const exchange = { method: 'POST', path, body: request, extraMs, ...options } as const;
    return (await this.#transport.send<FileRequestsResponse>(exchange)).body;
  }

  /** Signs addresses for files of a job that has ended. */
  async beginUpload(jobId: Uuid, request: UploadRequest): Promise<UploadResponse> {
    const exchange = { method: 'POST', path: ['jobs', jobId, 'uploads'], body: request, extraMs: STORE_MS } as const;
    return (await this.#transport.send<UploadResponse>(exchange)).body;
  }

  /** Names files that were uploaded in the result of the job. */
  async completeUpload(jobId: Uuid, request: UploadCompleteRequest): Promise<JobResult> {
    const path = ['jobs', jobId, 'uploads', 'complete'];
    const exchange = { method: 'POST', path, body: request, extraMs: STORE_MS } as const;
    return (await this.#transport.send<JobResult>(exchange)).body;
  }

  /** The checkpoint that an earlier attempt of a job has sent, for the runner of its current attempt. */
  async openCheckpoint(
    jobId: Uuid,
    request: CheckpointRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<CheckpointResponse> {
    return await this.#checkpoint(jobId, [], request, options);
  }

  /** Signs addresses for the files of a checkpoint. */
  async beginCheckpoint(
    jobId: Uuid,
    request: CheckpointUploadRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<CheckpointUploadResponse> {
    return await this.#checkpoint(jobId, ['uploads'], request, options);
  }

  /** Makes files that were sent the checkpoint of a job. */
  async completeCheckpoint(
    jobId: Uuid,
    request: CheckpointCompleteRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<CheckpointCompleteResponse> {
    return await this.#checkpoint(jobId, ['complete'], request, options);
  }

  async #checkpoint<T>(jobId: Uuid, end: string[], body: object, options: { signal?: AbortSignal }): Promise<T> {
    const path = ['jobs', jobId, 'checkpoint', ...end];
    return (await this.#transport.send<T>({ method: 'POST', path, body, extraMs: STORE_MS, ...options })).body;
  }

  /** Answers a request to read files with bytes, or with a fault and none. */
  async sendPart(
    runnerId: string,
    query: QueryOf<typeof FILE_PART_QUERY>,
    bytes: Uint8Array,
    options: { signal?: AbortSignal } = {},
  ): Promise<FilePartResponse> {
    const path = ['runners', runnerId, 'file-parts'];
    const exchange = { method: 'POST', path, query: { ...query }, bytes, ...options } as const;
    return (await this.#transport.send<FilePartResponse>(exchange)).body;
  }
}
