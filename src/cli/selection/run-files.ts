/** The files of selected runs of a study: which runs, which files, and their lists one run after the other. */
import { InvalidArgumentError, Option } from 'commander';
import type { Client, Job, RunFile, RunFiles, Uuid } from '../../client/client.ts';
import { FILE_KINDS, type FileKind } from '../../contract/enums.ts';
import { jobId } from '../../domain/ids.ts';
import { RunSelection } from '../../domain/runs/run-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { anyOf } from '../options.ts';
import { runsWhere } from './selected-runs.ts';

export const RUNS_ARGUMENT = 'runs such as 17 or 0-9,17; all without it';

/** Options that select files. */
export interface FileFlags {
  where?: string;
  kind?: FileKind[];
  path?: string;
}

export const kindOption = (): Option =>
  new Option('--kind <kinds>', 'only files of these kinds').choices(FILE_KINDS).argParser(anyOf(FILE_KINDS));

/** The runs of the argument or of `--where`; undefined for all. @throws Failure for both, and for a condition that no run meets */
export async function chosenRuns(
  client: Client,
  batchId: Uuid,
  runs: RunSelection | undefined,
  { where }: FileFlags,
): Promise<RunSelection | undefined> {
  if (where === undefined) return runs;
  if (runs !== undefined) throw new Failure(EXIT.usage, 'runs are given by number and by --where; give one of them');
  return readRuns(await runsWhere(client, batchId, where));
}

/** Reads the argument `RUNS_ARGUMENT`. */
export function readRuns(text: string): RunSelection {
  const runs = RunSelection.parse(text);
  if (typeof runs === 'string') throw new InvalidArgumentError(`It ${runs}.`);
  return runs;
}

/** True for a file that the options select; `path` may have `*` for any characters. */
export function isSelected({ path, kind }: Pick<RunFile, 'path' | 'kind'>, flags: FileFlags): boolean {
  if (flags.kind !== undefined && !flags.kind.includes(kind)) return false;
  if (flags.path === undefined) return true;
  const pattern = flags.path.split('*').map((it) => it.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.join('.*')}$`, 's').test(path);
}

/** The files of a run. */
export interface RunList extends RunFiles {
  run_id: number;
}

/** The runs that have been claimed, each with its list of files. */
export async function* listsOf(
  client: Client,
  batchId: Uuid,
  runs: RunSelection | undefined,
  attempt: number | undefined,
): AsyncGenerator<RunList> {
  const query = attempt === undefined ? {} : { attempt };
  if (runs !== undefined) {
    for (const run of runs.runIds()) yield { run_id: run, ...(await client.files.list(jobId(batchId, run), query)) };
    return;
  }
  for await (const job of client.jobs({ batch_id: [batchId], status: CLAIMED })) {
    yield { run_id: job.run_config.run_id, ...(await client.files.list(job.id, query)) };
  }
}

const CLAIMED: Job['status'][] = ['Running', 'Completed', 'Failed', 'Timeout', 'Cancelled'];
