/** Brings the checkpoint of an earlier attempt from the object store to this machine, complete and verified, or not at all. */
import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { CheckpointResponse } from '../../contract/types.ts';
import { filePathFault } from '../../domain/files/file-path.ts';
import { addTo, Final, getPart, repeated } from '../files/object-transfer.ts';

export type StoredCheckpoint = NonNullable<CheckpointResponse['checkpoint']>;

const PART_BYTES = 8 << 20;

/**
 * Reads all files into a folder beside that of the attempts, and renames it when they are whole.
 * @param directory of the attempt that will continue; the checkpoint gets the name of the attempt that sent it.
 * @throws Final, Stopped, the system's error; nothing is left then
 */
export async function downloadCheckpoint(
  directory: string,
  { attempt, files }: StoredCheckpoint,
  { maxBytes, clock, stop }: { maxBytes: number; clock: Clock; stop: AbortSignal },
): Promise<void> {
  const bytes = files.reduce((sum, it) => sum + it.bytes, 0);
  if (bytes > maxBytes) {
    const why = `it has ${String(bytes)} bytes, more than ${String(maxBytes)}, the limit of this runner`;
    throw new Final(`${why}; raise its --checkpoint-max-gb`);
  }
  if (files.length > LIMITS.checkpointFiles) throw new Final(`it has ${String(files.length)} files`);
  const folder = join(dirname(directory), `fetching-${String(attempt)}`);
  await rm(folder, { recursive: true, force: true });
  try {
    await mkdir(folder, { recursive: true });
    for (const file of files) await downloadFile(folder, file, { clock, stop });
    await rename(folder, join(dirname(directory), `attempt-${String(attempt)}`));
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

async function downloadFile(
  folder: string,
  { path, bytes, sha256, url }: StoredCheckpoint['files'][number],
  tries: { clock: Clock; stop: AbortSignal },
): Promise<void> {
  const fault = filePathFault(path);
  if (fault !== undefined) throw new Final(`its path ${JSON.stringify(path)} ${fault}`);
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  const hash = createHash('sha256');
  const file = await open(target, 'wx');
  try {
    for (let offset = 0; offset < bytes; offset += PART_BYTES) {
      const range = { offset, length: Math.min(PART_BYTES, bytes - offset) };
      const part = await repeated(() => getPart(url, range, tries.stop), tries).catch((error: unknown) => {
        throw error instanceof Error ? new Final(`${JSON.stringify(path)}: ${error.message}`, { cause: error }) : error;
      });
      await addTo(hash, part, tries.clock);
      await file.writeFile(part);
    }
    // A machine that fails now must not leave a checkpoint that looks whole.
    await file.sync();
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== sha256) throw new Final(`${JSON.stringify(path)} has another content than was sent`);
}
