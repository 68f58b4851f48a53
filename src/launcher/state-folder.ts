/** Files of the state folder beside the store: the status that other commands read, and the commands that they leave. */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUuid, type Clock } from '../base/clock.ts';
import { isDirectory, makeDirectory } from '../base/directories.ts';
import type { Inbox, OperatorCommand } from './loop/ports.ts';
import type { LauncherStatus } from './loop/status.ts';

const statusPath = (folder: string): string => join(folder, 'status.json');
const inboxPath = (folder: string): string => join(folder, 'inbox');
/** The store has a folder of its own. */
export const storePath = (folder: string): string => join(folder, 'store');

/** Replaces the status as a whole: a reader sees the old one or the new one. */
export async function writeStatus(folder: string, status: LauncherStatus): Promise<void> {
  const coming = `${statusPath(folder)}.new`;
  await writeFile(coming, JSON.stringify(status), { mode: 0o600 });
  await rename(coming, statusPath(folder));
}

/** The status after the last round; undefined when no launcher has run here. */
export async function readStatus(folder: string): Promise<LauncherStatus | undefined> {
  try {
    return JSON.parse(await readFile(statusPath(folder), 'utf8')) as LauncherStatus;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Leaves a command for the launcher of this folder, which takes it in its next round, or when it is started. */
export async function sendCommand(folder: string, command: OperatorCommand, clock: Clock): Promise<string> {
  const inbox = inboxPath(folder);
  if (!isDirectory(inbox)) makeDirectory(inbox);
  const name = `${String(clock.now()).padStart(16, '0')}-${randomUuid(clock)}.json`;
  const coming = join(inbox, `${name}.new`);
  await writeFile(coming, JSON.stringify(command), { mode: 0o600 });
  await rename(coming, join(inbox, name));
  return join(inbox, name);
}

/** The commands of the folder, in the order in which they were sent. A command is deleted when its effect is on disk. */
export function inboxOf(folder: string, onUnreadable: (path: string) => void): Inbox {
  return {
    async take() {
      const names = isDirectory(inboxPath(folder)) ? (await readdir(inboxPath(folder))).sort() : [];
      const paths = names.filter((it) => it.endsWith('.json')).map((it) => join(inboxPath(folder), it));
      const commands: OperatorCommand[] = [];
      for (const path of paths) {
        try {
          commands.push(JSON.parse(await readFile(path, 'utf8')) as OperatorCommand);
        } catch {
          onUnreadable(path);
        }
      }
      const done = async (): Promise<void> => {
        await Promise.all(paths.map((it) => rm(it, { force: true })));
      };
      return { commands, done };
    },
  };
}
