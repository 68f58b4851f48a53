/** `simbatch cancel` cancels a study or one run; `simbatch delete` removes a study that has ended. */
import type { Command } from 'commander';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { writeJson, writeLine } from '../../terminal/output.ts';
import { BATCH_ARGUMENT, JOB_ARGUMENT, resolveBatch, resolveEither } from '../../study/references.ts';

export function cancelCommand(): Command {
  return clientCommand('cancel', 'cancel a study or one run; running simulations are killed')
    .argument('<batch|job>', `${BATCH_ARGUMENT}; or ${JOB_ARGUMENT}`)
    .option('--reason <text>', 'kept with what was cancelled')
    .action(async (reference: string, flags: ClientFlags & { reason?: string }) => {
      const client = await connect(flags);
      const target = await resolveEither(client, reference);
      const cancelled =
        'jobId' in target
          ? await client.cancelJob(target.jobId, flags.reason)
          : await client.cancelBatch(target.batchId, flags.reason);
      if (flags.output === 'json') return writeJson(cancelled);
      const what = 'jobId' in target ? 'job' : 'batch';
      await writeLine(`${what} ${cancelled.id} is ${cancelled.status}`);
    });
}

export function deleteCommand(): Command {
  return clientCommand('delete', 'delete a study that has ended, with its runs and results, for ever')
    .argument('<batch>', BATCH_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const batch = await client.deleteBatch(await resolveBatch(client, reference));
      if (flags.output === 'json') return writeJson(batch);
      return writeLine(`batch ${batch.id} is deleted`);
    });
}
