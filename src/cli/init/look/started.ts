/** Starts a program of the user to look at what it takes: in an empty folder, with a deadline, without input. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { note } from '../../terminal/output.ts';

const LIMIT_MS = 20_000;
const MOST_BYTES = 1024 * 1024;

export interface Looked {
  /** Null: it was killed. */
  code: number | null;
  isLate: boolean;
  /** Both streams, the first MiB. */
  printed: string;
  /** The text of the file REPORT in its folder; undefined where it has written none. */
  report: string | undefined;
}

/**
 * Runs the command to its end or for 20 s; then it is killed with the processes that it started.
 * @param command `{report}` is the path of the file that is read afterwards
 * @param shown the program as the user knows it
 */
export async function lookAt(shown: string, command: readonly string[], limitMs = LIMIT_MS): Promise<Looked> {
  note(`${shown} is started once, in an empty folder, to see what it takes (for ${limitMs / 1000} s at most)`);
  const folder = await mkdtemp(join(tmpdir(), 'simbatch-look-'));
  const reportPath = join(folder, 'REPORT');
  try {
    const [program = '', ...args] = command.map((word) => (word === '{report}' ? reportPath : word));
    const child = spawn(program, args, {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    });
    let printed = '';
    let isLate = false;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => {
        if (printed.length < MOST_BYTES) printed += piece;
      });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has ended by itself.
      }
      // A process that left the group may hold the pipes open.
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    };
    const cancel = systemClock.after(limitMs, () => {
      isLate = true;
      kill();
    });
    const code = await Promise.race([
      once(child, 'exit').then(([ended]) => ended as number | null),
      once(child, 'error').then(([error]) => {
        printed += (error as Error).message;
        return 127;
      }),
    ]);
    cancel();
    kill();
    const report = await readFile(reportPath, 'utf8').catch(() => undefined);
    return { code, isLate, printed: printed.slice(0, MOST_BYTES), report };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
