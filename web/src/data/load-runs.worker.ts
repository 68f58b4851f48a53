/**
 * Reads all runs of a study page by page, in a worker. It reads the parameters too instead of sampling them: a browser's
 * logarithm may differ from the coordinator's in the last digit.
 */
import { runIdOf } from '../../../src/domain/ids.ts';
import { numericOutputs } from '../../../src/domain/outputs.ts';
import type { Job, JobResult } from '../../../src/contract/types.ts';
import { STATUS_CODE, type LoaderMessage, type LoaderRequest, type OutputChunk, type RunChunk } from './run-columns.ts';

const PAGE = 2_000;
/** Most columns of outputs: results are free-form, and a page cannot show more. */
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
  for await (const jobs of pages<Job[]>(`${origin}/jobs?batch_id=${batchId}&limit=${PAGE}`, headers)) {
    sayRuns(jobs, request.withParameters);
  }
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

const timeOf = (timestamp: string | undefined): number =>
  timestamp === undefined ? Number.NaN : Date.parse(timestamp);

function sayRuns(jobs: readonly Job[], withParameters: boolean): void {
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
    parameters: withParameters
      ? Object.keys(first.run_config.parameters).map((name) => [name, new Float64Array(jobs.length)])
      : [],
  };
  for (const [at, job] of jobs.entries()) {
    chunk.status[at] = STATUS_CODE[job.status];
    chunk.retries[at] = Math.min(job.retries, 255);
    chunk.started[at] = timeOf(job.started_at);
    chunk.ended[at] = timeOf(job.completed_at);
    for (const [name, values] of chunk.parameters) values[at] = job.run_config.parameters[name] ?? Number.NaN;
    if (job.assigned_runner !== undefined) chunk.runners.push([at, job.assigned_runner]);
    if (job.error_message !== undefined) chunk.errors.push([at, job.error_message]);
  }
  const { status, retries, started, ended, parameters } = chunk;
  say(
    { type: 'runs', chunk },
    [status, retries, started, ended, ...parameters.map(([, values]) => values)].map((it) => it.buffer as ArrayBuffer),
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
    for (const [name, value] of numericOutputs(result)) put(name, at, value);
  }
  const chunk: OutputChunk = {
    runs: Uint32Array.from(results, (it) => runIdOf(it.job_id)),
    columns: Object.fromEntries(columns),
  };
  say({ type: 'outputs', chunk }, [chunk.runs.buffer as ArrayBuffer]);
}
