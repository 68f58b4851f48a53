/** `simbatch cancel` cancels a study or one run; `simbatch delete` removes a study that has ended. */
import type { Command } from 'commander';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { plural, printable, shortId } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { BATCH_ARGUMENT, JOB_ARGUMENT, resolveBatch, resolveEither } from '../../study/references.ts';
import { ledStudies, withLed } from '../../progress/led-studies.ts';
import { doneOf } from '../../progress/progress-text.ts';
import type { Client } from '../../../client/client.ts';
import type { BatchStatusResponse, Uuid } from '../../../contract/types.ts';

interface CancelFlags extends ClientFlags {
  reason?: string;
  yes?: boolean;
}

const OUTPUTS = ['table', 'json', 'name'] as const;

export function cancelCommand(): Command {
  return clientCommand('cancel', 'cancel a study or one run; running simulations are killed', OUTPUTS)
    .argument('<study|run>', `${BATCH_ARGUMENT}; or ${JOB_ARGUMENT}`)
    .option('--reason <text>', 'kept with what was cancelled')
    .option(...YES_OPTION)
    .action(async (reference: string, flags: CancelFlags) => {
      const client = await connect(flags);
      const target = await resolveEither(client, reference);
      return 'jobId' in target ? cancelRun(client, target.jobId, flags) : cancelStudy(client, target.batchId, flags);
    });
}

async function cancelStudy(client: Client, batchId: Uuid, flags: CancelFlags): Promise<void> {
  const status = await client.batch(batchId);
  const led = await Promise.all(ledStudies(status.batch).map((it) => client.batch(it)));
  const open = [status, ...led].filter(({ batch: it }) => it.status === 'Pending' || it.status === 'Running');
  const runs = open.reduce((sum, it) => sum + it.batch.total_jobs - doneOf(it.jobs_by_status), 0);
  // Nothing changes in a study that has ended.
  if (open.length > 0)
    await confirm(
      `cancel ${studyText(status)}${withLed(status.batch)}: ${plural(runs, 'run')} that have not ended`,
      flags.yes,
    );
  const cancelled = await client.cancelBatch(batchId, flags.reason);
  if (flags.format === 'json') return writeJson(cancelled);
  if (flags.format === 'name') return writeLine(batchId);
  await writeLine(`study ${batchId} is ${cancelled.status}`);
  const others = open.filter(({ batch: it }) => it.id !== batchId);
  for (const { batch: it } of others) note(`study ${it.id}, which was submitted with it, is cancelled too`);
}

async function cancelRun(client: Client, jobId: Uuid, flags: CancelFlags): Promise<void> {
  const job = await client.job(jobId);
  const name = `${job.batch_id}/${job.run_config.run_id}`;
  if (job.completed_at === undefined) await confirm(`cancel run ${name}, which is ${job.status}`, flags.yes);
  const cancelled = await client.cancelJob(jobId, flags.reason);
  if (flags.format === 'json') return writeJson(cancelled);
  return writeLine(flags.format === 'name' ? name : `run ${name} is ${cancelled.status}`);
}

/** `study 01a1fd51-c34f "recovery area"`. */
const studyText = ({ batch }: BatchStatusResponse): string =>
  `study ${shortId(batch.id)} "${printable(batch.name, 40)}"`;

export function deleteCommand(): Command {
  return clientCommand('delete', 'delete a study that has ended, with its runs and results, for ever', OUTPUTS)
    .argument('<study>', BATCH_ARGUMENT)
    .option(...YES_OPTION)
    .action(async (reference: string, flags: ClientFlags & { yes?: boolean }) => {
      if (reference.toLowerCase() === 'latest' && flags.yes !== true)
        throw new Failure(
          EXIT.usage,
          'did not delete latest: another study may have become the latest; give its id, or add --yes',
        );
      const client = await connect(flags);
      const status = await client.batch(await resolveBatch(client, reference));
      const { batch } = status;
      const { total_jobs: runs } = batch;
      // A study that has not ended is refused by the coordinator.
      if (batch.status !== 'Pending' && batch.status !== 'Running')
        await confirm(`delete ${studyText(status)} with ${plural(runs, 'run')} and all results, for ever`, flags.yes);
      const deleted = await client.deleteBatch(batch.id);
      if (flags.format === 'json') return writeJson(deleted);
      return writeLine(flags.format === 'name' ? deleted.id : `study ${deleted.id} is deleted`);
    });
}
