/** The outcome of each run of a study, and the comparison with those of an undisturbed execution. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Client } from '../../client/client.ts';
import { stringifyExact } from '../../base/json/json-writing.ts';
import type { JobResult, Uuid } from '../../contract/types.ts';

/** Everything about a run that must not depend on kills. */
export interface RunOutcome {
  runId: number;
  status: string;
  /** JSON with all digits. */
  parameters: string;
  /** Number of stored results. */
  results: number;
  /** Number of attempts that the coordinator recorded as completed. */
  completions: number;
  /** JSON of the simulation's outputs, with all digits. */
  outputs: string;
  /** Name and SHA-256 of each artifact of the result, sorted by name. */
  artifacts: string;
}

export interface StudyOutcome {
  runs: RunOutcome[];
  /** Attempts of all runs. */
  attempts: number;
}

/** Members of a run that are compared, with their names for people. */
const COMPARED: readonly [keyof RunOutcome, string][] = [
  ['status', 'status'],
  ['parameters', 'parameters'],
  ['results', 'number of results'],
  ['completions', 'number of completed attempts'],
  ['outputs', 'outputs'],
  ['artifacts', 'artifacts'],
];

/** Artifacts with times of day in them. */
const TIMED = /(^|\/)telemetry\.parquet$/;

/** Reads the outcome of every run of a study through the public interface, and its artifacts from the disk. */
export async function collectOutcomes(client: Client, batchId: Uuid): Promise<StudyOutcome> {
  const results = new Map<Uuid, JobResult[]>();
  for await (const result of client.batchResults(batchId))
    results.set(result.job_id, [...(results.get(result.job_id) ?? []), result]);
  const runs: RunOutcome[] = [];
  let attempts = 0;
  for await (const job of client.jobs({ batch_id: [batchId] })) {
    const history = await client.jobHistory(job.id);
    const own = results.get(job.id) ?? [];
    attempts += history.attempts.length;
    runs.push({
      runId: job.run_config.run_id,
      status: job.error_message == null ? job.status : `${job.status}: ${job.error_message}`,
      parameters: stringifyExact(job.run_config.parameters),
      results: own.length,
      completions: history.attempts.filter((it) => it.outcome === 'completed').length,
      outputs: own.map((it) => stringifyExact({ success: it.success, metadata: it.metadata })).join('\n'),
      artifacts: own
        .flatMap((it) => it.output_files.map(artifact))
        .toSorted()
        .join('\n'),
    });
  }
  return { runs: runs.toSorted((a, b) => a.runId - b.runId), attempts };
}

/** Name within the attempt's directory, and digest; the times in telemetry are not compared. */
function artifact(path: string): string {
  const name = path.replace(/^.*\/attempt-\d+\//, '');
  if (TIMED.test(name)) return name;
  const digest = existsSync(path)
    ? createHash('sha256').update(readFileSync(path)).digest('hex')
    : 'missing on the disk';
  return `${name} ${digest}`;
}

/**
 * Compares the outcomes with those of an undisturbed execution, bit by bit.
 * @returns one sentence for each difference, which names the run; none when they are equal. Pure.
 */
export function compareOutcomes(expected: readonly RunOutcome[], actual: readonly RunOutcome[]): string[] {
  const differences: string[] = [];
  const found = new Map<number, RunOutcome>();
  for (const it of actual) {
    if (found.has(it.runId)) differences.push(`run ${it.runId}: it is listed twice`);
    found.set(it.runId, it);
  }
  for (const reference of expected) {
    const { runId } = reference;
    const run = found.get(runId);
    found.delete(runId);
    if (run === undefined) {
      differences.push(`run ${runId}: it is missing`);
      continue;
    }
    if (run.results !== 1) differences.push(`run ${runId}: it has ${run.results} results instead of exactly one`);
    for (const [member, name] of COMPARED)
      if (run[member] !== reference[member])
        differences.push(`run ${runId}: ${name} ${shown(run[member])} instead of ${shown(reference[member])}`);
  }
  for (const runId of found.keys()) differences.push(`run ${runId}: the undisturbed study has no such run`);
  return differences;
}

const MAX_SHOWN = 300;
const shown = (value: string | number): string => {
  const text = String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text === '' ? '(none)' : text;
};
