/** Studies with runs in every state, and their rows as the other operations of the API give them: what tables are compared with. */
import { runClassOf } from '../../../../src/analysis/table/run-class.ts';
import type { BatchSubmission, Report, StudyTable } from '../../../../src/contract/types.ts';
import type { TableOptions } from '../../../../src/coordinator/answers/table-answers.ts';
import type { TableRequest } from '../../../../src/coordinator/answers/table-request.ts';
import { numberOf, outputsOf } from '../../../../src/domain/runs/outputs.ts';
import { all, type Scene } from '../../../support/scene.ts';
import { study, type StudyOptions } from '../../../support/studies.ts';

export type Row = Record<string, unknown>;

/** Names that break careless writers. */
export const HOSTILE = ['__proto__', 'a,b', 'say "x"', 'two\nlines', '=1+1', 'constructor', 'ünï', ' '];

const RULES = [{ variable: 'nz', condition: '> 3.8', description: 'load' }];

/** The metadata of a run: a number, a boolean, texts, a list, nested members, values of several types, and hostile names. */
export function metadataOf(run: number): Record<string, unknown> {
  const metadata: Record<string, unknown> = {
    miss_m: run % 5 === 3 ? null : Math.sin(run) * 100,
    landed: run % 2 === 0,
    mode: ['calm', '=cmd()', 'a,"b"', ''][run % 4],
    nested: { deep: { value: -run } },
    path: [run, 'x'],
    mixed: run % 3 === 0 ? run : run % 3 === 1 ? `text ${run}` : run % 2 === 0,
  };
  if (run % 4 !== 1) for (const name of HOSTILE) Object.defineProperty(metadata, name, ownMember(run + 0.5));
  if (run === 2) metadata['rare'] = 7;
  return metadata;
}

const ownMember = (value: unknown): PropertyDescriptor => ({
  value,
  enumerable: true,
  writable: true,
  configurable: true,
});

export interface FlownOptions extends StudyOptions {
  /** How many of the first runs are claimed; the others stay untouched. */
  claimed?: number;
  submission?: Partial<BatchSubmission>;
}

/** Submits a study; of the claimed runs some are Claimed, Running, Failed in each way, or Timeout; the others are Completed. */
export async function flown(scene: Scene, options: FlownOptions = {}): Promise<string> {
  const { runs = 40, claimed = runs - 8 } = options;
  const submission: BatchSubmission = {
    ...study({ maxRetries: 0, ...options, runs }),
    outputs: { miss_m: { units: 'm', description: 'distance, at touchdown' }, never: { units: 'K' } },
    ...options.submission,
  };
  submission.config.early_termination = { enabled: true, check_frequency_hz: 1, conditions: RULES };
  const { batch_id: batchId } = await scene.api.submit(submission);
  await report(scene, claimed);
  return batchId;
}

/** Claims runs and reports them; at most every ninth stays open. */
export async function report(scene: Scene, count: number, isOver = false): Promise<void> {
  const { assignments } = await scene.claimRaw('a', count);
  for (const { job, attempt } of assignments) {
    const run = job.run_config.run_id;
    await scene.world.advance(1500);
    const own = { job_id: job.id, attempt };
    const reports: Report[] = [];
    if (isOver || run % 9 !== 8) reports.push({ type: 'start', ...own });
    if (isOver || run % 9 < 7) reports.push(outcomeOf(run, own));
    if (reports.length > 0) await scene.api.reports('a', { instance: scene.instance('a'), reports });
  }
}

function outcomeOf(run: number, own: { job_id: string; attempt: number }): Report {
  const result = { execution_time_secs: 2, execution_secs: 1.5 + run, output_files: [], metadata: metadataOf(run) };
  const failed = (reason: 'exit' | 'timeout' | 'early_termination', error_message: string): Report => ({
    type: 'fail',
    ...own,
    reason,
    error_message,
    result,
  });
  if (run % 10 === 4) return failed('exit', `exit code ${run},\n"quoted"`);
  if (run % 10 === 5) return failed('timeout', 'too long');
  if (run % 10 === 6) return failed('early_termination', 'terminated early: nz > 3.8 was met by nz = 4 at 1 s');
  return { type: 'complete', ...own, result };
}

/** The rows of a batch from its jobs, histories and results. Outputs that a run has not reported are absent. */
export async function naiveRows(scene: Scene, batchId: string): Promise<Row[]> {
  const { config } = await scene.api.submission(batchId);
  const results = new Map((await all((await scene.api.batchResults(batchId)).results)).map((it) => [it.run_id, it]));
  const rows: Row[] = [];
  for (const job of await all(await scene.api.jobs({ batch_id: [batchId] }))) {
    const { run_id, parameters } = job.run_config;
    const { attempts } = await scene.api.jobHistory(job.id);
    const result = results.get(run_id);
    const reason = job.status === 'Completed' ? null : (attempts.at(-1)?.reason ?? null);
    const row: Row = {
      run_id,
      replicate: config.monte_carlo.replicate ?? 0,
      batch_id: batchId,
      job_id: job.id,
      status: job.status,
      class: runClassOf(job.status, reason),
      reason,
      attempt: attempts.length,
      runner_id: job.assigned_runner ?? null,
      started_at: job.started_at ?? null,
      ended_at: job.completed_at ?? null,
      execution_secs: result?.execution_secs ?? result?.execution_time_secs ?? null,
      error_message: job.error_message ?? null,
      terminated_by: reason === 'early_termination' ? 'nz > 3.8' : null,
      would_terminate: null,
      telemetry_lost: result?.telemetry?.lost ?? null,
    };
    for (const [name, value] of Object.entries(parameters)) row[`parameters.${name}`] = value;
    for (const [name, value] of outputsOf(result?.metadata ?? {})) row[`outputs.${name}`] = value;
    rows.push(row);
  }
  return rows;
}

/** Ascending by column, missing values last; the run order decides between equal ones. */
export function naiveSort(rows: readonly Row[], keys: readonly string[]): Row[] {
  return [...rows].sort((a, b) => {
    for (const key of keys) {
      const isDescending = key.startsWith('-');
      const order = naiveOrder(cellOf(a, key.replace(/^-/, '')), cellOf(b, key.replace(/^-/, '')), isDescending);
      if (order !== 0) return order;
    }
    return 0;
  });
}

function naiveOrder(a: number | string | null, b: number | string | null, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = a < b ? -1 : a > b ? 1 : 0;
  return isDescending ? -order : order;
}

/** A cell as `where` and `sort` see it. */
export function cellOf(row: Row, name: string): number | string | null {
  const value = row[name];
  if (value === undefined || value === null) return null;
  if (name === 'outputs.mixed') return numberOf(value) ?? null;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value);
}

/** The bytes of a table or page, with the page's position. */
export async function bytesOf(scene: Scene, request: TableRequest, options: TableOptions = {}) {
  const answer = await scene.api.table(request, options);
  if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
  const pieces: Uint8Array[] = [];
  if (answer.body instanceof Uint8Array) pieces.push(answer.body);
  else for await (const piece of answer.body) pieces.push(piece);
  return { bytes: Buffer.concat(pieces), next: answer.next, tag: answer.tag };
}

export interface Asked extends Partial<Omit<TableRequest, 'format' | 'batchId'>> {
  limit?: number;
  after?: string | undefined;
}

export async function tableOf(
  scene: Scene,
  batchId: string,
  { limit, after, ...request }: Asked = {},
): Promise<StudyTable & { next: string | undefined; tag: string | undefined }> {
  const { bytes, ...rest } = await bytesOf(scene, { batchId, format: 'json', ...request }, { limit, after });
  return { ...(JSON.parse(bytes.toString()) as StudyTable), ...rest };
}
