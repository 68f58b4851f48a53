/** A coordinator in a process of its own, as a user starts it. */
import { fileURLToPath } from 'node:url';
import { ServerProcess } from './server-process.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/simbatch.js', import.meta.url));

export type CoordinatorProcess = ServerProcess;

/** Starts `simbatch serve` on the directory and waits until it listens. `nodeOptions`: e.g. `--cpu-prof`. */
export function startCoordinator(
  dataDir: string,
  nodeOptions: readonly string[] = profiling(),
): Promise<CoordinatorProcess> {
  const args = [PROGRAM, 'serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'error'];
  return ServerProcess.spawn([...nodeOptions, ...args]);
}

/** With BENCH_PROFILE=<directory> every coordinator leaves a CPU profile there. */
function profiling(): string[] {
  const directory = process.env['BENCH_PROFILE'];
  return directory === undefined ? [] : ['--cpu-prof', '--cpu-prof-interval', '250', `--cpu-prof-dir=${directory}`];
}
