/** Starts a worker: its process, by the forkserver, and its connections to the runner. */
import { randomUuid, settlesWithin, type Clock } from '../../../base/clock.ts';
import type { ProcessScope } from '../../processes/process-scope.ts';
import { NumberPipe, type Rendezvous } from './rendezvous.ts';
import type { WorkerSource } from './shared-run.ts';
import type { WorkerProcess } from './worker.ts';

/** Longest time until the process of a worker has connected: it executes nothing of the simulation before. */
const CONNECT_MS = 30_000;

export interface WorkerOptions {
  source: WorkerSource;
  rendezvous: () => Rendezvous;
  clock: Clock;
  /** The memory limit of the runs in bytes; null: none. */
  memory: number | null;
}

/**
 * @param code the digest of the code that it has loaded. @param ofRun the scope of a run with the same limits.
 * @returns undefined when the engine is cold. @throws Error when the process does not connect.
 */
export async function openWorker(
  { source, rendezvous, clock, memory }: WorkerOptions,
  code: string | undefined,
  ofRun: ProcessScope,
): Promise<WorkerProcess | undefined> {
  const place = rendezvous();
  const token = randomUuid(clock);
  const marker = `worker ${token}`;
  const scope = ofRun.ofWorker(marker);
  const { address, connections } = place.expect(token);
  let pid = 0;
  const process = await source.worker({ ...address, memory }, marker, code, {
    scope,
    onProcess: (it) => {
      pid = it;
    },
    onExit: () => {},
    cancelled: new AbortController().signal,
  });
  if (process === undefined || !('ended' in process)) {
    place.forget(token);
    return undefined;
  }
  let said = '';
  for (const stream of [process.stdout, process.stderr])
    stream.on('data', (data: Buffer) => (said = `${said}${data.toString()}`.slice(-MOST_SAID)));
  const first = Promise.race([connections, process.ended]);
  const isInTime = await settlesWithin(clock, CONNECT_MS, first);
  const found = isInTime ? await first : undefined;
  if (found === undefined || 'type' in found) {
    place.forget(token);
    await scope.clear(clock, true);
    scope.release();
    const why = found === undefined ? `did not connect within ${String(CONNECT_MS / 1000)} s` : 'ended at its start';
    throw new Error(`its process ${why} ${said.trim().split('\n').at(-1) ?? ''}`.trim());
  }
  return { pid, scope, ended: process.ended, connections: found, numbers: new NumberPipe(address.pipe), token };
}

/** Length of the kept end of what a process prints that fails at its start. */
const MOST_SAID = 500;
