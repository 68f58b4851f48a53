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
  ParentFiles,
  ParentFilesRequest,
  RunFiles,
  UploadCompleteRequest,
  UploadRequest,
  UploadResponse,
  Uuid,
} from '../contract/types.ts';
import type { Exchange, Transport } from './transport.ts';

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
  list(jobId: Uuid, query: QueryOf<typeof FILE_QUERY> = {}): Promise<RunFiles> {
    const path = ['jobs', jobId, 'files'];
    return this.#call({ method: 'GET', path, query: { ...query }, extraMs: RUNNER_MS });
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
  liveTelemetry(jobId: Uuid): Promise<LiveTelemetry> {
    return this.#call({ method: 'GET', path: ['jobs', jobId, 'telemetry', 'live'] });
  }

  // Operations of runners.

  /** Waits up to `wait_seconds` for requests to read files, plus the usual time limit for the answer. */
  requests(
    runnerId: string,
    request: FileRequestsRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<FileRequestsResponse> {
    const extraMs = (request.wait_seconds ?? 0) * 1000;
    const path = ['runners', runnerId, 'file-requests'];
    return this.#call({ method: 'POST', path, body: request, extraMs, ...options });
  }

  /** Signs addresses for files of a job that has ended. */
  beginUpload(jobId: Uuid, request: UploadRequest): Promise<UploadResponse> {
    return this.#store(['jobs', jobId, 'uploads'], request);
  }

  /** Names files that were uploaded in the result of the job. */
  completeUpload(jobId: Uuid, request: UploadCompleteRequest): Promise<JobResult> {
    return this.#store(['jobs', jobId, 'uploads', 'complete'], request);
  }

  /** The checkpoint that an earlier attempt of a job has sent, for the runner of its current attempt. */
  openCheckpoint(
    jobId: Uuid,
    request: CheckpointRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<CheckpointResponse> {
    return this.#store(['jobs', jobId, 'checkpoint'], request, options);
  }

  /** The files of the run that a run of an extraction is about, for the runner of its current attempt. */
  openParentFiles(
    jobId: Uuid,
    request: ParentFilesRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<ParentFiles> {
    return this.#store(['jobs', jobId, 'parent-files'], request, options);
  }

  /** Signs addresses for the files of a checkpoint. */
  beginCheckpoint(
    jobId: Uuid,
    request: CheckpointUploadRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<CheckpointUploadResponse> {
    return this.#store(['jobs', jobId, 'checkpoint', 'uploads'], request, options);
  }

  /** Makes files that were sent the checkpoint of a job. */
  completeCheckpoint(
    jobId: Uuid,
    request: CheckpointCompleteRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<CheckpointCompleteResponse> {
    return this.#store(['jobs', jobId, 'checkpoint', 'complete'], request, options);
  }

  #store<T>(path: readonly string[], body: object, options: { signal?: AbortSignal } = {}): Promise<T> {
    return this.#call({ method: 'POST', path, body, extraMs: STORE_MS, ...options });
  }

  /** Answers a request to read files with bytes, or with a fault and none. */
  sendPart(
    runnerId: string,
    query: QueryOf<typeof FILE_PART_QUERY>,
    bytes: Uint8Array,
    options: { signal?: AbortSignal } = {},
  ): Promise<FilePartResponse> {
    const path = ['runners', runnerId, 'file-parts'];
    return this.#call({ method: 'POST', path, query: { ...query }, bytes, ...options });
  }

  async #call<T>(exchange: Exchange): Promise<T> {
    return (await this.#transport.send<T>(exchange)).body;
  }
}
