/** `simbatch files`: lists the files of runs, where they are and whether they can be read. */
import type { Command } from 'commander';
import { INT32_MAX } from '../../../contract/limits.ts';
import type { RunSelection } from '../../../domain/run-selection.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import {
  isSelected,
  kindOption,
  listsOf,
  readRuns,
  RUNS_ARGUMENT,
  type FileFlags,
  type RunList,
} from '../../study/run-files.ts';
import { formatBytes, formatTimestamp } from '../../terminal/format.ts';
import { note, writeJsonArray } from '../../terminal/output.ts';
import { writeTable, type Column } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { name: 'run', align: 'right' },
  { name: 'path' },
  { name: 'kind' },
  { name: 'size', align: 'right' },
  { name: 'written (UTC)' },
  { name: 'place' },
];

export function filesCommand(): Command {
  return clientCommand('files', 'list the files of runs')
    .argument('<batch>', BATCH_ARGUMENT)
    .argument('[runs]', RUNS_ARGUMENT, readRuns)
    .option('--attempt <n>', 'the files of this attempt; otherwise of the last one', integerBetween(1, INT32_MAX))
    .option('--path <path>', 'only files of this path, with * for any characters')
    .addOption(kindOption())
    .action(
      async (
        reference: string,
        runs: RunSelection | undefined,
        flags: ClientFlags & FileFlags & { attempt?: number },
      ) => {
        const client = await connect(flags);
        const batchId = await resolveBatch(client, reference);
        const lists = selected(listsOf(client, batchId, runs, flags.attempt), flags);
        if (flags.output === 'json') return writeJsonArray(lists);
        const notes = new Map<string, number>();
        const count = await writeTable(COLUMNS, rows(lists, notes));
        if (count === 0) note('no files');
        for (const [text, times] of notes) note(times === 1 ? text : `${text} (${String(times)} runs)`);
        return undefined;
      },
    );
}

async function* selected(lists: AsyncIterable<RunList>, flags: FileFlags): AsyncGenerator<RunList> {
  for await (const it of lists) yield { ...it, files: it.files.filter((file) => isSelected(file, flags)) };
}

async function* rows(
  lists: AsyncIterable<RunList>,
  notes: Map<string, number>,
): AsyncGenerator<readonly (string | number)[]> {
  for await (const { run_id, runner_id = '', files, notes: ofRun } of lists) {
    for (const text of ofRun) notes.set(text, (notes.get(text) ?? 0) + 1);
    for (const { path, kind, bytes, modified_at, place, address } of files) {
      const where = place === 'runner' ? `runner ${runner_id}` : address;
      yield [run_id, path, kind, formatBytes(bytes), formatTimestamp(modified_at), where];
    }
  }
}
