/** `simbatch replay`: fetches a job of the coordinator and executes its run here, reporting nothing. */
import { Command } from 'commander';
import { Client } from '../client.ts';
import { executeLocally, withLocalOptions } from './local-run.ts';
import type { LocalOptions } from './local-run.ts';

export function replayCommand(): Command {
  const command = new Command('replay')
    .description("execute a job's run again on this machine, without reporting anything")
    .argument('<job_id>', 'the job, of any state')
    .option('--endpoint <address>', 'address of the coordinator (default: http://127.0.0.1:7070) [SVC_ENDPOINT]');
  return withLocalOptions(command).action(async (jobId: string, options: LocalOptions & { endpoint?: string }) => {
    const endpoint = options.endpoint ?? process.env['SVC_ENDPOINT'] ?? 'http://127.0.0.1:7070';
    const token = process.env['SVC_TOKEN'];
    const client = new Client({ endpoint, ...(token === undefined ? {} : { token }) });
    const job = await client.job(jobId);
    const { config } = await client.submission(job.batch_id);
    await executeLocally(job.run_config, config, options);
  });
}
