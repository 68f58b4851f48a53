/** `simbatch watch` and `submit --watch`: follows a study to its end; the exit code gives its outcome. */
import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import type { BatchStatusResponse, Finding, Uuid } from '../../../contract/types.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { destination } from '../../terminal/destination.ts';
import { writeJson, writeLine, writeText } from '../../terminal/output.ts';
import { follow, type Following } from '../../progress/follow.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { failureLines, verdictLines, precisionLines } from '../../study/answer-text.ts';
import { auditLines } from '../../progress/audit-lines.ts';
import { answerLines, answerOf, stepLines } from '../../progress/answer-line.ts';
import { failuresOf, outcomeLine, reasonLines } from '../../progress/outcome.ts';
import { declaredPrecision, declaredVerdicts, verdictExitCode } from '../../study/verdicts.ts';
import { findingLines, isDoubtful } from '../../study/findings.ts';

export interface WatchFlags extends ClientFlags {
  strict?: boolean;
}

export function watchCommand(): Command {
  return clientCommand('watch', 'follow a study to its end', ['table', 'json', 'name'])
    .argument('<study>', BATCH_ARGUMENT)
    .option('--strict', 'exit with 3 when the study is Completed but runs failed or its limits were not really checked')
    .action(async (reference: string, flags: WatchFlags) => {
      const client = await connect(flags);
      process.exitCode = await watchBatch(client, await resolveBatch(client, reference), flags);
    });
}

/** Follows the study, prints its outcome and returns the exit code. */
export async function watchBatch(
  client: Client,
  batchId: Uuid,
  flags: WatchFlags,
  following: Following = {},
): Promise<ExitCode> {
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    // On a pipe the sentence is the first line and the last one.
    const isPiped = isTable(flags) && following.isSilent !== true && destination().isTTY !== true;
    if (isPiped) await writeText(answerLines(await answerOf(client, batchId)));
    const status = await follow(client, batchId, interrupted.signal, following);
    const answer = await answerOf(client, batchId);
    const doubts = (await client.findings(batchId)).filter(isDoubtful);
    const requirements = await declaredVerdicts(client, status);
    const precision = await declaredPrecision(client, status);
    const audit = status.batch.parent?.relation === 'audit' ? await client.auditAnswer(batchId) : undefined;
    if (flags.format === 'json')
      await writeJson({ ...status, answer, findings: doubts, requirements, precision, audit });
    else if (flags.format === 'name') await writeLine(batchId);
    else {
      const failures = await failuresOf(client, status);
      await writeText([
        ...(isPiped ? [] : answerLines(answer)),
        outcomeLine(status),
        ...reasonLines(status),
        ...failureLines({ failures }),
        ...verdictLines(requirements, { headline: answer?.sentence }),
        ...precisionLines(precision),
        ...(audit === undefined ? [] : auditLines(audit, flags.format)),
        ...findingLines(doubts),
        ...stepLines(answer),
        ...(isPiped ? answerLines(answer) : []),
      ]);
    }
    const verdicts = [
      ...requirements.map((it) => it.verdict ?? 'none'),
      ...precision.map((it) => (it.state === 'reached' ? 'met' : 'not-shown')),
      // Other outputs than before are the violation that a spot check looks for.
      ...(audit === undefined || audit.differing === 0 ? [] : ['violated']),
    ];
    return exitCodeOf(status, verdicts, doubts, flags.strict ?? false);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

const isTable = ({ format }: WatchFlags): boolean => format !== 'json' && format !== 'name';

/** The verdicts count before `--strict`: a violated requirement is the answer to what the study asks. A failed canary is a failed study. */
export function exitCodeOf(
  { batch }: BatchStatusResponse,
  verdicts: readonly string[],
  doubts: readonly Finding[],
  strict: boolean,
): ExitCode {
  const code = verdictExitCode(verdicts);
  if (code === EXIT.requirementViolated) return code;
  const hasFailed = batch.status === 'Failed' || batch.status === 'Cancelled' || batch.canary_failed === true;
  if (hasFailed) return EXIT.studyFailed;
  if (code !== EXIT.ok) return code;
  return strict && (batch.failed_jobs > 0 || doubts.length > 0) ? EXIT.runsFailed : EXIT.ok;
}
