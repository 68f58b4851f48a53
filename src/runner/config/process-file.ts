/** The file beside the spool that names the processes which had it, and how the latest one reached its coordinator. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The coordinator that a runner uses and its file with the credential, for a push of files when it has left. */
export interface SpoolOrigin {
  endpoint?: string;
  tokenFile?: string;
}

/** The process that has the spool. */
export interface SpoolOwner extends SpoolOrigin {
  pid: number;
  /** The random name of the process. */
  instance: string;
}

/** Instances the coordinator may know under this id, this process's own first. Older ones are of no use. */
const MOST_INSTANCES = 5;
const FORMAT = 'simbatch-runner-1';

const fileIn = (directory: string): string => join(directory, 'process.json');

function textOf({ pid, endpoint, tokenFile: token_file }: SpoolOwner, instances: readonly string[]): string {
  const content = { format: FORMAT, pid, instances: instances.slice(0, MOST_INSTANCES), endpoint, token_file };
  return `${JSON.stringify(content)}\n`;
}

/**
 * Renamed when it is complete: a process that is killed during the write must not lose the instances before it, or its successor would
 * have to wait until they count as silent.
 */
export async function writeProcess(directory: string, own: SpoolOwner, instances: readonly string[]): Promise<void> {
  const file = fileIn(directory);
  await writeFile(`${file}.part`, textOf(own, instances));
  await rename(`${file}.part`, file);
}

/** The same without waiting, at the start. */
export function writeProcessNow(directory: string, own: SpoolOwner, instances: readonly string[]): void {
  const file = fileIn(directory);
  writeFileSync(`${file}.part`, textOf(own, instances));
  renameSync(`${file}.part`, file);
}

/** The instances and the origin of the processes that had this directory, as far as they can be read. */
export function readProcess(directory: string): { instances: string[]; origin: SpoolOrigin } {
  try {
    const read: unknown = JSON.parse(readFileSync(fileIn(directory), 'utf8'));
    if (typeof read !== 'object' || read === null) return { instances: [], origin: {} };
    const { instances, endpoint, token_file: tokenFile } = read as Record<string, unknown>;
    return {
      instances: Array.isArray(instances) ? instances.filter((it) => typeof it === 'string') : [],
      origin: {
        ...(typeof endpoint === 'string' ? { endpoint } : {}),
        ...(typeof tokenFile === 'string' ? { tokenFile } : {}),
      },
    };
  } catch {
    // None yet, or damaged by a crash of the machine: then the former process is left to its lease.
    return { instances: [], origin: {} };
  }
}
