/**
 * A folder of an attempt, for the thread that archives it. Its entries are reached through the open folder, so that no exchange of a folder for a
 * link leads elsewhere: as `openBelow`, without waiting, which only a thread of its own may do.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { LinkInPath } from '../open-below.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const FOLDER = O_RDONLY | O_NOFOLLOW | O_DIRECTORY;
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

export class OpenFolder {
  readonly fd: number;
  readonly #descriptors: string;
  /** Where there are no paths of descriptors: the path without links. */
  readonly #real: string | undefined;

  private constructor(fd: number, descriptors: string, real: string | undefined) {
    this.fd = fd;
    this.#descriptors = descriptors;
    this.#real = real;
  }

  /** @param descriptors where the system has the open files of this process. @throws the system's error */
  static open(directory: string, descriptors = '/proc/self/fd'): OpenFolder {
    const fd = openSync(directory, FOLDER);
    return new OpenFolder(fd, descriptors, existsSync(descriptors) ? undefined : realpathSync(directory));
  }

  /** The path of an entry. */
  at(name: string): string {
    return join(this.#real ?? join(this.#descriptors, String(this.fd)), name);
  }

  /** The path of the folder itself. */
  get path(): string {
    return this.at('.');
  }

  /** @throws LinkInPath; the system's error */
  folder(name: string): OpenFolder {
    const fd = this.#open(name, FOLDER);
    return new OpenFolder(fd, this.#descriptors, this.#real === undefined ? undefined : this.at(name));
  }

  /** The descriptor of a file. The caller closes it. @throws LinkInPath; the system's error */
  file(name: string): number {
    return this.#open(name, FILE);
  }

  close(): void {
    closeSync(this.fd);
  }

  #open(name: string, flags: number): number {
    const path = this.at(name);
    const fd = openSync(path, flags);
    if (this.#real === undefined) return fd;
    try {
      const found = fstatSync(fd);
      const there = lstatSync(path);
      if (realpathSync(this.#real) === this.#real && there.ino === found.ino && there.dev === found.dev) return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    throw new LinkInPath('a folder of its path is a symbolic link');
  }
}
