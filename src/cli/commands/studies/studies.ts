/** `simbatch studies`: lists the studies of the coordinator, oldest first. */
import type { Command } from 'commander';
import { BATCH_STATUSES } from '../../../contract/enums.ts';
import type { Batch, BatchStatus } from '../../../contract/types.ts';
import { formatTimestamp } from '../../terminal/format.ts';
import { statusOption, clientCommand, connect, labelTexts, texts, type ClientFlags } from '../../options.ts';
import { emptyList, SUBMIT } from '../../terminal/empty-list.ts';
import { note, writeJsonArray } from '../../terminal/output.ts';
import { writeTable, type Column } from '../../terminal/table.ts';

interface BatchesFlags extends ClientFlags {
  status?: BatchStatus[];
  name?: string[];
  label?: string[];
}

const COLUMNS: readonly Column[] = [
  { name: 'batch' },
  { name: 'name' },
  { name: 'status' },
  { name: 'runs', align: 'right' },
  { name: 'completed', align: 'right' },
  { name: 'failed', align: 'right' },
  { name: 'submitted (UTC)' },
];

export function studiesCommand(): Command {
  return clientCommand('studies', 'list studies, oldest first')
    .addOption(statusOption(BATCH_STATUSES))
    .option('--name <names>', 'only studies of these names', texts)
    .option('--label <key=value>', 'only studies with this label, and each further one', labelTexts)
    .action(async (flags: BatchesFlags) => {
      const client = await connect(flags);
      const batches = client.batches({ status: flags.status ?? [], name: flags.name ?? [], label: flags.label ?? [] });
      if (flags.output === 'json') return writeJsonArray(batches);
      const count = await writeTable(COLUMNS, rows(batches));
      if (count > 0) return undefined;
      const filters = { '--status': flags.status, '--name': flags.name, '--label': flags.label };
      return note(emptyList({ plural: 'batches', remedy: SUBMIT, filters }));
    });
}

async function* rows(batches: AsyncIterable<Batch>): AsyncGenerator<(string | number)[]> {
  for await (const batch of batches) {
    const { id, name, status, total_jobs, completed_jobs, failed_jobs } = batch;
    yield [id, name, status, total_jobs, completed_jobs, failed_jobs, formatTimestamp(batch.created_at)];
  }
}
