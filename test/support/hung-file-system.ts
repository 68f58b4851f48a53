/** A file system that does not answer, for real: mounted by FUSE, and released on demand. Needs the right to mount. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';

const SERVER = join(packageRoot, 'test/support/simulations/hung-file-system.mjs');

export class HungFileSystem {
  readonly directory: string;
  readonly #server: ChildProcess;

  private constructor(directory: string, server: ChildProcess) {
    this.directory = directory;
    this.#server = server;
  }

  /** Undefined where FUSE is not available or this user may not mount. */
  static async mount(directory: string): Promise<HungFileSystem | undefined> {
    mkdirSync(directory);
    const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
    const script = `exec 3<>/dev/fuse && mount -i -t fuse -o ${options} hung "$1" && exec "$2" "$3"`;
    const server = spawn('sh', ['-c', script, 'sh', directory, process.execPath, SERVER], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const isMounted = await new Promise<boolean>((resolve) => {
      server.once('exit', () => {
        resolve(false);
      });
      server.stdout.on('data', (text: Buffer) => {
        if (text.toString().includes('mounted')) resolve(true);
      });
    });
    return isMounted ? new HungFileSystem(directory, server) : undefined;
  }

  /** Ends the connection: whatever waits gets an error. */
  release(): void {
    this.#server.kill('SIGKILL');
    spawnSync('umount', ['-l', this.directory]);
  }
}
