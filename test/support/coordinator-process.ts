/** `simbatch serve` as a process that a test kills and starts again with the same data and port. */
import type { ChildProcess } from 'node:child_process';
import { serving } from './program.ts';

export interface CoordinatorProcess {
  child: ChildProcess;
  port: string;
  url: string;
}

/** Resolves when it listens; port 0 is a free one. */
export async function coordinatorProcess(directory: string, port = '0'): Promise<CoordinatorProcess> {
  const { child, url } = await serving(['--data-dir', directory, '--port', port]);
  return { child, port: new URL(url).port, url };
}
