/** `simbatch audit`: repeats a drawn part of the runs of a study on other runners, and shows the comparison. */
import { InvalidArgumentError, type Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import type { AuditAnswer, AuditRequest, Uuid } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { auditLines } from '../../progress/audit-lines.ts';
import { plural, shortId } from '../../terminal/format.ts';
import { writeJson, writeText } from '../../terminal/output.ts';
import { create, CREATED, type CreateFlags } from './growth.ts';

interface AuditFlags extends CreateFlags {
  fraction?: number;
  reused?: number;
  seed?: number;
}

export function auditCommand(): Command {
  return clientCommand(
    'audit',
    'repeat a drawn part of the runs on other runners; or show what a spot check found',
    CREATED,
  )
    .argument('<study>', `${BATCH_ARGUMENT}: a study to check, or a spot check`)
    .option('--fraction <part>', 'the part of the finished runs to repeat, above 0 and up to 1, e.g. 0.02', fraction)
    .option('--reused <part>', 'the part of the runs to execute that have results of other runs, e.g. 0.05', fraction)
    .option('--seed <n>', 'determines which runs are drawn', integerBetween(0, INT32_MAX))
    .option('--name <name>', 'name of the spot check; otherwise that of the study')
    .option('--watch', 'follow the spot check to its end; the exit code gives its outcome')
    .option('--strict', 'with --watch: exit with 3 when it is Completed but runs failed')
    .option('--idempotency-key <key>', 'a repeat with this key creates nothing again (for 24 hours)')
    .action(async (reference: string, flags: AuditFlags) => {
      const { fraction: part, reused } = flags;
      if (part !== undefined && reused !== undefined)
        throw new Failure(
          EXIT.usage,
          '--fraction draws from all finished runs, --reused from those that were not executed: give one',
        );
      if (part !== undefined) return start(reference, flags, { fraction: part });
      if (reused !== undefined) return start(reference, flags, { fraction: reused, reused: true });
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      return show(await client.auditAnswer(await auditOf(client, batchId)), flags);
    });
}

function fraction(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1)) throw new InvalidArgumentError('It must be a number above 0 and up to 1.');
  return value;
}

function start(reference: string, flags: AuditFlags, part: Pick<AuditRequest, 'fraction' | 'reused'>): Promise<void> {
  return create(reference, flags, async (client, batchId, options) => {
    const request = {
      ...part,
      ...(flags.seed === undefined ? {} : { seed: flags.seed }),
      ...(flags.name === undefined ? {} : { name: flags.name }),
    };
    const answer = await client.auditBatch(batchId, request, options);
    const drawn = `${plural(answer.total_jobs, 'run')} of ${batchId} drawn with seed ${answer.seed}`;
    const lines = [
      `${drawn}, submitted again as study ${answer.batch_id}`,
      `see what differs: simbatch audit ${shortId(answer.batch_id)}`,
    ];
    return { answer, lines };
  });
}

/** The audit that a reference means: itself, or the latest audit of a study. */
async function auditOf(client: Client, batchId: Uuid): Promise<Uuid> {
  const { parent, children = [] } = (await client.batch(batchId)).batch;
  if (parent?.relation === 'audit') return batchId;
  const latest = children.findLast(({ relation }) => relation === 'audit');
  if (latest !== undefined) return latest.batch_id;
  throw new Failure(EXIT.usage, `study ${batchId} has no spot check: start one with --fraction, e.g. --fraction 0.02`);
}

async function show(answer: AuditAnswer, flags: ClientFlags): Promise<void> {
  if (answer.differing > 0) process.exitCode = EXIT.requirementViolated;
  if (flags.format === 'json') return writeJson(answer);
  await writeText(auditLines(answer, flags.format));
}
