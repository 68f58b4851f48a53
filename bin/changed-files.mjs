// Folders that the build makes anew: only what differs is written, since a program of such a folder may be running.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file that is as before is not written. */
export function writeChanged(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Removes the files of an earlier build. @param {ReadonlySet<string>} kept paths of this one */
export function removeOthers(folder, kept) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, name);
    if (!kept.has(path) && statSync(path).isFile()) rmSync(path);
  }
}
