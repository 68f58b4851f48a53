/** `simbatch replay`: executes a run of the coordinator again on this machine, without reporting. */
import { Command, Option } from 'commander';
import { executeLocally, withLocalOptions } from './local-run.ts';
import type { LocalOptions } from './local-run.ts';
import { connect, DEFAULT_ENDPOINT } from '../../options.ts';
import { JOB_ARGUMENT, resolveJob } from '../../study/references.ts';

export function replayCommand(): Command {
  const command = new Command('replay')
    .description("execute a job's run again on this machine, without reporting anything")
    .argument('<run>', `the job, of any state: ${JOB_ARGUMENT}`)
    .addOption(
      new Option('--endpoint <url>', `the coordinator's address (default: "${DEFAULT_ENDPOINT}")`).env('SVC_ENDPOINT'),
    );
  return withLocalOptions(command).action(async (reference: string, options: LocalOptions & { endpoint?: string }) => {
    const client = await connect(options);
    const job = await client.job(await resolveJob(client, reference));
    await executeLocally(job.run_config, await client.submission(job.batch_id), options);
  });
}
