/** `simbatch replay`: executes a run of the coordinator again on this machine, without reporting. */
import type { Command } from 'commander';
import { executeLocally, localCommand } from './local-run.ts';
import type { LocalOptions } from './local-run.ts';
import { connect, endpointOption } from '../../options.ts';
import { JOB_ARGUMENT, resolveJob } from '../../study/references.ts';

export function replayCommand(): Command {
  return localCommand('replay', 'execute a run again on this machine, without reporting anything')
    .argument('<run>', `the run, of any state: ${JOB_ARGUMENT}`)
    .addOption(endpointOption())
    .action(async (reference: string, options: LocalOptions & { endpoint?: string }) => {
      const client = await connect(options);
      const job = await client.job(await resolveJob(client, reference));
      await executeLocally(job.run_config, await client.submission(job.batch_id), options);
    });
}
