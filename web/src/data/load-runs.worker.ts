/**
 * Reads all runs of a batch page by page, away from the page's own thread. The parameters are not read but sampled here:
 * they are a function of the submission.
 */
import { runIdOf } from '../../../src/domain/ids.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import type { BatchSubmission, Job, JobResult, Seed } from '../../../src/domain/types.ts';
import { parseExact } from '../../../src/exact-json.ts';
import { STATUS_CODE, type LoaderMessage, type LoaderRequest, type OutputChunk, type RunChunk } from './run-columns.ts';

const PAGE = 2_000;
/** A batch may write whatever it likes into its results; more columns than this nobody looks at. */
const MAX_OUTPUTS = 60;

const say = (message: LoaderMessage, transfer: Transferable[] = []): void => {
  (self as unknown as { postMessage(message: LoaderMessage, transfer: Transferable[]): void }).postMessage(
    message,
    transfer,
  );
};

self.addEventListener('message', (event: MessageEvent<LoaderRequest>) => {
  load(event.data).then(
    () => say({ type: 'done' }),
    (error: Error) => say({ type: 'error', detail: error.message }),
  );
});

async function load(request: LoaderRequest): Promise<void> {
  const { origin, batchId, headers } = request;
  if (request.withParameters) await sampleParameters(request);
  for await (const jobs of pages<Job[]>(`${origin}/jobs?batch_id=${batchId}&limit=${PAGE}`, headers)) sayRuns(jobs);
  for await (const { results } of pages<{ results: JobResult[] }>(
    `${origin}/batches/${batchId}/results?limit=${PAGE}`,
    headers,
  )) {
    sayOutputs(results);
  }
}

async function* pages<T>(first: string, headers: Record<string, string>): AsyncGenerator<T> {
  let address: string | undefined = first;
  while (address !== undefined) {
    const response: Response = await fetch(address, { headers });
    if (!response.ok) throw new Error(`The runs could not be read: the coordinator answered ${response.status}.`);
    yield (await response.json()) as T;
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    address = next === undefined ? undefined : new URL(next, first).href;
  }
}

async function sampleParameters({ origin, batchId, totalJobs, headers }: LoaderRequest): Promise<void> {
  const response = await fetch(`${origin}/batches/${batchId}/submission`, { headers });
  if (!response.ok) throw new Error(`The submission could not be read: the coordinator answered ${response.status}.`);
  const { config } = parseExact(await response.text()) as BatchSubmission;
  const { dispersions, monte_carlo } = config;
  const sampler = createSampler(dispersions, { ...monte_carlo, seed: monte_carlo.seed as Seed });
  const columns = sampler.names.map(() => new Float64Array(totalJobs));
  const values = new Float64Array(sampler.names.length);
  for (let run = 0; run < totalJobs; run += 1) {
    sampler.sampleInto(run, values);
    for (let at = 0; at < columns.length; at += 1) columns[at]![run] = values[at]!;
  }
  const buffers = columns.map((it) => it.buffer);
  say({ type: 'parameters', names: [...sampler.names], columns, percentiles: true }, buffers);
}

const timeOf = (timestamp: string | undefined): number =>
  timestamp === undefined ? Number.NaN : Date.parse(timestamp);

function sayRuns(jobs: readonly Job[]): void {
  const [first] = jobs;
  if (first === undefined) return;
  const chunk: RunChunk = {
    from: first.run_config.run_id,
    status: new Uint8Array(jobs.length),
    retries: new Uint8Array(jobs.length),
    started: new Float64Array(jobs.length),
    ended: new Float64Array(jobs.length),
    runners: [],
    errors: [],
  };
  for (const [at, job] of jobs.entries()) {
    chunk.status[at] = STATUS_CODE[job.status];
    chunk.retries[at] = Math.min(job.retries, 255);
    chunk.started[at] = timeOf(job.started_at);
    chunk.ended[at] = timeOf(job.completed_at);
    if (job.assigned_runner !== undefined) chunk.runners.push([at, job.assigned_runner]);
    if (job.error_message !== undefined) chunk.errors.push([at, job.error_message]);
  }
  const { status, retries, started, ended } = chunk;
  say(
    { type: 'runs', chunk },
    [status, retries, started, ended].map((it) => it.buffer as ArrayBuffer),
  );
}

function sayOutputs(results: readonly JobResult[]): void {
  const columns = new Map<string, Float64Array>();
  const put = (name: string, at: number, value: number): void => {
    let column = columns.get(name);
    if (column === undefined) {
      if (columns.size >= MAX_OUTPUTS) return;
      column = new Float64Array(results.length).fill(Number.NaN);
      columns.set(name, column);
    }
    column[at] = value;
  };
  for (const [at, result] of results.entries()) {
    put('execution_time_secs', at, result.execution_time_secs);
    for (const [name, value] of Object.entries(result.metadata)) if (typeof value === 'number') put(name, at, value);
  }
  const chunk: OutputChunk = {
    runs: Uint32Array.from(results, (it) => runIdOf(it.job_id)),
    columns: Object.fromEntries(columns),
  };
  say({ type: 'outputs', chunk }, [chunk.runs.buffer as ArrayBuffer]);
}
