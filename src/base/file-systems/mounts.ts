/** The file system of a path, from the table of mounts of Linux; unknown on other systems. */
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

export interface Mount {
  mountPoint: string;
  /** As in /proc/mounts, such as `ext4` or `nfs4`; `unknown` outside Linux. */
  fileSystem: string;
}

const UNKNOWN: Mount = { mountPoint: '', fileSystem: 'unknown' };
const REMOTE = /^(nfs\d?|cifs|smb\d?|smbfs|ceph|glusterfs|lustre|9p|virtiofs|afs|beegfs|gpfs|fuse|fuse\..+)$/;

/** Whether another machine, or a program of a user, keeps the files of this file system. */
export const isRemote = (fileSystem: string): boolean => REMOTE.test(fileSystem);

/**
 * Why a store in this directory is less safe than on a local disk; undefined on local and unknown file systems.
 * LevelDB's lock and its synced writes are only as good as the machine that keeps the files.
 */
export function remoteStoreWarning(
  directory: string,
  mounts: readonly Mount[] = readMounts(),
  remedy = 'move it to a local disk',
): string | undefined {
  const { fileSystem } = mountOf(directory, mounts);
  if (!isRemote(fileSystem)) return undefined;
  return `the store in ${directory} is on ${fileSystem}, a file system of another machine: it may let two machines write at once and lose synced writes; ${remedy}`;
}

/** The mount that holds a path, or the place where it will be made: the longest mount point that is a parent of it. */
export function mountOf(path: string, mounts: readonly Mount[]): Mount {
  const place = realPlace(resolve(path));
  const holding = mounts.filter(
    ({ mountPoint }) => place === mountPoint || place.startsWith(mountPoint === '/' ? '/' : `${mountPoint}/`),
  );
  // A later mount on the same point hides an earlier one.
  return holding.reduce((best, it) => (it.mountPoint.length >= best.mountPoint.length ? it : best), UNKNOWN);
}

/** Follows links of the part of a path that exists. */
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPlace(parent), basename(path));
  }
}

/** Reads the lines of /proc/mounts; empty where there is none. */
export function readMounts(): Mount[] {
  try {
    return parseMounts(readFileSync('/proc/self/mounts', 'utf8'));
  } catch {
    return [];
  }
}

/** Parses /proc/mounts: device, mount point with octal escapes, type, options. Pure. */
export function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [, point, fileSystem] = line.split(' ');
    if (point === undefined || fileSystem === undefined) return [];
    const mountPoint = point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
    return [{ mountPoint, fileSystem }];
  });
}
