/** Runs a program to its end, with a deadline and a bounded output, and leaves no process. */
import { spawn } from 'node:child_process';
import type { Clock } from './clock.ts';

export interface ProgramCall {
  /** The program and its arguments; no shell reads them. */
  command: readonly [string, ...string[]];
  env: Readonly<Record<string, string | undefined>>;
  /** Standard input of the program; empty when absent. */
  input?: string | Uint8Array;
  /** The program and its children get SIGKILL after this time. */
  timeoutMs: number;
  cwd?: string;
}

export interface ProgramResult {
  /** The exit code; undefined when a signal ended it. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

/** The program could not be started, did not end in time, or said too much. Its effects are unknown. */
export class ProgramFailed extends Error {}

/** Most bytes of output: more than the list of ten thousand allocations needs. */
const MAX_BYTES = 32 * 1024 * 1024;

/** @throws ProgramFailed; an exit code other than 0 is a result */
export function runProgram(clock: Pick<Clock, 'after'>, call: ProgramCall): Promise<ProgramResult> {
  const [program, ...args] = call.command;
  return new Promise((resolve, reject) => {
    // The program has a process group of its own, so that its children end with it.
    const child = spawn(program, args, {
      env: { ...call.env },
      detached: true,
      stdio: 'pipe',
      ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    });
    let failure: string | undefined;
    const end = (why: string): void => {
      failure ??= why;
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has ended.
      }
    };
    const seconds = String(call.timeoutMs / 1000);
    const cancelTimer = clock.after(call.timeoutMs, () => end(`did not end within ${seconds} s`), { keepAlive: true });
    let bytes = 0;
    const collect = (chunks: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) end(`wrote more than ${String(MAX_BYTES)} bytes`);
      else chunks.push(chunk);
    };
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', collect(stdout));
    child.stderr.on('data', collect(stderr));
    // A program that ends without reading its input is judged by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(call.input ?? '');
    child.once('error', (error) => {
      cancelTimer();
      reject(new ProgramFailed(`${program} cannot be run: ${error.message}`, { cause: error }));
    });
    child.once('close', (code) => {
      cancelTimer();
      if (failure !== undefined) reject(new ProgramFailed(`${program} ${failure}`));
      else
        resolve({
          code: code ?? undefined,
          stdout: Buffer.concat(stdout).toString('utf8'),
          stderr: Buffer.concat(stderr).toString('utf8'),
        });
    });
  });
}
