/**
 * The coordinator of the folder `./.simbatch`, which `simbatch run STUDY` and `Study.run` of the Python client keep: its address
 * and credential, so that every command in that folder finds it.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const LOCAL_FOLDER = '.simbatch';
const STATE = 'local.json';
/** A token is longer than this in no version. */
const MOST_CHARACTERS = 4096;

export interface LocalCoordinator {
  url: string;
  token: string | undefined;
}

/** The coordinator that runs now; undefined where there is none. Another machine is never called. */
export function localCoordinator(folder = LOCAL_FOLDER): LocalCoordinator | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(join(folder, STATE), 'utf8')) as { url: unknown; pid: unknown };
    if (typeof url !== 'string' || !/^http:\/\/127\.0\.0\.1:\d+\/?$/.test(url) || typeof pid !== 'number')
      return undefined;
    process.kill(pid, 0);
    return { url, token: localToken('read', folder) };
  } catch {
    return undefined;
  }
}

/** The token that the Python client has made for readers or for the runner; undefined where the coordinator asks for none. */
export function localToken(scope: 'read' | 'runner', folder = LOCAL_FOLDER): string | undefined {
  try {
    const text = readFileSync(localTokenFile(scope, folder), 'utf8').trim();
    return text === '' || text.length > MOST_CHARACTERS ? undefined : text;
  } catch {
    return undefined;
  }
}

export const localTokenFile = (scope: 'read' | 'runner', folder = LOCAL_FOLDER): string =>
  join(folder, `${scope}.token`);

/** Makes the folder, readable by this user only and ignored by git. @throws the system's error */
export function makeLocalFolder(folder = LOCAL_FOLDER): void {
  mkdirSync(folder, { mode: 0o700, recursive: true });
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
}

/** Announces a coordinator and its process; the result withdraws it. */
export function announceLocal(running: { url: string; pid: number }, folder = LOCAL_FOLDER): () => void {
  const path = join(folder, STATE);
  const begun = `${path}.${process.pid}`;
  writeFileSync(begun, JSON.stringify(running), { mode: 0o600 });
  renameSync(begun, path);
  return () => rmSync(path, { force: true });
}
