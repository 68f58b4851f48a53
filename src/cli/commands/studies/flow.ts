/** `simbatch pause` and `release`, and `resume` of a study: the flow of its runs. */
import type { Command } from 'commander';
import { ApiError, type Client } from '../../../client/client.ts';
import type { Batch, Runner } from '../../../contract/types.ts';
import { isBatchId } from '../../../domain/ids.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, isBatchReference, resolveBatch } from '../../study/references.ts';
import { ledStudies } from '../../progress/led-studies.ts';
import { printable } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { showRunner } from '../pool/runners.ts';

const FLOW = ['table', 'json', 'name'] as const;

export function pauseCommand(): Command {
  return clientCommand('pause', 'assign no new runs of a study; running ones continue', FLOW)
    .argument('<study>', BATCH_ARGUMENT)
    .option('--reason <text>', 'the reason, shown with the study')
    .action(async (reference: string, flags: ClientFlags & { reason?: string }) => {
      const client = await connect(flags);
      return showFlow(await client.pauseBatch(await resolveBatch(client, reference), flags.reason), flags);
    });
}

export function releaseCommand(): Command {
  return clientCommand('release', 'assign the runs that wait for the canary runs or the canary study of a study', FLOW)
    .argument('<study>', BATCH_ARGUMENT)
    .option('--reason <text>', 'the reason, shown with the study')
    .action(async (reference: string, flags: ClientFlags & { reason?: string }) => {
      const client = await connect(flags);
      return showFlow(await client.releaseBatch(await resolveBatch(client, reference), flags.reason), flags);
    });
}

export function resumeCommand(): Command {
  return clientCommand('resume', 'assign runs of a paused study again, or let a drained runner take work again', FLOW)
    .argument('<study|runner>', `${BATCH_ARGUMENT}; or runner id`)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const runner = await resumedRunner(client, reference);
      if (runner !== undefined) return showRunner(runner, flags);
      return showFlow(await client.resumeBatch(await resolveBatch(client, reference)), flags);
    });
}

/** Resumes the runner of this id; undefined when there is none and the reference may name a study. */
async function resumedRunner(client: Client, reference: string): Promise<Runner | undefined> {
  if (isBatchId(reference.toLowerCase())) return undefined;
  try {
    return await client.resume(reference);
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.code === 'unknown-runner';
    if (isUnknown && isBatchReference(reference)) return undefined;
    throw error;
  }
}

async function showFlow(batch: Batch, flags: ClientFlags): Promise<void> {
  if (flags.format === 'json') return writeJson(batch);
  if (flags.format === 'name') return writeLine(batch.id);
  const reason = batch.pause_reason === undefined ? '' : `: ${printable(batch.pause_reason)}`;
  await writeLine(`study ${batch.id} is ${batch.status}${batch.paused === true ? `, paused${reason}` : ''}`);
  for (const id of ledStudies(batch))
    note(`the same holds for study ${id}, which was submitted with it, unless that has ended`);
}
