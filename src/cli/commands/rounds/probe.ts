/** `simbatch probe`: executes a study with each input alone at its ends, and shows which inputs reach the outputs. */
import type { Command } from 'commander';
import { randomUuid, systemClock } from '../../../base/clock.ts';
import type { Client } from '../../../client/client.ts';
import type { BatchSubmission, JobResult } from '../../../contract/types.ts';
import { probeFault, probePlan, type ProbePlan } from '../../../domain/probe/plan.ts';
import { idleInputs, probeTable, type ProbeTable } from '../../../domain/probe/table.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { loadStudy } from '../../study/check-study.ts';
import { plural } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { configOptions } from '../pool/runner.ts';
import { FIELDS_OF_A_RUN } from '../runs/local-run.ts';
import { waitFor } from './append.ts';
import { probeLines } from './probe-lines.ts';

interface ProbeFlags extends ClientFlags {
  corners?: boolean;
  outputDir?: string;
  [name: string]: unknown;
}

/** The key of the only round of a probe. */
const ROUND_KEY = 'probe';
/** Settings of a runner with which the runs are executed here. */
const LOCAL_FIELDS = [...FIELDS_OF_A_RUN, 'max_concurrent_jobs'] as const;
const NOT_LOCAL: ReadonlySet<string> = new Set(['endpoint', 'corners', 'output', 'file']);

export function probeCommand(): Command {
  const command = clientCommand('probe', 'execute a study with each input alone low and high; show what it changes')
    .argument('<study>', 'the study file, - for standard input')
    .option('--corners', 'also a run with all inputs low, and a run with all inputs high')
    .option('--config <file>', "execute the runs here, with a runner's YAML configuration file");
  for (const option of configOptions(LOCAL_FIELDS)) command.addOption(option);
  return command
    .option('--output-dir <directory>', 'of the runs that are executed here; must not exist (default: ./probe)')
    .action(async (file: string, flags: ProbeFlags, given: Command) => {
      const isHere = isLocal(given);
      const { submission, named } = await loadStudy(file);
      const fault = probeFault(submission);
      if (fault !== undefined) throw new Failure(EXIT.invalid, `${named(fault.pointer)} ${fault.detail}`);
      const plan = probePlan(submission, flags.corners === true);
      const { table, place, why } = isHere
        ? await executeHere(submission, plan, flags)
        : await execute(await connect(flags), plan);
      if (idleInputs(table).length > 0) process.exitCode = EXIT.inputWithoutEffect;
      if (flags.format === 'json') return writeJson({ ...place, ...table });
      for (const line of probeLines(table, flags.format, why)) await writeLine(line);
    });
}

/** Whether an option about runs on this machine is given. @throws Failure where there is a coordinator too */
function isLocal(command: Command): boolean {
  const given = Object.keys(command.opts()).filter((name) => command.getOptionValueSource(name) === 'cli');
  const local = given.find((name) => !NOT_LOCAL.has(name));
  if (local === undefined || !given.includes('endpoint')) return local !== undefined;
  const flag = local.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new Failure(
    EXIT.usage,
    `--${flag} executes the runs here and --endpoint ${String(command.opts()['endpoint'])} at a coordinator; give one of them`,
  );
}

interface Executed {
  table: ProbeTable;
  /** Members of the JSON: where the runs are. */
  place: object;
  /** Why the nominal run has failed, or how a person sees it. */
  why: string;
}

async function executeHere(study: BatchSubmission, plan: ProbePlan, flags: ProbeFlags): Promise<Executed> {
  // Loaded on demand, so that other commands start fast.
  const { probeHere } = await import('./probe-here.ts');
  const { directory, code, table, nominalError = '' } = await probeHere(study, plan, flags);
  const place = { output_dir: directory, ...(code === undefined ? {} : { code }) };
  return { table, place, why: nominalError.replaceAll('\n', ' ') };
}

/** Submits the probe, waits for its runs, and compares them. */
async function execute(client: Client, plan: ProbePlan): Promise<Executed> {
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
  return { table: probeTable(plan, runs), place: { batch_id: batchId }, why: 'simbatch run latest/0 shows why' };
}
