/** Resolves references to studies and runs: ids, prefixes of a study's id, `latest`, and `STUDY/RUN` for a run. */
import type { Client } from '../../client/client.ts';
import { newestBatches } from '../../client/newest-batches.ts';
import { batchIdOf, isBatchId, isJobId, jobId } from '../../domain/ids.ts';
import type { Batch, Uuid } from '../../contract/types.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

/** Help text of an argument that references a study. */
export const BATCH_ARGUMENT = 'id of a study, the beginning of one, or `latest`';
export const JOB_ARGUMENT = 'STUDY/RUN such as latest/17, or the id of a run';

const HEX_PREFIX = /^[0-9a-f][0-9a-f-]{3,35}$/i;

/** True for a text that may name a study. */
export const isBatchReference = (reference: string): boolean =>
  reference.toLowerCase() === 'latest' || HEX_PREFIX.test(reference);

/** @throws Failure when the reference matches no study or more than one */
export async function resolveBatch(client: Client, reference: string): Promise<Uuid> {
  const wanted = reference.toLowerCase();
  if (isBatchId(wanted)) return wanted;
  if (isJobId(wanted))
    throw new Failure(EXIT.usage, `${reference} is the id of a run; its study is ${batchIdOf(wanted)}`);
  if (!isBatchReference(wanted)) {
    throw new Failure(EXIT.missing, `"${reference}" names no study: give its id, the beginning of its id, or latest`);
  }
  if (wanted === 'latest') return resolveLatest(client);
  const matches: Batch[] = [];
  for await (const batch of client.batches()) {
    if (batch.id.startsWith(wanted)) matches.push(batch);
    if (matches.length > 1) break;
  }
  const [found] = matches;
  if (found === undefined) {
    throw new Failure(EXIT.missing, `there is no study whose id begins with ${wanted}; simbatch studies lists them`);
  }
  if (matches.length > 1)
    throw new Failure(
      EXIT.usage,
      `more than one study id begins with ${wanted}: ${matches.map(({ id, name }) => `${id} (${name})`).join(', ')}; give more of it`,
    );
  return found.id;
}

async function resolveLatest(client: Client): Promise<Uuid> {
  const [latest] = await newestBatches(client, 1);
  if (latest === undefined) throw new Failure(EXIT.missing, 'there is no study yet: submit one first');
  return latest.id;
}

/** @throws Failure when the text is not a reference to a run */
export async function resolveJob(client: Client, reference: string): Promise<Uuid> {
  const wanted = reference.toLowerCase();
  if (isJobId(wanted)) return wanted;
  if (isBatchId(wanted))
    throw new Failure(EXIT.usage, `${reference} is the id of a study; for one of its runs write ${reference}/RUN`);
  const [, batch, run] = /^(.+)\/(\d{1,10})$/.exec(wanted) ?? [];
  if (batch === undefined || run === undefined) {
    throw new Failure(EXIT.missing, `"${reference}" names no run: give its id, or STUDY/RUN such as latest/17`);
  }
  return jobId(await resolveBatch(client, batch), Number(run));
}

/** Resolves the argument of `cancel`: a study, or a run. */
export async function resolveEither(client: Client, reference: string): Promise<{ batchId: Uuid } | { jobId: Uuid }> {
  if (isJobId(reference.toLowerCase()) || reference.includes('/'))
    return { jobId: await resolveJob(client, reference) };
  return { batchId: await resolveBatch(client, reference) };
}
