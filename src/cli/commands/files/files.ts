/** `simbatch files`: lists the files of runs, where they are and whether they can be read. */
import type { Command } from 'commander';
import { INT32_MAX } from '../../../contract/limits.ts';
import type { RunFile } from '../../../contract/types.ts';
import type { RunSelection } from '../../../domain/runs/run-selection.ts';
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
  type RunList,
} from '../../selection/run-files.ts';
import { formatBytes, formatTimestamp } from '../../terminal/format.ts';
import { LIST_FORMATS, printList, type ListColumn } from '../../terminal/list.ts';
import { note } from '../../terminal/output.ts';
import { filesPushCommand } from './push.ts';

interface ListedFile extends RunFile {
  run_id: number;
  attempt: number;
  runner_id?: string;
}

const COLUMNS: readonly ListColumn<ListedFile>[] = [
  { name: 'run', key: 'run', align: 'right', value: (it) => it.run_id },
  { name: 'path', key: 'path', value: (it) => it.path, shrink: 16 },
  { name: 'kind', key: 'kind', value: (it) => it.kind, rank: 1 },
  { name: 'size', key: 'bytes', align: 'right', value: (it) => it.bytes, cell: (it) => formatBytes(it.bytes) },
  {
    name: 'written (UTC)',
    key: 'modified_at',
    value: (it) => it.modified_at,
    cell: (it) => formatTimestamp(it.modified_at),
    rank: 2,
  },
  {
    name: 'place',
    key: 'place',
    value: (it) => it.place,
    cell: (it) => (it.place === 'runner' ? `runner ${it.runner_id ?? ''}` : 'object store'),
    shrink: 8,
  },
  { name: 'address', key: 'address', value: (it) => it.address, wide: true },
];

export function filesCommand(): Command {
  return clientCommand('files', 'list the files of runs', LIST_FORMATS)
    .addCommand(filesPushCommand())
    .argument('<study>', BATCH_ARGUMENT)
    .argument('[runs]', RUNS_ARGUMENT, readRuns)
    .option('--attempt <n>', 'the files of this attempt; otherwise of the last one', integerBetween(1, INT32_MAX))
    .option('--path <path>', 'only files of this path, with * for any characters')
    .addOption(whereOption())
    .addOption(kindOption())
    .action(
      async (
        reference: string,
        runs: RunSelection | undefined,
        flags: ClientFlags & FileFlags & { attempt?: number },
      ) => {
        const client = await connect(flags);
        const batchId = await resolveBatch(client, reference);
        const notes = new Map<string, number>();
        const chosen = await chosenRuns(client, batchId, runs, flags);
        const files = filesOf(listsOf(client, batchId, chosen, flags.attempt), flags, notes);
        await printList(flags.format, files, { columns: COLUMNS, nameOf: (it) => it.path, none: 'no files' });
        for (const [text, times] of notes) note(times === 1 ? text : `${text} (${String(times)} runs)`);
      },
    );
}

/** @param notes gets the notes of the lists, each with its number of runs. */
async function* filesOf(
  lists: AsyncIterable<RunList>,
  flags: FileFlags,
  notes: Map<string, number>,
): AsyncGenerator<ListedFile> {
  for await (const { run_id, attempt, runner_id, files, notes: ofRun } of lists) {
    for (const text of ofRun) notes.set(text, (notes.get(text) ?? 0) + 1);
    const run = { run_id, attempt, ...(runner_id === undefined ? {} : { runner_id }) };
    for (const file of files) if (isSelected(file, flags)) yield { ...run, ...file };
  }
}
