/** Measures the synced write of a directory's file system and judges whether it can be a durable one. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../base/clock.ts';
import { isRemote, mountOf, readMounts, type Mount } from '../../base/file-systems/mounts.ts';

export interface DiskReport {
  /** `unknown` outside Linux. */
  fileSystem: string;
  mountPoint: string;
  writes: number;
  medianUs: number;
  p99Us: number;
  verdict: 'plausible' | 'in memory' | 'too fast' | 'over a network';
  /** The finding as one sentence. */
  finding: string;
}

const WRITE_BYTES = 4096;
const WRITES = 300;
const TIME_LIMIT_MS = 4_000;
/** No device that keeps its data without power completes a write and a flush in this time. */
const FASTEST_US = 20;
const IN_MEMORY = new Set(['tmpfs', 'ramfs', 'devtmpfs']);

/** Appends small records to a file of the directory, each with fdatasync as the store does, and measures each. */
export async function measureDisk(
  directory: string,
  progress: (done: number, total: number) => void,
): Promise<DiskReport> {
  const path = join(directory, 'synced-writes.tmp');
  const file = openSync(path, 'w');
  const timesUs: number[] = [];
  try {
    const bytes = Buffer.alloc(WRITE_BYTES, 0x5a);
    const endMs = systemClock.monotonicMs() + TIME_LIMIT_MS;
    while (timesUs.length < WRITES && systemClock.monotonicMs() < endMs) {
      const fromMs = systemClock.monotonicMs();
      writeSync(file, bytes);
      fdatasyncSync(file);
      timesUs.push((systemClock.monotonicMs() - fromMs) * 1_000);
      if (timesUs.length % 10 === 0) {
        progress(timesUs.length, WRITES);
        // A signal is handled between the writes.
        await sleep(systemClock, 0);
      }
    }
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
  const sorted = timesUs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return judgeDisk(mountOf(directory, readMounts()), sorted.length, at(0.5), at(0.99));
}

/** Judges measured times on a file system. Pure. */
export function judgeDisk(mount: Mount, writes: number, medianUs: number, p99Us: number): DiskReport {
  const measured = { ...mount, writes, medianUs, p99Us };
  const { fileSystem } = mount;
  if (IN_MEMORY.has(fileSystem))
    return {
      ...measured,
      verdict: 'in memory',
      finding: 'this file system is in memory: nothing survives a power cut',
    };
  if (medianUs < FASTEST_US)
    return {
      ...measured,
      verdict: 'too fast',
      finding:
        `a synced write takes ${medianUs.toFixed(1)} us, faster than a disk can be: a layer below (a library, the hypervisor, ` +
        'a mount option) ignores the flush, and a power cut may lose acknowledged results',
    };
  if (isRemote(fileSystem))
    return {
      ...measured,
      verdict: 'over a network',
      finding: `${fileSystem} is a file system of another machine: only that machine decides whether a synced write survives a power cut`,
    };
  return {
    ...measured,
    verdict: 'plausible',
    finding:
      'the times are those of a disk that syncs; whether its own cache survives a power cut cannot be measured from here',
  };
}
