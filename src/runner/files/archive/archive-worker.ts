/** The thread of `Archiver`: writes an archive for each job. */
import { parentPort, type MessagePort } from 'node:worker_threads';
import { JobState, type ArchiveOutcome } from './archive-job.ts';
import { writeArchive } from './write-archive.ts';

/** An order to the thread. */
export interface ArchiveJob {
  id: number;
  /** Absolute. */
  directory: string;
  /** Files that stay outside, by their paths in the directory, with `/`. */
  keep: readonly string[];
  /** The memory of a `JobState`. */
  state: SharedArrayBuffer;
}

export interface ArchiveAnswer {
  id: number;
  outcome: ArchiveOutcome;
}

const port = parentPort as MessagePort;

port.on('message', ({ id, directory, keep, state }: ArchiveJob) => {
  void writeArchive(directory, keep, new JobState(state)).then((outcome) =>
    port.postMessage({ id, outcome } satisfies ArchiveAnswer),
  );
});
