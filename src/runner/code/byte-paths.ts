/**
 * Paths as bytes. Names of files need not be UTF-8, and digests are over their bytes: inside this folder a path is a string with one
 * character a byte (latin1).
 */
import { lstatSync, statSync } from 'node:fs';

/** The path of this machine as bytes. */
export const bytesOf = (path: string): string => Buffer.from(path).toString('latin1');

/** The path for functions of the file system. */
export const bufferOf = (path: string): Buffer => Buffer.from(path, 'latin1');

/** A path of bytes as text for people; bytes that are not UTF-8 are shown as U+FFFD. */
export const textOf = (path: string): string => Buffer.from(path, 'latin1').toString();

/** The identity of the content of a file, without reading it. Times in milliseconds. */
export interface Stamp {
  dev: number;
  ino: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  mode: number;
}

/** Returns the stamp of a file, or of the target of a link; of the link itself when it has none; undefined where there is nothing. */
export function stampOf(path: Buffer): Stamp | undefined {
  return look(statSync, path) ?? look(lstatSync, path);
}

/** Returns the stamp of a link itself. */
export const linkStampOf = (path: Buffer): Stamp | undefined => look(lstatSync, path);

function look(stat: typeof statSync, path: Buffer): Stamp | undefined {
  try {
    const found = stat(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const { dev, ino, size, mtimeMs, ctimeMs, mode } = found;
    return { dev, ino, size, mtimeMs, ctimeMs, mode };
  } catch {
    // Permissions and loops of links: the same as absent.
    return undefined;
  }
}

/** True when two looks show the same content. */
export function isSame(a: Stamp | undefined, b: Stamp | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.ino === b.ino &&
    a.ctimeMs === b.ctimeMs &&
    a.mtimeMs === b.mtimeMs &&
    a.size === b.size &&
    a.dev === b.dev &&
    a.mode === b.mode
  );
}

/** The coarsest times of common file systems, in milliseconds. */
const COARSE_MS = 2_000;

/** True when a later change shows in the stamp: a file that has just changed may change again within the same tick of its file system. */
export const isSettled = (stamp: Stamp | undefined, nowMs: number): boolean =>
  stamp === undefined || Math.max(stamp.ctimeMs, stamp.mtimeMs) < nowMs - COARSE_MS;
