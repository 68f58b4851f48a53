/** `simbatch snapshot`: exports a coordinator's records; inspects, replays and imports the file without one. */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { makeStore, refuseIfUsed } from '../../../coordinator/kernel/storage/create-store.ts';
import { importSnapshot } from '../../../coordinator/snapshots/import.ts';
import { readSnapshot } from '../../../coordinator/snapshots/read.ts';
import type { Snapshot } from '../../../coordinator/snapshots/format.ts';
import { readSnapshot as readAny, replay } from '../../../replay/replay.ts';
import { EXIT } from '../../exit-codes.ts';
import { plural } from '../../terminal/format.ts';
import { OutputCommand } from '../../output-command.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { makeWhole, writeFileFrom, type Put } from '../../terminal/output-file.ts';
import { note, snakeCased, writeJson, writeLine } from '../../terminal/output.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { inspect } from './snapshot-inspect.ts';

const FILE_ARGUMENT = 'a snapshot file';

export function snapshotCommand(): Command {
  return new Command('snapshot')
    .description('export, inspect, replay and import the records of a coordinator')
    .addCommand(exportCommand())
    .addCommand(inspectCommand())
    .addCommand(replayCommand())
    .addCommand(importCommand());
}

/** Opens the file; its records are read lazily. */
export function openFile(path: string): Promise<Snapshot> {
  return readSnapshot(createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 }));
}

function exportCommand(): Command {
  return clientCommand('export', 'write the records of a running coordinator to a file')
    .argument('<file>', 'where to write; replaced when it exists')
    .option('--batch <study>', `only this study and its runners: ${BATCH_ARGUMENT}`)
    .action(async (path: string, flags: ClientFlags & { batch?: string }) => {
      const client = await connect(flags);
      const batchId = flags.batch === undefined ? undefined : await resolveBatch(client, flags.batch);
      // The file has another name until it is complete, so that a file under its name can be trusted.
      const begun = `${path}.part`;
      let bytes = 0;
      const copy = async (put: Put): Promise<void> => {
        for await (const piece of client.exportSnapshot(batchId)) {
          bytes += piece.length;
          await put(piece);
        }
      };
      await makeWhole(path, begun, () => writeFileFrom(path, copy, { begun }));
      if (flags.format === 'json') return writeJson({ file: path, bytes, batch_id: batchId ?? null });
      await writeLine(`${path}: ${batchId === undefined ? 'everything' : `study ${batchId}`}, ${bytes} bytes`);
    });
}

function inspectCommand(): Command {
  return new OutputCommand('inspect')
    .description('show the state of each actor in a file, its history and its possible next events')
    .argument('<file>', FILE_ARGUMENT)
    .option('--actor <address>', 'only this one, with its whole history: batch/ID, job/ID or runner/ID')
    .action(async (path: string, flags: { actor?: string; format: string }) => {
      await inspect(await openFile(path), flags);
    });
}

function replayCommand(): Command {
  return new OutputCommand('replay')
    .description('send the recorded events through the machines again and report each difference')
    .argument('<file>', FILE_ARGUMENT)
    .action(async (path: string, flags: { format: string }) => {
      const report = await replay(await readAny(path));
      const { actors, events, attemptsOmitted, divergences: differences, divergencesOmitted } = report;
      if (differences.length > 0) process.exitCode = EXIT.failed;
      if (flags.format === 'json') return writeJson(snakeCased(report));
      for (const { where, detail } of differences) await writeLine(`${where}: ${detail}`);
      if (divergencesOmitted > 0) note(`and ${plural(divergencesOmitted, 'more difference')}`);
      if (attemptsOmitted > 0)
        note(`${plural(attemptsOmitted, 'attempt')} older than those the records keep: their counts cannot be checked`);
      const done = `${plural(actors, 'actor')}, ${plural(events, 'event')} replayed`;
      const found = differences.length + divergencesOmitted;
      await writeLine(found === 0 ? `${done}: all as recorded` : `${done}: ${plural(found, 'difference')}`);
    });
}

function importCommand(): Command {
  return new OutputCommand('import')
    .description('make a new data directory from a file, from which `simbatch serve` continues')
    .argument('<file>', FILE_ARGUMENT)
    .requiredOption('--data-dir <dir>', 'the data directory to make; must not exist or be empty')
    .action(async (path: string, flags: { dataDir: string; format: string }) => {
      const directory = resolve(flags.dataDir);
      await refuseIfUsed(directory);
      const snapshot = await openFile(path);
      const report = await makeStore(directory, (store) => importSnapshot(snapshot, store));
      if (flags.format === 'json') return writeJson({ data_dir: directory, ...snakeCased(report) });
      const { batches, jobs, results, runners } = report;
      const counts = [
        plural(batches, 'batch', 'batches'),
        plural(jobs, 'run record'),
        plural(results, 'result'),
        plural(runners, 'runner'),
      ];
      await writeLine(
        `${flags.dataDir}: ${counts.join(', ')}; start it with simbatch serve --data-dir ${flags.dataDir}`,
      );
    });
}
