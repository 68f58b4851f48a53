/** `simbatch backup`, `backup verify` and `restore`: all data of a coordinator as one file or object, and back. */
import { open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Command, InvalidArgumentError } from 'commander';
import type { Client } from '../../../../client/client.ts';
import { removeObject, writeObject } from '../../../../coordinator/files/object-store/stored-stream.ts';
import { readBackup, restoreBackup, type BackupSummary } from '../../../../coordinator/kernel/storage/backup.ts';
import { durationMs, formatDuration } from '../../../../domain/durations.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';
import { plural } from '../../../terminal/format.ts';
import { clientCommand, connect, dataDirOption, integerBetween, type ClientFlags } from '../../../options.ts';
import { OutputCommand } from '../../../output-command.ts';
import { makeWhole, writeFileFrom, type Put } from '../../../terminal/output-file.ts';
import { writeJson, writeLine } from '../../../terminal/output.ts';
import { WorkProgress } from '../../../progress/work-progress.ts';
import { systemClock } from '../../../../base/clock.ts';
import { withStoreAccess, type ObjectStoreFlags } from '../object-store.ts';
import {
  backupName,
  fileBytes,
  isPrefix,
  keepNewest,
  storedBackup,
  storeFailure,
  storePlaceOf,
  type StorePlace,
} from './backup-place.ts';

interface BackupFlags extends ClientFlags, ObjectStoreFlags {
  keep?: number;
}

interface VerifyFlags extends ObjectStoreFlags {
  maxAge?: number;
  format: string;
}

const MOST_KEPT = 10_000;
const PLACE = 'a file, or s3://BUCKET/KEY; the newest backup of a directory or of s3://BUCKET/PREFIX/';

export function backupCommand(): Command {
  return withStoreAccess(
    clientCommand(
      'backup',
      'copy all data of a running coordinator, as of one instant, into a file or an object store',
    ),
  )
    .argument(
      '<place>',
      'a new file (compressed when it ends in .gz), or the directory for one; s3://BUCKET/KEY, or s3://BUCKET/PREFIX/ for one',
    )
    .option('--keep <n>', 'then remove all but the newest n backups there', integerBetween(1, MOST_KEPT))
    .action(backup)
    .addCommand(verifyBackupCommand());
}

async function backup(given: string, flags: BackupFlags): Promise<void> {
  const place = storePlaceOf(given, flags);
  const folder = await folderOf(given, place);
  if (flags.keep !== undefined && folder === undefined) {
    const why = `--keep needs a directory or s3://BUCKET/PREFIX/, and ${given} is one backup; name the place of several`;
    throw new Failure(EXIT.usage, why);
  }
  const client = await connect(flags);
  const bar = new WorkProgress();
  const made = await (place === undefined ? toFile(given, client, bar) : toStore(flags, place, client, bar))
    .catch((error: unknown) => {
      throw storeFailure(given, error);
    })
    .finally(() => bar.end());
  // Older ones are removed only after the new one has been read back.
  const removed = flags.keep === undefined || folder === undefined ? [] : await keepNewest(folder, flags.keep);
  const { file, records, createdAt } = made;
  if (flags.format === 'json')
    return writeJson({ file, records, created_at: createdAt, ...(flags.keep === undefined ? {} : { removed }) });
  const gone = removed.length === 0 ? '' : `; ${plural(removed.length, 'older backup')} removed`;
  return writeLine(`${file}: ${plural(records, 'record')} as of ${createdAt}${gone}`);
}

/** The place of several backups; undefined where one backup is named. */
async function folderOf(given: string, place: StorePlace | undefined): Promise<StorePlace | string | undefined> {
  if (place !== undefined) return isPrefix(place) ? place : undefined;
  const found = await stat(given).catch(() => undefined);
  return found?.isDirectory() === true ? given : undefined;
}

interface Made extends BackupSummary {
  file: string;
}

/** Writes the pieces of a backup of the coordinator, packed where the name says so. */
function copied(
  client: Client,
  name: string,
  bar: WorkProgress,
  copy: (pieces: AsyncIterable<Uint8Array>) => Promise<void>,
) {
  let bytes = 0;
  async function* counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      bytes += piece.length;
      bar.show('bytes copied', bytes, 0);
      yield piece;
    }
  }
  const source = Readable.from(client.backup());
  const sink = (pieces: AsyncIterable<Uint8Array>): Promise<void> => copy(counted(pieces));
  return name.endsWith('.gz') ? pipeline(source, createGzip(), sink) : pipeline(source, sink);
}

async function toFile(given: string, client: Client, bar: WorkProgress): Promise<Made> {
  const named = await newFile(given);
  const path = resolve(named);
  const coming = `${path}.partial`;
  const fill = (put: Put): Promise<void> =>
    copied(client, path, bar, async (pieces) => {
      for await (const piece of pieces) await put(piece);
    });
  const summary = await makeWhole(named, coming, async () => {
    await writeFileFrom(named, fill, { begun: coming, mode: 0o600 });
    // The backup is read back from the disk: only a backup that was read is trustworthy.
    const found = await readBackup(fileBytes(coming, (read, size) => bar.show('verified', read, size)));
    await syncFile(coming);
    return found;
  });
  return { file: path, ...summary };
}

async function toStore(flags: ObjectStoreFlags, place: StorePlace, client: Client, bar: WorkProgress): Promise<Made> {
  const key = isPrefix(place) ? place.key + backupName(systemClock.now()) : place.key;
  const object = { ...place, key };
  const name = `s3://${place.bucket}/${key}`;
  if ((await place.store.contentOf(place.bucket, key)) !== undefined) throw exists(name);
  await copied(client, key, bar, async (pieces) => void (await writeObject(object, pieces, systemClock)));
  try {
    const { bytes } = await storedBackup(name, flags);
    return { file: name, ...(await readBackup(bytes((read, size) => bar.show('verified', read, size)))) };
  } catch (error) {
    // A backup that cannot be read back must not be taken for one.
    await removeObject(object).catch(() => {});
    throw error;
  }
}

const exists = (name: string): Failure =>
  new Failure(EXIT.cannotOpen, `${name} exists, and a backup does not replace files; name another file`);

/** Returns the path of the backup file; it must not exist. */
async function newFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return path;
  if (!found.isDirectory()) throw exists(path);
  return join(path, backupName(systemClock.now()));
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
}

function verifyBackupCommand(): Command {
  return withStoreAccess(
    new OutputCommand('verify').description(
      'read a whole backup and check it: every record, their number and checksum',
    ),
  )
    .argument('<place>', PLACE)
    .option('--max-age <time>', 'exit code 1 for a backup that is older, e.g. 26h', ageOf)
    .action(verify);
}

function ageOf(text: string): number {
  const age = durationMs(text);
  if (age === undefined || age === 0) throw new InvalidArgumentError('It must be a time such as 26h or 2d.');
  return age;
}

async function verify(given: string, flags: VerifyFlags): Promise<void> {
  const { name, bytes } = await storedBackup(given, flags);
  const bar = new WorkProgress();
  const { records, createdAt } = await readBackup(bytes((read, size) => bar.show('verified', read, size))).finally(() =>
    bar.end(),
  );
  const ageMs = Math.max(0, systemClock.now() - Date.parse(createdAt));
  const isOld = flags.maxAge !== undefined && ageMs > flags.maxAge;
  if (flags.format === 'json')
    await writeJson({ file: name, records, created_at: createdAt, age_secs: Math.round(ageMs / 1000) });
  else await writeLine(`${name}: ${plural(records, 'record')} as of ${createdAt}, no faults`);
  if (isOld) {
    const age = formatDuration(ageMs);
    throw new Failure(
      EXIT.failed,
      `${name} is ${age} old, more than ${formatDuration(flags.maxAge!)}; look why no newer backup was made`,
    );
  }
}

export function restoreCommand(): Command {
  return withStoreAccess(new Command('restore'))
    .description('make a data directory from a backup; the directory must be missing or empty')
    .argument('<place>', PLACE)
    .addOption(dataDirOption())
    .action(async (given: string, flags: ObjectStoreFlags & { dataDir: string }) => {
      const directory = resolve(flags.dataDir);
      const { name, bytes } = await storedBackup(given, flags);
      const bar = new WorkProgress();
      let pass = 0;
      // The first pass verifies the backup, the second one restores it.
      const source = (): AsyncIterable<Uint8Array> => {
        const phase = (pass += 1) === 1 ? 'verified' : 'restored';
        return bytes((read, size) => bar.show(phase, read, size));
      };
      const { records, createdAt } = await restoreBackup(source, directory).finally(() => bar.end());
      await writeLine(`${directory}: ${plural(records, 'record')} as of ${createdAt}, from ${name}`);
    });
}
