/** The functions of studies as files of this runner: read from the coordinator once each, checked against their digest. */
import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isFile } from '../../base/directories.ts';
import type { Client } from '../../client/client.ts';
import type { Uuid } from '../../contract/types.ts';
import type { CoordinatorConnection } from '../connection/coordinator-connection.ts';

/** The functions in the folder of a runner, read over its connection. */
export function functionFiles(
  directory: string,
  { client, connection, stop }: { client: Client; connection: CoordinatorConnection; stop: AbortSignal },
): FunctionFiles {
  return new FunctionFiles(join(directory, 'functions'), async (batchId) => {
    const { data } = await connection.ask(() => client.studyCode(batchId), stop);
    return data;
  });
}

export class FunctionFiles {
  readonly #folder: string;
  readonly #read: (batchId: Uuid) => Promise<string>;
  /** Downloads in progress: the runs of a study start together. */
  readonly #pending = new Map<string, Promise<void>>();

  /** `folder` is the runner's own; `read` returns the code of a study in base64. */
  constructor(folder: string, read: (batchId: Uuid) => Promise<string>) {
    this.#folder = folder;
    this.#read = read;
  }

  /** Where the function of this digest is once it was fetched. */
  pathOf(sha256: string): string {
    return `${this.#folder}${sep}${sha256}.pickle`;
  }

  /** Makes the file of a function. Rejects when the function cannot be read, or does not have the digest. */
  fetch(batchId: Uuid, sha256: string): Promise<void> {
    let pending = this.#pending.get(sha256);
    if (pending === undefined) {
      pending = this.#make(batchId, sha256).finally(() => this.#pending.delete(sha256));
      this.#pending.set(sha256, pending);
    }
    return pending;
  }

  async #make(batchId: Uuid, sha256: string): Promise<void> {
    const path = this.pathOf(sha256);
    if (await isFile(path)) return;
    const data = Buffer.from(await this.#read(batchId), 'base64');
    const found = createHash('sha256').update(data).digest('hex');
    if (found !== sha256) throw new Error(`the function of study ${batchId} does not have the digest of its study`);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const part = `${path}.part`;
    await writeFile(part, data, { mode: 0o600 });
    await rename(part, path);
  }
}
