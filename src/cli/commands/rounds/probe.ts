/** `simbatch probe`: executes a study with each input alone at its ends, and shows which inputs reach the outputs. */
import type { Command } from 'commander';
import { randomUuid, systemClock } from '../../../base/clock.ts';
import type { Client } from '../../../client/client.ts';
import type { JobResult, Uuid } from '../../../contract/types.ts';
import { probeFault, probePlan, type ProbePlan } from '../../../domain/probe/plan.ts';
import { idleInputs, probeTable, type ProbedEnd, type ProbeRow, type ProbeTable } from '../../../domain/probe/table.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { loadStudy } from '../../study/check-study.ts';
import { formatNumber, plural, printable } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { renderTable, tableOptions, type Column } from '../../terminal/table.ts';
import { waitFor } from './append.ts';

interface ProbeFlags extends ClientFlags {
  corners?: boolean;
}

/** The key of the only round of a probe. */
const ROUND_KEY = 'probe';
/** Outputs that have a column; -o json has them all. */
const MOST_OUTPUTS = 3;

export function probeCommand(): Command {
  return clientCommand('probe', 'execute a study with each input alone low and high; show what it changes')
    .argument('<study>', 'the study file, - for standard input')
    .option('--corners', 'also a run with all inputs low, and a run with all inputs high')
    .action(async (file: string, flags: ProbeFlags) => {
      const { submission, named } = await loadStudy(file);
      const fault = probeFault(submission);
      if (fault !== undefined) throw new Failure(EXIT.invalid, `${named(fault.pointer)} ${fault.detail}`);
      const plan = probePlan(submission, flags.corners === true);
      const client = await connect(flags);
      const { batchId, table } = await execute(client, plan);
      const idle = idleInputs(table);
      if (idle.length > 0) process.exitCode = EXIT.inputWithoutEffect;
      if (flags.output === 'json') return writeJson({ batch_id: batchId, ...table });
      await writeLine(renderTable(columnsOf(table), rowsOf(table), tableOptions(flags.output)));
      for (const line of sentences(table, idle)) await writeLine(printable(line));
    });
}

/** Submits the probe, waits for its runs, and compares them. */
async function execute(client: Client, plan: ProbePlan): Promise<{ batchId: Uuid; table: ProbeTable }> {
  const idempotencyKey = randomUuid(systemClock);
  const { batch_id: batchId } = await client.submit(plan.submission, { idempotencyKey });
  note(`submitted ${plural(plan.rows.length, 'run')} as study ${batchId}`);
  const draws = plan.rows.map(() => 0);
  const { round } = await client.rounds.append(batchId, { key: ROUND_KEY, rows: [...plan.rows], draws });
  await client.rounds.close(batchId);
  const { results } = await waitFor(client, batchId, round);
  const reads = new Map<number, JobResult['parameters_read']>();
  for await (const result of client.batchResults(batchId)) reads.set(result.run_id, result.parameters_read);
  const runs = results.map((it) => {
    const read = reads.get(it.run_id);
    const run = { run_id: it.run_id, class: it.class, outputs: it.outputs };
    return read === undefined ? run : { ...run, parameters_read: read };
  });
  return { batchId, table: probeTable(plan, runs) };
}

/** The outputs that have a column: those of the nominal run, else of the others. */
function outputsIn({ nominal, inputs }: ProbeTable): string[] {
  const changed = inputs.flatMap(({ at_low, at_high }) => [...at_low.changes, ...at_high.changes]);
  const names = [...Object.keys(nominal.outputs), ...changed.map(({ output }) => output)];
  return [...new Set(names)].filter((name) => !name.startsWith('simbatch_')).slice(0, MOST_OUTPUTS);
}

const columnsOf = (table: ProbeTable): readonly Column[] => [
  { name: 'input', shrink: 12 },
  { name: 'read', tone: (text) => (text === 'never' ? 'bad' : undefined) },
  { name: 'effect', tone: (text) => (text === 'none' ? 'bad' : undefined) },
  { name: 'low', align: 'right', rank: 2 },
  { name: 'high', align: 'right', rank: 2 },
  ...outputsIn(table).map((output): Column => ({ name: printable(output), verbatim: true, shrink: 12 })),
];

function rowsOf(table: ProbeTable): (string | number)[][] {
  const outputs = outputsIn(table);
  const changes = (low: ProbedEnd, high: ProbedEnd): string[] =>
    outputs.map((output) => `${changeText(low, output)} / ${changeText(high, output)}`);
  const rows = table.inputs.map((it): (string | number)[] => [
    printable(it.name),
    it.read,
    it.effect,
    formatNumber(it.low),
    formatNumber(it.high),
    ...changes(it.at_low, it.at_high),
  ]);
  if (table.corners !== undefined)
    rows.push(['all inputs', '', '', '', '', ...changes(table.corners.low, table.corners.high)]);
  return rows;
}

/** The change of an output relative to the nominal run: `-3.1 %`, `same`, or the end of a run that has not completed. */
function changeText({ class: end, changes }: ProbedEnd, output: string): string {
  if (end !== 'ok') return end;
  const change = changes.find((it) => it.output === output);
  if (change === undefined) return 'same';
  if (change.relative === null) return change.value === undefined ? 'missing' : 'differs';
  const percent = formatNumber(change.relative * 100, 3);
  return `${change.relative > 0 ? '+' : ''}${percent} %`;
}

function sentences({ nominal, inputs }: ProbeTable, idle: readonly ProbeRow[]): string[] {
  const lines = idle.map(({ name, read }) =>
    read === 'never'
      ? `parameter-never-read: no run has looked up ${JSON.stringify(name)}`
      : `parameter-without-effect: ${JSON.stringify(name)} at its 1 % and 99 % quantile gives every output of the nominal run, to the bit`,
  );
  if (nominal.class !== 'ok')
    lines.push(`the nominal run has not completed (${nominal.class}): simbatch run latest/${nominal.run_id} shows why`);
  const unknown = inputs.filter(({ effect }) => effect === 'unknown');
  if (unknown.length > 0)
    lines.push(`the effect of ${plural(unknown.length, 'input')} is not known: no output, or a run was lost`);
  return lines;
}
