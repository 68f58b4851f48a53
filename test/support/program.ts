/** The real program as a process, for end-to-end tests. It listens on loopback by default. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';

/** The command `simbatch` as it is shipped. */
export const PROGRAM = join(packageRoot, 'dist/bin/simbatch.js');

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

const environment = (extra: Record<string, string>): Record<string, string | undefined> => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ...extra,
});

/** Runs a command to its end. */
export async function simbatch(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd: string = process.cwd(),
): Promise<Outcome> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outcome: Outcome = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (piece: Buffer) => (outcome.stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (outcome.stderr += piece.toString()));
  // A command that does not end by itself is killed, and fails its test with `code` null.
  const limit = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  return { ...outcome, code };
}

export interface Serving {
  url: string;
  port: string;
  child: ChildProcess;
  /** All it printed so far. */
  printed: { stdout: string; stderr: string };
  /** Stops it in order and returns the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `simbatch serve` on a free port, or that of `--port`; resolves when it listens. */
export async function serving(args: readonly string[], env: Record<string, string> = {}): Promise<Serving> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', ...args], {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  child.stderr.on('data', (piece: Buffer) => (printed.stderr += piece.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (piece: Buffer) => {
      printed.stdout += piece.toString();
      const address = /listening on (\S+)/.exec(printed.stdout)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${printed.stderr}`)));
  });
  const stop = async (): Promise<number | null> => {
    if (child.exitCode !== null) return child.exitCode;
    const ended = once(child, 'exit') as Promise<[number | null]>;
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  return { url, port: new URL(url).port, child, printed, stop };
}
