/**
 * `simbatch/replay`: reads a snapshot file and sends its events through the machines of this version, without a process. For tests of
 * programs that keep recordings or exports, and for the command line.
 */
import { createReadStream } from 'node:fs';
import type { ReplayReport } from '../coordinator/snapshots/divergence.ts';
import type { Snapshot as CoordinatorSnapshot } from '../coordinator/snapshots/format.ts';
import { readDocument, snapshotOf } from '../coordinator/snapshots/read.ts';
import { replaySnapshot } from '../coordinator/snapshots/replay.ts';
import { isAllocation, readAllocation, replayAllocation, type AllocationRecording } from './allocations.ts';

export type { Divergence, ReplayReport } from '../coordinator/snapshots/divergence.ts';
export type { AllocationRecording } from './allocations.ts';

/** An open file: a scenario of one machine, a study, an export, or the recording of an allocation. Its records are read once. */
export type Snapshot = CoordinatorSnapshot | AllocationRecording;

/**
 * Opens a snapshot. Records of an export are read by `replay`, line by line.
 * @param source the path or the file URL of a file, or its text in pieces of any size.
 * @throws SimbatchError `snapshot-unusable` for a damaged or inconsistent file, `snapshot-newer` for one of a later version;
 *   the system's error for a file that cannot be read.
 */
export async function readSnapshot(source: string | URL | AsyncIterable<string>): Promise<Snapshot> {
  const isFile = typeof source === 'string' || source instanceof URL;
  const pieces = isFile ? createReadStream(source, { encoding: 'utf8', highWaterMark: 256 * 1024 }) : source;
  const document = await readDocument(pieces);
  return isAllocation(document.head) ? readAllocation(document.head) : snapshotOf(document);
}

/**
 * Replays an open snapshot. A machine that behaves as when the file was made gives no divergence.
 * @throws SimbatchError `snapshot-unusable` when it cannot be read to its end, or no machine can play it
 */
export async function replay(snapshot: Snapshot): Promise<ReplayReport> {
  return 'kind' in snapshot ? replaySnapshot(snapshot) : replayAllocation(snapshot);
}
