/**
 * Checkpoints of runs: one directory for each attempt, which the next attempt takes over. A rename passes it on, so that an
 * earlier attempt that still runs elsewhere finds its directory gone and cannot write into that of its successor.
 */
import { statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Uuid } from '../../contract/types.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { attemptDirectory, runFolder } from '../files/artifacts.ts';
import type { Log } from '../log.ts';
import { oneLine } from '../system-error.ts';
import type { Waits } from '../waits.ts';

/** The checkpoint directory of an attempt: below its root as that of the outputs below theirs. */
export const checkpointDirectory = attemptDirectory;

/**
 * The latest attempt before this one whose checkpoint is on this machine; undefined for none.
 * @param directory of the attempt, as `checkpointDirectory` returns it.
 * @throws the system's error.
 */
export async function latestCheckpoint(directory: string, attempt: number): Promise<number | undefined> {
  const names = await readdir(dirname(directory)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const earlier = names
    .map((name) => Number(/^attempt-(\d{1,9})$/.exec(name)?.[1] ?? Number.NaN))
    .filter((it) => it < attempt)
    .sort((a, b) => b - a);
  return earlier[0];
}

/**
 * Gives an attempt the checkpoint of the latest earlier one. The directory exists then; without a checkpoint it is not made.
 * @param directory of the attempt, as `checkpointDirectory` returns it.
 * @returns the number of the attempt that the checkpoint is of; undefined without one.
 * @throws the system's error.
 */
export async function adoptCheckpoint(directory: string, attempt: number): Promise<number | undefined> {
  const latest = await latestCheckpoint(directory, attempt);
  if (latest === undefined) return undefined;
  await rename(join(dirname(directory), `attempt-${String(latest)}`), directory);
  return latest;
}

/** Makes the directory, for a container that gets it as a mount. @throws the system's error */
export async function makeCheckpointDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
}

const DEADLINE_MS = 60_000;
/** Checkpoints below the output root whose run was not continued here are removed after this long. */
const KEPT_MS = 30 * 86_400_000;

/** The checkpoints of a runner. */
export class Checkpoints {
  readonly #root: string;
  readonly #waits: Waits;
  readonly #log: Log;
  readonly #isOwn: boolean;

  /** @param isOwn it is below the output root, whose file system has just answered when a run has ended. */
  constructor(root: string, waits: Waits, log: Log, isOwn = false) {
    this.#root = root;
    this.#waits = waits;
    this.#log = log;
    this.#isOwn = isOwn;
  }

  /** Removes what a run has left: it has ended, and is not executed again. Never rejects. */
  async remove(jobId: Uuid): Promise<void> {
    const run = runFolder(this.#root, batchIdOf(jobId), runIdOf(jobId));
    // Few runs have one, and without waiting the look takes a tenth of the time.
    if (this.#isOwn && isAbsent(run)) return;
    await this.#quietly('removing a checkpoint', async () => {
      if ((await stat(run).catch(() => undefined)) === undefined) return;
      await rm(run, { recursive: true, force: true });
      // The folder of the study stays while other runs of it have checkpoints.
      await rmdir(dirname(run)).catch(() => {});
    });
  }

  /** Removes checkpoints of runs that ended elsewhere. Only for a root that no other runner uses. Never rejects. */
  async sweep(nowMs: number): Promise<void> {
    await this.#quietly('looking for old checkpoints', async () => {
      for (const batch of await readdir(this.#root).catch(() => [])) {
        const folder = join(this.#root, batch);
        for (const run of await readdir(folder).catch(() => [])) {
          const found = await stat(join(folder, run));
          if (nowMs - found.mtimeMs > KEPT_MS) await rm(join(folder, run), { recursive: true, force: true });
        }
        await rmdir(folder).catch(() => {});
      }
    });
  }

  async #quietly(what: string, operation: () => Promise<void>): Promise<void> {
    try {
      await this.#waits.within(DEADLINE_MS, `${what} in ${this.#root}`, operation());
    } catch (error) {
      this.#log.warn(`${what} failed: ${oneLine(error)}`);
    }
  }
}

function isAbsent(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    // The removal of the folder reports the reason.
    return false;
  }
}
