/** `simbatch runs`: lists runs by study, status, runner and number, in constant memory. */
import type { Command } from 'commander';
import { JOB_STATUSES } from '../../../contract/enums.ts';
import type { Job, JobStatus } from '../../../contract/types.ts';
import { formatTimestamp } from '../../terminal/format.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { statusOption, clientCommand, connect, integerBetween, texts, type ClientFlags } from '../../options.ts';
import { emptyList, SUBMIT } from '../../terminal/empty-list.ts';
import { note, writeJsonArray } from '../../terminal/output.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { writeTable, type Column } from '../../terminal/table.ts';

interface JobsFlags extends ClientFlags {
  batch?: string;
  status?: JobStatus[];
  runner?: string[];
  run?: number[];
  limit?: number;
}

const COLUMNS: readonly Column[] = [
  { name: 'job' },
  { name: 'run', align: 'right' },
  { name: 'status' },
  { name: 'retries', align: 'right' },
  { name: 'runner' },
  { name: 'ended (UTC)' },
  { name: 'error' },
];

const runId = integerBetween(0, INT32_MAX);

export function runsCommand(): Command {
  return clientCommand('runs', 'list runs')
    .option('-b, --batch <batch>', `of this study: ${BATCH_ARGUMENT}`)
    .addOption(statusOption(JOB_STATUSES))
    .option('--runner <ids>', 'only runs of these runners', texts)
    .option('--run <numbers>', 'only these runs', (text: string, before: number[] | undefined) => [
      ...(before ?? []),
      ...text.split(',').map(runId),
    ])
    .option('--limit <n>', 'at most so many', integerBetween(1, INT32_MAX))
    .action(async (flags: JobsFlags) => {
      const client = await connect(flags);
      const batch_id = flags.batch === undefined ? [] : [await resolveBatch(client, flags.batch)];
      const query = { batch_id, status: flags.status ?? [], runner_id: flags.runner ?? [], run_id: flags.run ?? [] };
      const pageSize = Math.min(flags.limit ?? 1000, 1000);
      const jobs = atMost(client.jobs(query, { pageSize }), flags.limit ?? Number.POSITIVE_INFINITY);
      if (flags.output === 'json') return writeJsonArray(jobs);
      const count = await writeTable(COLUMNS, rows(jobs));
      if (count > 0) return undefined;
      const filters = {
        '--batch': flags.batch === undefined ? [] : [flags.batch],
        '--status': flags.status,
        '--runner': flags.runner,
        '--run': flags.run,
      };
      return note(emptyList({ plural: 'jobs', remedy: SUBMIT, filters }));
    });
}

async function* atMost<T>(items: AsyncIterable<T>, limit: number): AsyncGenerator<T> {
  let left = limit;
  for await (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}

async function* rows(jobs: AsyncIterable<Job>): AsyncGenerator<(string | number)[]> {
  for await (const job of jobs) {
    const { id, run_config, status, retries, assigned_runner = '-', completed_at, error_message = '' } = job;
    yield [id, run_config.run_id, status, retries, assigned_runner, formatTimestamp(completed_at), error_message];
  }
}
