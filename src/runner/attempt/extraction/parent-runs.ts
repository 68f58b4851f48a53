/** The finished runs that runs of an extraction are about: their results, and their files on this machine or from the object store. */
import { constants } from 'node:fs';
import { copyFile, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { stringifyExact } from '../../../base/json/json-writing.ts';
import { ApiError, type Client } from '../../../client/client.ts';
import type { AttemptRef, JobResult, ParentFiles } from '../../../contract/types.ts';
import { jobId } from '../../../domain/ids.ts';
import { ARCHIVE, filePathFault } from '../../../domain/files/file-path.ts';
import type { RunnerConfig } from '../../config/config.ts';
import { Stopped, type CoordinatorConnection } from '../../connection/coordinator-connection.ts';
import { ArchivedFiles } from '../../files/archive/archived-files.ts';
import { unpack } from '../../files/archive/unpack.ts';
import { attemptDirectory } from '../../files/artifacts.ts';
import { Final, getPart, repeated } from '../../files/object-transfer.ts';
import { deletionText } from '../../ends/ended-attempts.ts';
import type { Spool } from '../../spool.ts';
import { systemCode } from '../../system-error.ts';

/** A finished run whose files are here. */
export interface ParentRun {
  result: JobResult;
  /** The path of its telemetry; undefined: it has sent no sample, or its files were copied. */
  telemetry: string | undefined;
  /** Removes what was made for it. Never rejects. */
  close(): Promise<void>;
}

type Gone = { gone: string };
type ParentFile = NonNullable<ParentFiles['files']>[number];

interface Found {
  result: JobResult;
  files: readonly ParentFile[];
  /** Where the files are that have no address. */
  directory: string;
  ref: AttemptRef;
}

/** Where the files of a finished run are for the attempt that is about it. */
export interface ParentPlace {
  /** The folder of the copies. */
  files: string;
  /** The file of its result, as JSON. */
  result: string;
}

/** The place beside the directory of an attempt. */
export const parentPlace = (directory: string): ParentPlace => ({
  files: join(`${directory}.parent`, 'files'),
  result: join(`${directory}.parent`, 'result.json'),
});

/** Removes the place of an attempt. */
export const removePlace = (directory: string): Promise<void> =>
  rm(dirname(parentPlace(directory).files), { recursive: true, force: true });

/** Removes what attempts at the same run have left in such places: those of another runner that shares the output root, too. */
async function removeLeft(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  });
  for (const name of names)
    if (/^attempt-\d+[.]parent$/.test(name)) await rm(join(folder, name), { recursive: true, force: true });
}

export interface ParentRunsOptions {
  config: Pick<RunnerConfig, 'id' | 'outputRoot'>;
  client: Client;
  connection: Pick<CoordinatorConnection, 'ask'>;
  spool: Pick<Spool, 'ends'>;
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
  async open(ref: AttemptRef, directory: string, stop: AbortSignal): Promise<ParentRun | Gone> {
    const found = await this.#find(ref, stop);
    if ('gone' in found) return found;
    const [file] = found.files;
    if (file === undefined) return { result: found.result, telemetry: undefined, close: async () => {} };
    if (file.url === undefined) {
      const path = join(found.directory, file.path);
      if (!(await exists(path))) return await this.#absent(path, found);
      return { result: found.result, telemetry: path, close: async () => {} };
    }
    return await this.#beside(directory, async ({ files }) => {
      const telemetry = join(files, 'telemetry.parquet');
      return (await this.#fetch(file, telemetry, stop)) ?? { result: found.result, telemetry };
    });
  }

  /**
   * The same, with copies of all files of the run and its result in the place beside the directory of the attempt until `close`.
   * @throws as `open`; the system's error of a full disk
   */
  async copy(ref: AttemptRef, directory: string, stop: AbortSignal): Promise<ParentRun | Gone> {
    const found = await this.#find(ref, stop);
    if ('gone' in found) return found;
    return await this.#beside(directory, async ({ files, result }) => {
      await mkdir(files, { recursive: true });
      await writeFile(result, `${stringifyExact(found.result)}\n`, { mode: 0o600 });
      for (const file of found.files) {
        if (stop.aborted) throw new Stopped();
        const to = join(files, file.path);
        const isHere = file.url === undefined;
        if (isHere && file.path === ARCHIVE && (await this.#unpacked(found.directory, found, files, stop))) continue;
        const missing = isHere
          ? await this.#copyFile(join(found.directory, file.path), to, found)
          : await this.#fetch(file, to, stop);
        if (missing !== undefined) return missing;
        if (!isHere && file.path === ARCHIVE && (await this.#unpacked(files, found, files, stop))) await rm(to);
      }
      return { result: found.result, telemetry: undefined };
    });
  }

  async #find(ref: AttemptRef, stop: AbortSignal): Promise<Found | Gone> {
    const { client, connection, config } = this.#options;
    const request = { runner_id: config.id, attempt: ref.attempt };
    const page = (from: number): Promise<ParentFiles> =>
      connection.ask(() => client.files.openParentFiles(ref.job_id, { ...request, from }, { signal: stop }), stop);
    const { gone, batch_id: batchId, run_id: runId, attempt, result, files = [], next } = await page(0);
    for (let from = next; from !== undefined;) {
      const more = await page(from);
      if (more.gone !== undefined) return { gone: more.gone };
      files.push(...(more.files ?? []));
      from = more.next;
    }
    if (gone !== undefined || batchId === undefined || runId === undefined || attempt === undefined || !result)
      return { gone: gone ?? 'the coordinator does not name them' };
    const foreign = files.find(({ path }) => filePathFault(path) !== undefined);
    if (foreign !== undefined) return { gone: `the result names no file of the run: ${foreign.path}` };
    const directory = attemptDirectory(config.outputRoot, batchId, runId, attempt);
    return { result, files, directory, ref: { job_id: jobId(batchId, runId), attempt } };
  }

  /** Makes files in the place beside an attempt, which are removed at the end, or at once where the files of the run are gone. */
  async #beside(
    directory: string,
    make: (place: ParentPlace) => Promise<Omit<ParentRun, 'close'> | Gone>,
  ): Promise<ParentRun | Gone> {
    const place = parentPlace(directory);
    const close = (): Promise<void> => removePlace(directory).catch(() => {});
    try {
      await removeLeft(dirname(directory));
      const made = await make(place);
      if (!('gone' in made)) return { ...made, close };
      await close();
      return made;
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #absent(path: string, { ref }: Found): Promise<Gone> {
    const { config, spool } = this.#options;
    const deletion = await spool.ends.deletionOf(ref);
    const why = deletion === undefined ? '' : `: ${deletionText(deletion)}`;
    return { gone: `${path} does not exist on runner "${config.id}"${why}` };
  }

  /** Returns why the file is gone, if it is. A copy costs nothing where the file system shares blocks. */
  async #copyFile(from: string, to: string, found: Found): Promise<Gone | undefined> {
    await mkdir(dirname(to), { recursive: true });
    if (!(await exists(from))) return await this.#absent(from, found);
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return undefined;
  }

  /** Writes the members of the archive of a run as files, where `folder` has that. Returns whether it has. */
  async #unpacked(folder: string, { directory }: Found, to: string, stop: AbortSignal): Promise<boolean> {
    const archive = await new ArchivedFiles(this.#options.clock).open(folder, directory);
    if (archive === undefined) return false;
    try {
      await unpack(archive, to, () => {
        if (stop.aborted) throw new Stopped();
      });
      return true;
    } finally {
      await archive.file.close();
    }
  }

  /** Reads a file from the object store; returns why it is gone, if it is. */
  async #fetch({ bytes, url = '', path }: ParentFile, to: string, stop: AbortSignal): Promise<Gone | undefined> {
    try {
      await this.#download({ bytes, url }, to, stop);
      return undefined;
    } catch (error) {
      const isGone = error instanceof Final && /NoSuchKey|status 404/.test(error.message);
      if (isGone) return { gone: `${JSON.stringify(path)} is not in the object store any more` };
      throw error;
    }
  }

  async #download(
    { bytes = 0, url }: { bytes: number | undefined; url: string },
    path: string,
    stop: AbortSignal,
  ): Promise<void> {
    const tries = { clock: this.#options.clock, stop };
    await mkdir(dirname(path), { recursive: true });
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
