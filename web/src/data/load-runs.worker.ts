/** Reads the runs of a study from its table, page by page as Arrow, in a worker. */
import { tableFromIPC } from '@uwdata/flechette';
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import { STATUS_CODE, type LoaderMessage, type LoaderRequest, type RunChunk } from './run-columns.ts';

/** The largest page of the API. */
const PAGE = 10_000;
/** Most columns of outputs: results are free-form, and a page cannot show more. */
const MAX_OUTPUTS = 60;

const STATES = 'run_id,status,started_at,ended_at,runner_id,error_message';
const VALUES = 'execution_secs,parameters.*,outputs.*';

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

async function load({ endpoint, batchId, headers, withValues, from }: LoaderRequest): Promise<void> {
  const columns = withValues ? `${STATES},${VALUES}` : STATES;
  let address: string | undefined =
    `${endpoint}/batches/${batchId}/table?format=arrow&limit=${PAGE}&columns=${columns}${from === 0 ? '' : `&where=${encodeURIComponent(`run_id >= ${from}`)}`}`;
  while (address !== undefined) {
    const response: Response = await fetch(address, { headers });
    if (!response.ok) throw new Error(`The runs could not be read: the coordinator answered ${response.status}.`);
    sayRuns(new Uint8Array(await response.arrayBuffer()));
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    address = next === undefined ? undefined : new URL(next, address).href;
  }
}

type Table = ReturnType<typeof tableFromIPC>;

function sayRuns(bytes: Uint8Array): void {
  const table = tableFromIPC(bytes);
  if (table.numRows === 0) return;
  const rows = table.numRows;
  const column = (name: string): ArrayLike<unknown> => table.getChild(name)?.toArray() ?? [];
  const statuses = column('status');
  const chunk: RunChunk = {
    runs: Uint32Array.from(column('run_id') as ArrayLike<number>),
    status: Uint8Array.from({ length: rows }, (_, at) => STATUS_CODE[statuses[at] as (typeof JOB_STATUSES)[number]]),
    started: numbers(column('started_at'), rows),
    ended: numbers(column('ended_at'), rows),
    runners: sparse(column('runner_id')),
    errors: sparse(column('error_message')),
    ...valuesOf(table),
  };
  const parts = [chunk.runs, chunk.status, chunk.started, chunk.ended, ...chunk.values.map(({ values }) => values)];
  say(
    { type: 'runs', chunk },
    parts.map((it) => it.buffer as ArrayBuffer),
  );
}

function valuesOf(table: Table): Pick<RunChunk, 'values' | 'texts'> {
  const found: Pick<RunChunk, 'values' | 'texts'> = { values: [], texts: [] };
  let outputs = 0;
  for (const { name } of table.schema.fields) {
    const key = keyOf(name);
    if (key === undefined || (key.startsWith('o.') && (outputs += 1) > MAX_OUTPUTS)) continue;
    const column = table.getChild(name)?.toArray() ?? [];
    const first = firstOf(column);
    if (typeof first === 'string') found.texts.push({ key, values: Array.from(column as ArrayLike<string | null>) });
    else {
      const values = numbers(column, table.numRows);
      found.values.push({ key, values, isBoolean: typeof first === 'boolean' });
    }
  }
  return found;
}

/** Parameters and outputs of the same name are different variables. */
function keyOf(column: string): string | undefined {
  if (column === 'execution_secs') return 'o.execution_secs';
  if (column.startsWith('parameters.')) return `p.${column.slice('parameters.'.length)}`;
  return column.startsWith('outputs.') ? `o.${column.slice('outputs.'.length)}` : undefined;
}

function firstOf(column: ArrayLike<unknown>): unknown {
  for (let at = 0; at < column.length; at += 1) if (column[at] !== null && column[at] !== undefined) return column[at];
  return undefined;
}

function numbers(column: ArrayLike<unknown>, rows: number): Float64Array {
  const values = new Float64Array(rows).fill(Number.NaN);
  for (let at = 0; at < column.length; at += 1) {
    const value = column[at];
    if (value !== null && value !== undefined) values[at] = Number(value);
  }
  return values;
}

function sparse(column: ArrayLike<unknown>): [at: number, text: string][] {
  const found: [number, string][] = [];
  for (let at = 0; at < column.length; at += 1) {
    const value = column[at];
    if (typeof value === 'string') found.push([at, value]);
  }
  return found;
}
