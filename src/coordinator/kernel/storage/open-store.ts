/**
 * Opens the store of a data directory: locks it, verifies its files before LevelDB opens them, migrates an older format.
 * A directory that is damaged, incomplete, newer or in use is refused and left as it is.
 */
import { chmodSync, statSync } from 'node:fs';
import { readdir, chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { makeDirectory } from '../../../base/directories.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { lockDirectory, lockedError } from './directory-lock.ts';
import type { Engine, Operation } from './engine.ts';
import { CheckedStore } from './integrity/checked-store.ts';
import { seal } from './integrity/checksum.ts';
import { damaged, missingRecord, readIdentity, STORE_KEY } from './integrity/identity.ts';
import { encodeGroup, FORMAT_KEY, GROUP_KEY, nextGroup, operationSum } from './integrity/group-chain.ts';
import { createMark, HighWaterMark, MARK_FILE, type Mark } from './integrity/high-water-mark.ts';
import { endOfMigration, isMigrating, sealRecords } from './integrity/seal-migration.ts';
import { verifyFiles } from './integrity/verify-files.ts';
import { isDataFile } from './leveldb/inspection.ts';
import { openLevelEngine } from './leveldb/level-engine.ts';
import { STORE_FORMAT, type Changes, type Store } from './store.ts';

/** A step from format n to n + 1 as one atomic write; the steps run in order when an older store is opened. */
export type Migration = (store: Store) => Promise<Changes>;
/** Migrations by the format from which they start, from 2 on. Format 1 has a migration of its own, since it rewrites every record. */
const MIGRATIONS: ReadonlyMap<number, Migration> = new Map();

export interface OpenOptions {
  format?: number;
  migrations?: ReadonlyMap<number, Migration>;
  /** Called with the bytes verified so far and the bytes of all files. */
  onProgress?: (done: number, total: number) => void;
}

const ID_BYTES = 8;

/**
 * Opens the store in a directory, which is created when missing.
 * @throws SimbatchError `store-locked`, `store-newer`, `store-damaged` or `store-unusable`
 */
export async function openStore(directory: string, options: OpenOptions = {}): Promise<Store> {
  const lock = await prepared(directory);
  try {
    return await openLocked(directory, options, () => lock.release());
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Creates the directory, closes it to other users and locks it. */
async function prepared(directory: string): Promise<{ release(): Promise<void> }> {
  try {
    makeDirectory(directory);
    const lock = await lockDirectory(directory);
    await makePrivate(directory);
    return lock;
  } catch (error) {
    throw error instanceof SimbatchError ? error : unusable(directory, error);
  }
}

/** Others on the machine must not read results or token hashes: 0700 for the directory, 0600 for its files. */
async function makePrivate(directory: string): Promise<void> {
  // Only the owner may change modes; for another user, such as root, the directory stays as it is.
  if (statSync(directory).uid !== process.getuid?.()) return;
  chmodSync(directory, 0o700);
  const files = (await readdir(directory)).filter((name) => isDataFile(name) || name === MARK_FILE);
  await Promise.all(files.map((name) => chmod(join(directory, name), 0o600)));
}

async function openLocked(directory: string, options: OpenOptions, release: () => Promise<void>): Promise<Store> {
  const files = await verifyFiles(directory, options.onProgress);
  if (files.faults.length > 0) throw damaged(directory, files.faults);
  const engine = await openLevelEngine(directory).catch((error: unknown) => {
    throw refusal(directory, error);
  });
  let opened: Store | Engine = engine;
  try {
    const sequence = files.lastSequence + (await initialise(engine, directory, files.mark));
    refuseNewer(engine, directory, options.format ?? STORE_FORMAT);
    const { store, last, faults } = readIdentity(engine, files.mark);
    if (faults.length > 0) throw damaged(directory, faults);
    if (files.mark === undefined) {
      await createMark(directory, { store, number: last.number, hash: last.hash, sequence });
    }
    const checked: CheckedStore = new CheckedStore({
      engine,
      directory,
      store,
      last,
      sequence,
      onWritten: (mark) => highWater.advance(mark),
      onClose: async () => {
        await highWater.close();
        await release();
      },
    });
    const highWater = new HighWaterMark(directory, (error) => checked.fail(error));
    highWater.advance({ store, number: last.number, hash: last.hash, sequence });
    opened = checked;
    return await migrated(checked, directory, options);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Writes the first group of a new store, or migrates format 1. Returns the number of operations written. */
async function initialise(engine: Engine, directory: string, mark: Mark | undefined): Promise<number> {
  const stored = engine.get(FORMAT_KEY);
  if (stored === undefined) {
    if (mark !== undefined || !(await isEmpty(engine))) throw damaged(directory, [missingRecord(FORMAT_KEY)]);
    return writeFirstGroup(engine, [[FORMAT_KEY, String(2)]]);
  }
  if (stored !== '1' && !isMigrating(engine)) return 0;
  if (mark !== undefined) throw damaged(directory, [{ file: FORMAT_KEY, problem: `the record is "${stored}"` }]);
  const sealed = await sealRecords(engine);
  return sealed + (await writeFirstGroup(engine, endOfMigration));
}

async function writeFirstGroup(engine: Engine, operations: readonly Operation[]): Promise<number> {
  const id = Buffer.from(systemClock.random(ID_BYTES)).toString('hex');
  const all: Operation[] = [...operations, [STORE_KEY, seal(STORE_KEY, id)]];
  all.push([GROUP_KEY, seal(GROUP_KEY, encodeGroup(nextGroup(undefined, all.map(operationSum).join(''))))]);
  await engine.write(all, { sync: true });
  return all.length;
}

async function isEmpty(engine: Engine): Promise<boolean> {
  const view = engine.snapshot();
  try {
    for await (const chunk of view.entries({ gte: '', lt: '\u{10ffff}' }, { chunkSize: 1 })) return chunk.length === 0;
    return true;
  } finally {
    await view.close();
  }
}

function refuseNewer(engine: Engine, directory: string, supported: number): void {
  const format = engine.get(FORMAT_KEY) ?? '';
  const version = Number(format);
  if (!Number.isInteger(version) || version < 1) {
    throw new SimbatchError(
      'store-unusable',
      `the data directory ${directory} cannot be used: its format is "${format}"; choose another directory`,
    );
  }
  if (version > supported) {
    throw new SimbatchError(
      'store-newer',
      `the data directory ${directory} cannot be used: it has format ${version}, and this program supports up to ` +
        `${supported}; use a newer simbatch`,
    );
  }
}

async function migrated(store: Store, directory: string, options: OpenOptions): Promise<Store> {
  const { format = STORE_FORMAT, migrations = MIGRATIONS } = options;
  let version = Number(store.get(FORMAT_KEY));
  for (; version < format; version += 1) {
    const migration = migrations.get(version);
    if (migration === undefined) {
      throw new SimbatchError(
        'store-unusable',
        `the data directory ${directory} cannot be used: this program cannot migrate format ${version} to ${format}`,
      );
    }
    // The version is part of the same write: a crash leaves the old version whole or the new one.
    await store.write(new Map([...(await migration(store)), [FORMAT_KEY, String(version + 1)]]));
  }
  return store;
}

function refusal(directory: string, error: unknown): SimbatchError {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code === 'LEVEL_LOCKED' ? lockedError(directory, error) : unusable(directory, error);
}

function unusable(directory: string, error: unknown): SimbatchError {
  const { cause } = error as { cause?: { message?: string } };
  const why = cause?.message ?? (error instanceof Error ? error.message : String(error));
  return new SimbatchError('store-unusable', `the data directory ${directory} cannot be used: ${why}`, {
    cause: error,
  });
}
