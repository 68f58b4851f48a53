/** The open files of this process, for tests of what is closed: others of the process come and go. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a folder, and the folder itself, that this process has open; none where the system does not show them. */
export function openBelow(folder: string): string[] {
  const list = '/proc/self/fd';
  if (!existsSync(list)) return [];
  return readdirSync(list).flatMap((fd) => {
    try {
      return [readlinkSync(join(list, fd))].filter((it) => it.startsWith(folder));
    } catch {
      // The descriptor of the list itself.
      return [];
    }
  });
}
