/** `simbatch backup` and `simbatch restore`: all data of a coordinator as one file, and back. */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Command } from 'commander';
import { readBackup, restoreBackup } from '../../../../coordinator/kernel/storage/backup.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';
import { plural } from '../../../terminal/format.ts';
import { clientCommand, connect, dataDirOption, type ClientFlags } from '../../../options.ts';
import { makeWhole, writeFileFrom, type Put } from '../../../terminal/output-file.ts';
import { writeJson, writeLine } from '../../../terminal/output.ts';
import { WorkProgress } from '../../../progress/work-progress.ts';
import { systemClock } from '../../../../base/clock.ts';

export function backupCommand(): Command {
  return clientCommand('backup', 'copy all data of a running coordinator, as of one instant, into a file')
    .argument('<file|directory>', 'a new file (compressed when it ends in .gz), or the directory for one')
    .action(backup);
}

async function backup(given: string, flags: ClientFlags): Promise<void> {
  const named = await newFile(given);
  const path = resolve(named);
  const coming = `${path}.partial`;
  const client = await connect(flags);
  const bar = new WorkProgress();
  let bytes = 0;
  const fill = async (put: Put): Promise<void> => {
    const source = Readable.from(client.backup());
    const copy = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const piece of pieces) {
        await put(piece);
        bytes += piece.length;
        bar.show('bytes copied', bytes, 0);
      }
    };
    await (path.endsWith('.gz') ? pipeline(source, createGzip(), copy) : pipeline(source, copy));
  };
  const summary = await makeWhole(named, coming, async () => {
    await writeFileFrom(named, fill, { begun: coming, mode: 0o600 });
    // The backup is read back from the disk: only a backup that was read is trustworthy.
    const found = await readBackup(bytesOf(coming, (read, size) => bar.show('verified', read, size)));
    await syncFile(coming);
    return found;
  }).finally(() => bar.end());
  if (flags.output === 'json') return writeJson({ file: path, ...summary });
  return writeLine(`${path}: ${plural(summary.records, 'record')} as of ${summary.createdAt}`);
}

/** Returns the path of the backup file; it must not exist. */
async function newFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return path;
  if (!found.isDirectory()) {
    throw new Failure(EXIT.cannotOpen, `${path} exists, and a backup does not replace files; name another file`);
  }
  const time = new Date(systemClock.now()).toISOString().replace(/[:.]/g, '-');
  return join(path, `simbatch-${time}.ndjson.gz`);
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
}

/** Yields the bytes of a backup, decompressed if necessary. `onRead` receives the bytes read of the file and its size. */
async function* bytesOf(path: string, onRead: (read: number, size: number) => void): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
  const { size } = await file.stat();
  await file.close();
  const isCompressed = buffer[0] === 0x1f && buffer[1] === 0x8b;
  const source = createReadStream(path);
  const unpacked = isCompressed ? createGunzip() : undefined;
  source.on('error', (error) => unpacked?.destroy(error));
  for await (const piece of unpacked === undefined ? source : source.pipe(unpacked)) {
    yield piece as Uint8Array;
    onRead(source.bytesRead, size);
  }
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('make a data directory from a backup; the directory must be missing or empty')
    .argument('<file>', 'what `simbatch backup` made')
    .addOption(dataDirOption())
    .action(async (file: string, { dataDir }: { dataDir: string }) => {
      const directory = resolve(dataDir);
      const bar = new WorkProgress();
      let pass = 0;
      // The first pass verifies the backup, the second one restores it.
      const source = (): AsyncIterable<Uint8Array> => {
        const phase = (pass += 1) === 1 ? 'verified' : 'restored';
        return bytesOf(resolve(file), (read, size) => bar.show(phase, read, size));
      };
      const { records, createdAt } = await restoreBackup(source, directory).finally(() => bar.end());
      await writeLine(`${directory}: ${plural(records, 'record')} as of ${createdAt}`);
    });
}
