/** `simbatch fetch`: copies files of runs to this machine, continues interrupted copies, and overwrites nothing silently. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { INT32_MAX } from '../../../contract/limits.ts';
import { ApiError, type Client } from '../../../client/client.ts';
import { downloadFile, type DownloadOutcome } from '../../../client/download.ts';
import type { RunFile, Uuid } from '../../../contract/types.ts';
import { jobId } from '../../../domain/ids.ts';
import type { RunSelection } from '../../../domain/runs/run-selection.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { whereOption } from '../../selection/selected-runs.ts';
import {
  chosenRuns,
  isSelected,
  kindOption,
  listsOf,
  readRuns,
  RUNS_ARGUMENT,
  type FileFlags,
} from '../../selection/run-files.ts';
import { formatBytes, plural } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';

interface FetchFlags extends ClientFlags, FileFlags {
  to: string;
  attempt?: number;
  overwrite?: boolean;
}

/** Files that are copied at the same time. */
const AT_ONCE = 4;
/** Faults that are listed one by one. */
const MOST_FAULTS = 20;

export function fetchCommand(): Command {
  return clientCommand('fetch', 'copy files of runs to this machine')
    .argument('<study>', BATCH_ARGUMENT)
    .argument('[runs]', RUNS_ARGUMENT, readRuns)
    .requiredOption('--to <dir>', 'folder that gets a folder for each run, such as 00000017')
    .option('--attempt <n>', 'the files of this attempt; otherwise of the last one', integerBetween(1, INT32_MAX))
    .option('--path <path>', 'only files of this path, with * for any characters')
    .addOption(whereOption())
    .addOption(kindOption())
    .option('--overwrite', 'replace files that differ; without it they stay, and the exit code is 75')
    .action(async (reference: string, runs: RunSelection | undefined, flags: FetchFlags) => {
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      const copying = new Copying(client, batchId, flags);
      for await (const { run_id, files, notes, is_readable } of listsOf(
        client,
        batchId,
        await chosenRuns(client, batchId, runs, flags),
        flags.attempt,
      )) {
        const wanted = files.filter((file) => isSelected(file, flags));
        if (!is_readable && wanted.length > 0) copying.unreadable(run_id, notes[0] ?? '', wanted.length);
        else for (const file of wanted) await copying.add(run_id, file);
      }
      await copying.end();
      await report(copying, flags);
    });
}

async function report({ counts, bytes, faults, unlisted }: Copying, flags: FetchFlags): Promise<void> {
  const { copied, present, differs } = counts;
  if (flags.format === 'json') await writeJson({ to: flags.to, copied, present, differs, bytes, faults });
  else {
    const before = present === 0 ? '' : `; ${plural(present, 'file')} already there`;
    await writeLine(`${plural(copied, 'file')} (${formatBytes(bytes)}) copied to ${flags.to}${before}`);
  }
  for (const fault of faults) note(fault);
  if (unlisted > 0) note(`and ${plural(unlisted, 'more fault')}`);
  if (differs > 0) note(`${plural(differs, 'file')} differ from those in ${flags.to} and stay; give --overwrite`);
  if (faults.length > 0) throw new Failure(EXIT.conflict, 'not all files were copied; the same command continues');
  if (differs > 0) throw new Failure(EXIT.conflict, 'not all files were copied');
}

/** Copies files, several at the same time, and counts outcomes. */
class Copying {
  readonly counts: Record<DownloadOutcome, number> = { copied: 0, present: 0, differs: 0 };
  bytes = 0;
  readonly faults: string[] = [];
  unlisted = 0;
  readonly #client: Client;
  readonly #batchId: Uuid;
  readonly #flags: FetchFlags;
  readonly #running = new Set<Promise<void>>();
  #fatal: unknown;

  constructor(client: Client, batchId: Uuid, flags: FetchFlags) {
    this.#client = client;
    this.#batchId = batchId;
    this.#flags = flags;
  }

  unreadable(run: number, why: string, files: number): void {
    this.#fault(`run ${String(run)}: ${plural(files, 'file')} not copied: ${why}`);
  }

  /** Resolves when there is room for the next file. */
  async add(run: number, file: RunFile): Promise<void> {
    const copying = this.#copy(run, file).finally(() => this.#running.delete(copying));
    this.#running.add(copying);
    if (this.#running.size >= AT_ONCE) await Promise.race(this.#running);
    if (this.#fatal !== undefined) await this.end();
  }

  /** @throws the error that makes further copies pointless, such as a full disk. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  async #copy(run: number, file: RunFile): Promise<void> {
    const { to, attempt, overwrite = false } = this.#flags;
    const folder = join(to, String(run).padStart(8, '0'));
    const options = { overwrite, ...(attempt === undefined ? {} : { attempt }) };
    try {
      const outcome = await downloadFile(this.#client.files, jobId(this.#batchId, run), file, folder, options);
      this.counts[outcome] += 1;
      if (outcome === 'copied') this.bytes += file.bytes ?? 0;
    } catch (error) {
      if (error instanceof ApiError && !error.transient) this.#fault(`run ${String(run)}: ${error.message}`);
      else this.#fatal = error;
    }
  }

  #fault(text: string): void {
    if (this.faults.length < MOST_FAULTS) this.faults.push(text);
    else this.unlisted += 1;
  }
}
