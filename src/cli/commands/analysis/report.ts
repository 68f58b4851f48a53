/** `simbatch report`: one HTML file about a study, with everything that a reader has to know. */
import type { Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import { packageVersion } from '../../../base/package.ts';
import type { Client } from '../../../client/client.ts';
import type { Uuid } from '../../../contract/types.ts';
import type { ReportSource } from '../../../report/collect.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { destination } from '../../terminal/destination.ts';
import { note, write } from '../../terminal/output.ts';

export function reportCommand(): Command {
  return clientCommand('report', 'write a report of a study: one HTML file for the screen and for paper', ['html'])
    .argument('<study>', BATCH_ARGUMENT)
    .option(
      '--evidence',
      'the evidence for a review instead: its inputs, code, checks, limits, and the factors of NASA-STD-7009',
    )
    .action(async (reference: string, flags: ClientFlags & { file?: string; evidence?: boolean }) => {
      if (destination().isTTY === true)
        throw new Failure(EXIT.usage, 'a report is a file and not for a terminal: give -o report.html');
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      const origin = {
        generatedAt: new Date(systemClock.now()).toISOString(),
        endpoint: client.endpoint,
        version: packageVersion,
      };
      if (flags.evidence === true) {
        const [evidence, { evidenceHtml }] = await Promise.all([
          client.analysis.ask('evidence', batchId),
          import('../../../report/evidence.ts'),
        ]);
        return write(evidenceHtml(evidence, origin));
      }
      const [{ collectReport }, { reportHtml }] = await Promise.all([
        import('../../../report/collect.ts'),
        import('../../../report/report.ts'),
      ]);
      const data = await collectReport(sourceOf(client, batchId));
      for (const part of data.absent) note(`warning: this part of the report is missing: ${part}`);
      await write(reportHtml(data, origin));
    });
}

/** The questions of a report, asked of a coordinator. */
function sourceOf(client: Client, batchId: Uuid): ReportSource {
  const { analysis } = client;
  return {
    answer: () => analysis.ask('answer', batchId),
    status: () => client.batch(batchId),
    submission: () => client.submission(batchId),
    history: () => client.batchHistory(batchId),
    findings: () => client.findings(batchId),
    runners: () => client.runners(),
    codeVersions: () => client.analysis.codeVersions(batchId),
    summary: () => analysis.ask('summary', batchId),
    verdicts: (by) => analysis.ask('verdicts', batchId, by.length === 0 ? {} : { by: [...by] }),
    distributions: () => analysis.ask('distributions', batchId),
    attribution: () => analysis.ask('attribution', batchId),
    sensitivity: (output) => analysis.ask('sensitivity', batchId, { output }),
    convergence: (output) => analysis.ask('convergence', batchId, { output }),
    band: (history) => analysis.ask('band', batchId, { history }),
    pbox: (output) => analysis.ask('pbox', batchId, { output }),
    worst: (output, direction) => analysis.ask('worst', batchId, { output, k: 5, direction }),
  };
}
