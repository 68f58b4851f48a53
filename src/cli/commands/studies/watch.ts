/** `simbatch watch` and `submit --watch`: follows a study to its end; the exit code gives its outcome. */
import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import type { BatchStatusResponse, Finding, Uuid } from '../../../contract/types.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { plural } from '../../terminal/format.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { follow, formatCounts } from '../../terminal/progress.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { verdictLines } from '../../study/answer-text.ts';
import { declaredVerdicts, verdictExitCode } from '../../study/verdicts.ts';
import { findingLines, isDoubtful } from '../../study/findings.ts';

export interface WatchFlags extends ClientFlags {
  strict?: boolean;
}

export function watchCommand(): Command {
  return clientCommand('watch', 'follow a batch to its end')
    .argument('<batch>', BATCH_ARGUMENT)
    .option('--strict', 'exit with 3 when the study is Completed but runs failed or its limits were not really checked')
    .action(async (reference: string, flags: WatchFlags) => {
      const client = await connect(flags);
      process.exitCode = await watchBatch(client, await resolveBatch(client, reference), flags);
    });
}

/** Follows the study, prints its outcome and returns the exit code. */
export async function watchBatch(client: Client, batchId: Uuid, flags: WatchFlags): Promise<ExitCode> {
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    await explainDelay(client, batchId);
    const status = await follow(client, batchId, interrupted.signal);
    const doubts = (await client.findings(batchId)).filter(isDoubtful);
    const requirements = await declaredVerdicts(client, status);
    if (flags.output === 'json') await writeJson({ ...status, findings: doubts, requirements });
    else
      for (const line of [...endLines(status), ...verdictLines(requirements), ...findingLines(doubts)])
        await writeLine(line);
    const verdicts = requirements.map((it) => it.verdict);
    return exitCodeOf(status, verdicts, doubts, flags.strict ?? false);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

/** Prints why a watched study cannot start. */
async function explainDelay(client: Client, batchId: Uuid): Promise<void> {
  const findings = await client.findings(batchId);
  for (const line of findingLines(findings.filter(({ severity }) => severity === 'blocked'))) note(line);
}

/** Returns the outcome of a study and the next commands. */
export function endLines({ batch, jobs_by_status: counts }: BatchStatusResponse): string[] {
  const lines = [`${batch.name}: ${batch.status} - ${formatCounts(counts)}`];
  const ended = batch.settled_at_run_id === undefined ? 'cancelled' : 'stopped';
  if (batch.cancel_reason !== undefined) lines.push(`${ended}: ${batch.cancel_reason}`);
  if (batch.terminated_jobs !== undefined)
    lines.push(`${batch.terminated_jobs} of the failed runs met an early-termination condition: answers, not faults`);
  if (batch.failed_jobs > 0) {
    lines.push(`${plural(batch.failed_jobs, 'run')} failed: simbatch runs --batch ${batch.id} --status Failed,Timeout`);
  }
  if (batch.completed_jobs > 0) lines.push(`results: simbatch summary ${batch.id}`);
  return lines;
}

/** The verdicts count before `--strict`: a violated requirement is the answer to what the study asks. */
export function exitCodeOf(
  { batch }: BatchStatusResponse,
  verdicts: readonly string[],
  doubts: readonly Finding[],
  strict: boolean,
): ExitCode {
  const code = verdictExitCode(verdicts);
  if (code === EXIT.requirementViolated) return code;
  if (batch.status === 'Failed' || batch.status === 'Cancelled') return EXIT.studyFailed;
  if (code !== EXIT.ok) return code;
  return strict && (batch.failed_jobs > 0 || doubts.length > 0) ? EXIT.runsFailed : EXIT.ok;
}
