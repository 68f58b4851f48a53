/** The finished runs that runs of an extraction are about: their results, and their telemetry on this machine or from the object store. */
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { ApiError, type Client } from '../../../client/client.ts';
import type { AttemptRef, JobResult, ParentFiles } from '../../../contract/types.ts';
import { filePathFault } from '../../../domain/files/file-path.ts';
import type { RunnerConfig } from '../../config/config.ts';
import type { CoordinatorConnection } from '../../connection/coordinator-connection.ts';
import { attemptDirectory } from '../../files/artifacts.ts';
import { Final, getPart, repeated } from '../../files/object-transfer.ts';
import { systemCode } from '../../system-error.ts';

/** A finished run whose files are here. */
export interface ParentRun {
  result: JobResult;
  /** The path of its telemetry; undefined: it has sent no sample. */
  telemetry: string | undefined;
  /** Removes what was made for it. Never rejects. */
  close(): Promise<void>;
}

export interface ParentRunsOptions {
  config: Pick<RunnerConfig, 'id' | 'outputRoot'>;
  client: Client;
  connection: Pick<CoordinatorConnection, 'ask'>;
  clock: Clock;
}

const PART_BYTES = 8 << 20;

export class ParentRuns {
  readonly #options: ParentRunsOptions;

  constructor(options: ParentRunsOptions) {
    this.#options = options;
  }

  /**
   * Finds the run that an attempt is about, or why its files are gone.
   * @param directory of the attempt; what is read from the object store is beside it until `close`
   * @throws ApiError `stale-attempt`; Stopped; Error where the coordinator or the object store cannot be reached, or a file cannot be read
   */
  async open(ref: AttemptRef, directory: string, stop: AbortSignal): Promise<ParentRun | { gone: string }> {
    const { client, connection, config } = this.#options;
    const request = { runner_id: config.id, attempt: ref.attempt };
    const found = await connection.ask(() => client.files.openParentFiles(ref.job_id, request, { signal: stop }), stop);
    const { gone, batch_id: batchId, run_id: runId, attempt, result, files = [] } = found;
    if (gone !== undefined || batchId === undefined || runId === undefined || attempt === undefined || !result)
      return { gone: gone ?? 'the coordinator does not name them' };
    const [file] = files;
    if (file === undefined) return { result, telemetry: undefined, close: async () => {} };
    if (filePathFault(file.path) !== undefined) return { gone: `the result names no file of the run: ${file.path}` };
    if (file.url === undefined) {
      const path = join(attemptDirectory(config.outputRoot, batchId, runId, attempt), file.path);
      if (!(await exists(path))) return { gone: `${path} does not exist on runner "${config.id}"` };
      return { result, telemetry: path, close: async () => {} };
    }
    const copy = `${directory}.parent.parquet`;
    const close = (): Promise<void> => rm(copy, { force: true }).catch(() => {});
    try {
      await this.#download({ ...file, url: file.url }, copy, stop);
      return { result, telemetry: copy, close };
    } catch (error) {
      await close();
      const isGone = error instanceof Final && /NoSuchKey|status 404/.test(error.message);
      if (isGone) return { gone: `${JSON.stringify(file.path)} is not in the object store any more` };
      throw error;
    }
  }

  async #download(
    { bytes = 0, url }: NonNullable<ParentFiles['files']>[number] & { url: string },
    path: string,
    stop: AbortSignal,
  ): Promise<void> {
    const tries = { clock: this.#options.clock, stop };
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    const file = await open(path, 'wx', 0o600);
    try {
      for (let offset = 0; offset < bytes; offset += PART_BYTES) {
        const range = { offset, length: Math.min(PART_BYTES, bytes - offset) };
        await file.writeFile(await repeated(() => getPart(url, range, stop), tries));
      }
    } finally {
      await file.close();
    }
  }
}

/** @throws the system's error of a file that cannot be looked at */
async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** True for an answer that says that the attempt is not this runner's any more. */
export const isStale = (error: unknown): boolean => error instanceof ApiError && error.code === 'stale-attempt';
