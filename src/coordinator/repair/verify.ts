/** Verifies a whole data directory without a coordinator: files, checksums, group chain, counters and indexes. Read-only. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockDirectory } from '../kernel/storage/directory-lock.ts';
import type { Engine, EngineView } from '../kernel/storage/engine.ts';
import { verifyFiles, type VerifiedFiles } from '../kernel/storage/integrity/verify-files.ts';
import { readIdentity } from '../kernel/storage/integrity/identity.ts';
import { openLevelEngine } from '../kernel/storage/leveldb/level-engine.ts';
import { cloneFiles } from './clone.ts';
import { wholeRecords } from './read-records.ts';
import { recount } from './recount.ts';

export interface VerifyReport {
  records: number;
  /** One sentence each; at most `MOST_FAULTS`. */
  faults: string[];
  faultsOmitted: number;
}

/** The part of the work that is done, from 0 to 1. */
export type Progress = (phase: 'files' | 'records', done: number, total: number) => void;

const MOST_FAULTS = 1_000;
export const EVERYTHING = { gte: '', lt: '\u{10ffff}' };

/**
 * Verifies the store in a directory. Nothing in it is changed.
 * @throws SimbatchError `store-locked` while a coordinator serves it
 */
export async function verifyStore(directory: string, progress: Progress = () => {}): Promise<VerifyReport> {
  const lock = await lockDirectory(directory);
  try {
    const files = await verifyFiles(directory, (done, total) => progress('files', done, total));
    const report: VerifyReport = { records: 0, faults: [], faultsOmitted: 0 };
    const add = (fault: string): void => {
      if (report.faults.length < MOST_FAULTS) report.faults.push(fault);
      else report.faultsOmitted += 1;
    };
    for (const { file, problem } of files.faults) add(`${file}: ${problem}`);
    // LevelDB cannot open a store with damaged files, or would skip the damage.
    if (files.faults.length === 0 && !files.isEmpty) {
      await withClone(directory, async (engine) => {
        await verifyRecords(engine, files, report, add, progress);
      });
    }
    return report;
  } finally {
    await lock.release();
  }
}

async function withClone(directory: string, use: (engine: Engine) => Promise<void>): Promise<void> {
  const clone = join(directory, 'verify.tmp');
  try {
    await cloneFiles(directory, clone);
    const engine = await openLevelEngine(clone);
    try {
      await use(engine);
    } finally {
      await engine.close();
    }
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}

async function verifyRecords(
  engine: Engine,
  files: VerifiedFiles,
  report: VerifyReport,
  add: (fault: string) => void,
  progress: Progress,
): Promise<void> {
  for (const { file, problem } of readIdentity(engine, files.mark).faults) add(`${file}: ${problem}`);
  const view = engine.snapshot();
  try {
    report.records = await countRecords(view, add, progress);
    await recount(view, add);
  } finally {
    await view.close();
  }
}

async function countRecords(view: EngineView, add: (fault: string) => void, progress: Progress): Promise<number> {
  let records = 0;
  const damaged = (key: string): void => add(`${key}: the checksum of the record does not match`);
  for await (const _ of wholeRecords(view, EVERYTHING, damaged)) {
    records += 1;
    if (records % 1_000 === 0) progress('records', records, 0);
  }
  return records;
}
