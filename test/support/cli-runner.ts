/** A real runner as a process, started by the command line. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { PROGRAM } from './program.ts';

export class RunnerProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts the runner `toy-1` with two slots; resolves when it has registered. */
  static async start(endpoint: string, entrypoint: string, outputRoot: string): Promise<RunnerProcess> {
    const args = ['runner', '--runner-id', 'toy-1', '--max-concurrent-jobs', '2', '--engines', 'toy'];
    const child = spawn(
      process.execPath,
      [PROGRAM, ...args, '--entrypoint', entrypoint, '--output-root', outputRoot, '--log-format', 'json'],
      { env: { PATH: process.env['PATH'], SVC_ENDPOINT: endpoint }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (piece: Buffer) => {
        log += piece.toString();
        if (log.includes('registered')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`the runner ended with ${String(code)}: ${log}`)));
    });
    return new RunnerProcess(child);
  }

  /** Stops it in order. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
