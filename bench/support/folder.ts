/** A directory for the time of a measurement, on the disk that holds the system's temporary files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCoordinator } from './coordinator.ts';
import type { CoordinatorProcess } from './coordinator.ts';

/** Runs `body` with a directory that is removed afterwards. */
export async function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-bench-'));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs `body` with a coordinator on an empty data directory. */
export function withCoordinator<T>(body: (coordinator: CoordinatorProcess) => Promise<T>): Promise<T> {
  return inFolder((folder) => withCoordinatorOn(folder, body));
}

/** Runs `body` with a coordinator on this data directory. */
export async function withCoordinatorOn<T>(
  dataDir: string,
  body: (coordinator: CoordinatorProcess) => Promise<T>,
): Promise<T> {
  const coordinator = await startCoordinator(dataDir);
  try {
    return await body(coordinator);
  } finally {
    await coordinator.stop();
  }
}
