/** `simbatch studies`: lists the studies of the coordinator, oldest first. */
import type { Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import { BATCH_STATUSES } from '../../../contract/enums.ts';
import type { Batch, BatchStatus } from '../../../contract/types.ts';
import { formatAgo, shortId } from '../../terminal/format.ts';
import { statusOption, clientCommand, connect, labelTexts, texts, type ClientFlags } from '../../options.ts';
import { statusText } from '../../progress/progress-text.ts';
import { statusTone } from '../../terminal/colour.ts';
import { emptyList, LIST_FORMATS, type ListColumn, printList, SUBMIT } from '../../terminal/list.ts';

interface BatchesFlags extends ClientFlags {
  status?: BatchStatus[];
  name?: string[];
  label?: string[];
  owner?: string[];
  mine?: true;
}

/** `123/400` while it is open, then the number of its runs. */
const runsOf = (it: Batch): string =>
  it.status === 'Pending' || it.status === 'Running'
    ? `${it.completed_jobs + it.failed_jobs}/${it.total_jobs}`
    : String(it.total_jobs);

/** The columns of a study in lists; `nowMs`: relative times are relative to it. */
export const studyColumns = (nowMs: number): ListColumn<Batch>[] => [
  { name: 'study', key: 'study', value: ({ id }) => shortId(id) },
  { name: 'id', key: 'id', value: ({ id }) => id, wide: true },
  { name: 'name', key: 'name', value: ({ name }) => name, shrink: 12 },
  { name: 'owner', key: 'owner', value: ({ owner }) => owner ?? null, cell: ({ owner }) => owner ?? '', wide: true },
  {
    name: 'status',
    key: 'status',
    value: ({ status }) => status,
    cell: (batch) => (batch.paused === true ? `${batch.status}, paused` : statusText(batch)),
    tone: statusTone,
  },
  {
    name: 'runs',
    key: 'runs',
    align: 'right',
    value: ({ total_jobs }) => total_jobs,
    cell: runsOf,
  },
  { name: 'completed', key: 'completed', align: 'right', value: (it) => it.completed_jobs, wide: true },
  { name: 'reused', key: 'reused', align: 'right', value: (it) => it.reused_jobs ?? 0, wide: true },
  {
    name: 'failed',
    key: 'failed',
    align: 'right',
    value: (it) => it.failed_jobs,
    tone: (text) => (text === '0' ? undefined : 'bad'),
  },
  {
    name: 'submitted',
    key: 'submitted',
    value: (it) => it.created_at,
    cell: (it) => formatAgo(it.created_at, nowMs),
    rank: 1,
  },
  { name: 'submitted at (UTC)', key: 'submitted_at', value: (it) => it.created_at, wide: true },
  { name: 'ended at (UTC)', key: 'ended_at', value: (it) => it.ended_at, wide: true },
];

export function studiesCommand(): Command {
  return clientCommand('studies', 'list studies, oldest first', LIST_FORMATS)
    .addOption(statusOption(BATCH_STATUSES))
    .option('--name <names>', 'only studies of these names', texts)
    .option('--label <key=value>', 'only studies with this label, and each further one', labelTexts)
    .option('--owner <names>', 'only studies of these owners', texts)
    .option('--mine', 'only studies of the client that asks, by the name of its token')
    .action(async (flags: BatchesFlags) => {
      const client = await connect(flags);
      const { status = [], name = [], label = [], owner = [], mine } = flags;
      const batches = client.batches({ status, name, label, owner, ...(mine === true && { mine: 'true' }) });
      const filters = {
        '--status': flags.status,
        '--name': flags.name,
        '--label': flags.label,
        '--owner': flags.owner,
        '--mine': mine,
      };
      await printList(flags.format, batches, {
        columns: studyColumns(systemClock.now()),
        nameOf: ({ id }) => id,
        none: emptyList({ plural: 'studies', remedy: SUBMIT, filters }),
      });
    });
}
