/** `simbatch runs`: lists runs by study, status, runner and number, in constant memory. */
import type { Command } from 'commander';
import { JOB_STATUSES } from '../../../contract/enums.ts';
import type { Client } from '../../../client/client.ts';
import type { Job, JobStatus, Uuid } from '../../../contract/types.ts';
import { systemClock } from '../../../base/clock.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { statusTone } from '../../terminal/colour.ts';
import { formatAgo, formatDuration, secondsBetween, shortId } from '../../terminal/format.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { statusOption, clientCommand, connect, integerBetween, texts, type ClientFlags } from '../../options.ts';
import { pagesWhere, whereOption } from '../../selection/selected-runs.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { emptyList, LIST_FORMATS, type ListColumn, printList, SUBMIT } from '../../terminal/list.ts';

interface JobsFlags extends ClientFlags {
  batch?: string;
  status?: JobStatus[];
  runner?: string[];
  run?: number[];
  where?: string;
  limit?: number;
}

const tookOf = (job: Job): number | undefined => secondsBetween(job.started_at, job.completed_at);

/** The columns of a run; that of its study only where runs of several are listed. */
const runColumns = (ofOneStudy: boolean, nowMs: number): ListColumn<Job>[] => [
  { name: 'study', key: 'study', value: (it) => shortId(it.batch_id), wide: ofOneStudy },
  { name: 'run', key: 'run', align: 'right', value: (it) => it.run_config.run_id },
  { name: 'job', key: 'job', value: (it) => it.id, wide: true },
  { name: 'status', key: 'status', value: (it) => it.status, tone: statusTone },
  { name: 'retries', key: 'retries', align: 'right', value: (it) => it.retries, wide: true },
  { name: 'runner', key: 'runner', value: (it) => it.assigned_runner, shrink: 8, rank: 2 },
  {
    name: 'took',
    key: 'took_secs',
    align: 'right',
    value: tookOf,
    cell: (it) => formatDuration(tookOf(it)),
    rank: 3,
  },
  {
    name: 'ended',
    key: 'ended',
    align: 'right',
    value: (it) => it.completed_at,
    cell: (it) => formatAgo(it.completed_at, nowMs),
    rank: 1,
  },
  { name: 'ended at (UTC)', key: 'ended_at', value: (it) => it.completed_at, wide: true },
  { name: 'error', key: 'error', value: (it) => it.error_message, cell: (it) => it.error_message ?? '', shrink: 24 },
];

const runId = integerBetween(0, INT32_MAX);

export function runsCommand(): Command {
  return clientCommand('runs', 'list runs, of one study or of all', LIST_FORMATS)
    .argument('[study]', `of this study: ${BATCH_ARGUMENT}`)
    .option('-b, --batch <study>', 'the same as the argument')
    .addOption(statusOption(JOB_STATUSES))
    .option('--runner <ids>', 'only runs of these runners', texts)
    .option('--run <numbers>', 'only these runs', (text: string, before: number[] | undefined) => [
      ...(before ?? []),
      ...text.split(',').map(runId),
    ])
    .addOption(whereOption())
    .option('--limit <n>', 'at most so many', integerBetween(1, INT32_MAX))
    .action(async (argument: string | undefined, flags: JobsFlags) => {
      const study = studyOf(argument, flags.batch);
      const client = await connect(flags);
      const batch_id = study === undefined ? [] : [await resolveBatch(client, study)];
      const query = { batch_id, status: flags.status ?? [], runner_id: flags.runner ?? [], run_id: flags.run ?? [] };
      const pageSize = Math.min(flags.limit ?? 1000, 1000);
      const selected = flags.where === undefined ? client.jobs(query, { pageSize }) : jobsWhere(client, query, flags);
      const jobs = atMost(selected, flags.limit ?? Number.POSITIVE_INFINITY);
      const filters = {
        ...(argument === undefined
          ? { '--batch': flags.batch === undefined ? [] : [flags.batch] }
          : { of: [argument] }),
        '--status': flags.status,
        '--runner': flags.runner,
        '--run': flags.run,
        '--where': flags.where === undefined ? undefined : [flags.where],
      };
      await printList(flags.format, jobs, {
        columns: runColumns(study !== undefined, systemClock.now()),
        nameOf: (job) => `${job.batch_id}/${job.run_config.run_id}`,
        none: emptyList({ plural: 'runs', remedy: SUBMIT, filters }),
      });
    });
}

/** Runs asked for at once by number. */
const AT_ONCE = 100;

/** The runs that a condition and the other options select. @throws Failure without a study, whose columns the condition names */
async function* jobsWhere(client: Client, query: JobsQuery, { where = '' }: JobsFlags): AsyncGenerator<Job> {
  const [batchId] = query.batch_id;
  if (batchId === undefined) throw new Failure(EXIT.usage, '--where names columns of a study: give the study');
  const wanted = new Set(query.run_id);
  for await (const page of pagesWhere(client, batchId, where)) {
    const runs = page.filter((run) => wanted.size === 0 || wanted.has(run));
    for (let at = 0; at < runs.length; at += AT_ONCE)
      yield* client.jobs({ ...query, run_id: runs.slice(at, at + AT_ONCE) }, { pageSize: AT_ONCE });
  }
}

interface JobsQuery {
  batch_id: Uuid[];
  status: JobStatus[];
  runner_id: string[];
  run_id: number[];
}

/** The study is the argument or the option. @throws Failure when both name one */
function studyOf(argument: string | undefined, option: string | undefined): string | undefined {
  if (argument !== undefined && option !== undefined && argument !== option)
    throw new Failure(EXIT.usage, `the study is given twice: ${argument} and --batch ${option}; give one`);
  return argument ?? option;
}

async function* atMost<T>(items: AsyncIterable<T>, limit: number): AsyncGenerator<T> {
  let left = limit;
  for await (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}
