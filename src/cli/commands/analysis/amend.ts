/** `simbatch amend`: other requirements, outputs and labels of a study, for the runs that it has. Nothing is executed. */
import type { Command } from 'commander';
import { randomUuid, systemClock } from '../../../base/clock.ts';
import { given } from '../../../base/given.ts';
import { ApiError } from '../../../client/client.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import type { Judgement, JudgementRequest } from '../../../contract/types.ts';
import { AMENDED } from '../../../domain/identity/members.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { readTextFile } from '../../study/check-study.ts';
import { readStudyText } from '../../study/study-file.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { plural, printable } from '../../terminal/format.ts';
import { writeJson, writeLine } from '../../terminal/output.ts';

interface AmendFlags extends ClientFlags {
  revision?: number;
  idempotencyKey?: string;
}

export function amendCommand(): Command {
  return clientCommand('amend', 'judge the runs of a study by other requirements', ['table', 'json'])
    .argument('<study>', BATCH_ARGUMENT)
    .argument('<file>', 'YAML or JSON with `requirements`, `outputs` or `labels`, - for standard input')
    .option('--revision <n>', 'amend only this revision of the judgement', integerBetween(0, INT32_MAX))
    .option('--idempotency-key <key>', 'a repeat with this key amends nothing again (for 24 hours)')
    .action(async (reference: string, file: string, flags: AmendFlags) => {
      const request = { ...amendmentIn(file, await readTextFile(file)), ...given({ revision: flags.revision }) };
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      const idempotencyKey = flags.idempotencyKey ?? randomUuid(systemClock);
      const answer = await client.changes.amend(batchId, request, { idempotencyKey }).catch((error: unknown) => {
        throw withFaults(error);
      });
      if (flags.format === 'json') return writeJson(answer);
      for (const line of judgementLines(answer)) await writeLine(line);
    });
}

/** The members of an amendment that a file gives. Other members would be ignored silently, so they are refused. */
function amendmentIn(file: string, text: string): JudgementRequest {
  const { value, faults } = readStudyText(text);
  const [fault] = faults;
  if (fault !== undefined) throw new Failure(EXIT.invalid, `${file}:${fault.line}:${fault.column}: ${fault.detail}`);
  const members = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  const other = members.find((it) => !(AMENDED as readonly string[]).includes(it));
  if (other !== undefined || members.length === 0) {
    const has = other === undefined ? 'has no member' : `has the member ${JSON.stringify(other)}`;
    throw new Failure(
      EXIT.invalid,
      `${file} ${has}; an amendment has ${AMENDED.join(', ')} alone, and a whole study file is continued by simbatch submit --continue`,
    );
  }
  return value as JudgementRequest;
}

function withFaults(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.faults.length === 0) return error;
  const lines = error.faults.map((fault) => `  ${printable(fault.pointer)} ${printable(fault.detail)}`);
  return new Failure(EXIT.invalid, `the coordinator refused the amendment: ${plural(lines.length, 'fault')}`, lines);
}

/** The judgement in force, a line for each requirement. */
function judgementLines({ batch_id: id, revision, requirements, labels, outputs }: Judgement): string[] {
  const texts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [
    `study ${id} has revision ${revision} of its judgement: ${plural(requirements.length, 'requirement')}, ${plural(Object.keys(outputs).length, 'declared output')}, ${plural(texts.length, 'label')}`,
    ...requirements.map(({ name, stated_at: { runs_ended: runs, time } }) => {
      const when = runs === 0 ? 'before any run had ended' : `when ${plural(runs, 'run')} had ended`;
      return `  ${printable(name)}: stated ${when}, ${time}`;
    }),
    ...(texts.length === 0 ? [] : [`  labels: ${printable(texts.join(', '))}`]),
  ];
}
