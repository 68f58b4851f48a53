/** Tables of runs in the analysis worker: streams of the whole table, and pages of it. */
import { createHash } from 'node:crypto';
import type { Chunk } from '../../../../analysis/export/chunk.ts';
import type { DescribedStudy } from '../../../../analysis/table/described-study.ts';
import { reusedWarnings } from '../../../../analysis/table/header.ts';
import type { Warning } from '../../../../analysis/warning.ts';
import { stringifyExact } from '../../../../base/json/json-writing.ts';
import { visitOutputs } from '../../../../domain/runs/outputs.ts';
import type { RowKind } from '../../row-readings.ts';
import type { TablePage, TablePageRequest, TableRequest } from '../../table-request.ts';
import { tableEncoder } from '../formats/encoder.ts';
import type { TableEncoder } from '../formats/table-encoder.ts';
import { recordsIn, StoredRun } from '../runs.ts';
import { type Member, membersOf, type Row, rowBlocks } from './members.ts';
import { ExtractedReadings, type TableHead, type TableReadings } from './extracted.ts';
import { OutputScan } from './output-scan.ts';
import { namesOutputs, planOf, type TablePlan } from './plan.ts';
import { split } from './pieces.ts';
import { countRows, type PageStart, readPosition, runPosition, sortedPosition } from './positions.ts';
import { kindsFor, RowWriter } from './row-writer.ts';
import { rowFilter, type Selection, selectRows } from './selection.ts';
import { SelectionCache } from './selection-cache.ts';

/** Rows of a sorted table that are read at once. */
const READ_AT_ONCE = 250;

/** Run `runs[i]` is of the member at `places[i]`. */
export interface SelectedRuns {
  members: readonly Pick<Member, 'head' | 'replicate'>[];
  places: Uint16Array;
  runs: Uint32Array;
}

export class Tables {
  readonly #readings: ExtractedReadings;
  readonly #outputs = new OutputScan();
  readonly #selections = new SelectionCache();

  constructor(readings: TableReadings) {
    this.#readings = new ExtractedReadings(readings);
  }

  /** Yields the whole table. It takes the memory of a chunk of rows, and of a `Selection` where rows are not in run order. */
  async *pieces(request: TableRequest, heads: readonly TableHead[]): AsyncGenerator<Uint8Array> {
    this.#readings.open(heads);
    try {
      yield* this.#pieces(request, heads);
    } finally {
      this.#readings.close(heads);
    }
  }

  async *#pieces(request: TableRequest, heads: readonly TableHead[]): AsyncGenerator<Uint8Array> {
    const plan = await this.#plan(request, heads, false);
    const { encoder, capacity } = tableEncoder(request.format, plan.columns, description(plan, request));
    yield encoder.begin({ batchId: request.batchId, warnings: this.#warnings(heads) });
    const counts = { matched: 0, of: 0 };
    const rows = plan.sort.length === 0 ? this.#filtered(plan, counts) : this.#sorted(plan, counts);
    for await (const chunk of chunksOf(plan, rows, capacity)) yield* split(encoder.write(chunk));
    yield encoder.end(counts);
  }

  /** One page. A page in run order without a condition costs what its rows cost; any other reads all rows once, and remembers them. */
  async page(request: TablePageRequest, heads: readonly TableHead[]): Promise<TablePage> {
    this.#readings.open(heads);
    try {
      return await this.#page(request, heads);
    } finally {
      this.#readings.close(heads);
    }
  }

  #warnings(heads: readonly TableHead[]): Warning[] {
    return [...runWarnings(heads), ...this.#readings.warnings(heads)];
  }

  async #page(request: TablePageRequest, heads: readonly TableHead[]): Promise<TablePage> {
    const isSelected = request.where !== undefined || request.sort !== undefined;
    const start = readPosition(request.after);
    const { rows, next, matched, of, warnings, plan } = isSelected
      ? await this.#selectedPage(request, heads, start)
      : await this.#runPage(request, heads, start);
    const { encoder, capacity } = tableEncoder(request.format, plan.columns, description(plan, request));
    const begin = encoder.begin({ batchId: request.batchId, warnings });
    const written = writtenRows(encoder, plan, rows, capacity);
    return { bytes: joined([begin, ...written, encoder.end({ matched, of })]), next, matched };
  }

  /** The runs that the condition of a request selects, or all, by replicate and run; a run of several batches is that of the row in a table. */
  async selected(request: TableRequest, heads: readonly TableHead[]): Promise<SelectedRuns> {
    this.#readings.open(heads);
    try {
      const plan = await this.#plan(request, heads, false);
      const { members, runs } = await selectRows(plan);
      return { members: plan.members, places: members, runs };
    } finally {
      this.#readings.close(heads);
    }
  }

  async #plan(request: TableRequest, heads: readonly TableHead[], mayBeOlder: boolean): Promise<TablePlan> {
    const members = this.#members(heads);
    const restart = (reading: number): Promise<void> => this.#readings.restart({ reading });
    return planOf(members, await this.#outputs.types(members, { mayBeOlder, restart }), request);
  }

  #members(heads: readonly TableHead[]): Member[] {
    return membersOf(
      heads,
      ({ reading }) =>
        (kind) =>
          this.#readings.next({ reading, kind }),
    );
  }

  async *#filtered(plan: TablePlan, counts: { matched: number; of: number }): AsyncGenerator<readonly Row[]> {
    const select = rowFilter(plan);
    const kinds = kindsFor([...plan.columns, ...(plan.condition?.columns ?? [])]);
    for await (const block of rowBlocks(plan.members, kinds)) {
      const rows = select(block);
      counts.of += block.length;
      counts.matched += rows.length;
      yield rows;
    }
  }

  async *#sorted(plan: TablePlan, counts: { matched: number; of: number }): AsyncGenerator<readonly Row[]> {
    const selection = await selectRows(plan);
    counts.of = selection.of;
    counts.matched = selection.runs.length;
    yield* this.#ordered(plan, selection, 0, selection.runs.length);
  }

  /** The rows of a selection from one place to another, read by their keys. */
  async *#ordered(plan: TablePlan, selection: Selection, from: number, to: number): AsyncGenerator<Row[]> {
    const kinds = kindsFor(plan.columns);
    for (let at = from; at < to; at += READ_AT_ONCE) {
      const end = Math.min(to, at + READ_AT_ONCE);
      const records = new Map<number, Record<RowKind, Map<number, string>>>();
      for (const place of new Set(selection.members.subarray(at, end))) {
        const { head } = plan.members[place]!;
        const ofMember = (_: number, index: number): boolean => selection.members[at + index] === place;
        const runIds = selection.runs.slice(at, end).filter(ofMember);
        const read = async (kind: RowKind): Promise<Map<number, string>> =>
          new Map(
            kinds.includes(kind) ? recordsIn(await this.#readings.rows({ reading: head.reading, kind, runIds })) : [],
          );
        records.set(place, { job: await read('job'), result: await read('result') });
      }
      yield Array.from(selection.runs.subarray(at, end), (runId, index) => {
        const place = selection.members[at + index]!;
        const { job, result } = records.get(place)!;
        return { member: plan.members[place]!, run: new StoredRun(runId, job.get(runId), result.get(runId)) };
      });
    }
  }

  /** A page in run order, without a condition: it is read from the position on. */
  async #runPage(request: TablePageRequest, heads: readonly TableHead[], start: PageStart) {
    const members = this.#members(heads);
    const older = !namesOutputs(request);
    const restart = (reading: number): Promise<void> => this.#readings.restart({ reading });
    const types = await this.#outputs.types(members, { mayBeOlder: older, restart });
    for (const { replicate, head } of members)
      if (replicate === start.replicate) await this.#readings.restart({ reading: head.reading, from: start.runId });
    const all = planOf(members, types, request);
    const rows: Row[] = [];
    for await (const block of rowBlocks(members, kindsFor(all.columns), start)) {
      rows.push(...block);
      if (rows.length > request.limit) break;
    }
    const shown = rows.slice(0, request.limit);
    // The types of an older version may lack outputs of these runs.
    if (older) for (const { run } of shown) if (run.result !== undefined) visitOutputs(run.result.metadata, types.add);
    const plan = older ? planOf(members, types, request) : all;
    const last = shown.at(-1);
    const next =
      rows.length > request.limit && last !== undefined ? runPosition(last.member, last.run.runId) : undefined;
    const of = countRows(members);
    return { rows: shown, next, matched: of, of, warnings: this.#warnings(heads), plan };
  }

  async #selectedPage(request: TablePageRequest, heads: readonly TableHead[], start: PageStart) {
    const plan = await this.#plan(request, heads, false);
    const version = versionOf(plan.members);
    const key = JSON.stringify([request.where, request.sort, version]);
    const isOver = heads.every((it) => it.openRuns === 0);
    const selection = await this.#selections.of(key, isOver, () => selectRows(plan));
    const isSorted = plan.sort.length > 0;
    const from = isSorted ? start.offset : placeOf(plan, selection, start);
    const to = Math.min(from + request.limit, selection.runs.length);
    const rows: Row[] = [];
    for await (const part of this.#ordered(plan, selection, from, to)) rows.push(...part);
    const last = rows.at(-1);
    const isLast = to >= selection.runs.length || last === undefined;
    const next = isSorted ? sortedPosition(to, version) : last && runPosition(last.member, last.run.runId);
    const hasChanged = isSorted && start.version !== undefined && start.version !== version;
    return {
      rows,
      next: isLast ? undefined : next,
      matched: selection.runs.length,
      of: selection.of,
      warnings: [...this.#warnings(heads), ...(hasChanged ? [CHANGED] : [])],
      plan,
    };
  }
}

/** The study that was asked for, with which a file answers questions without the coordinator. */
function description({ members, columns }: TablePlan, { batchId }: TableRequest): string {
  const asked = members.find(({ head }) => head.batchId === batchId)!;
  const { config, requirements, outputs, policy } = asked.submission;
  const mixed = columns.filter(({ source, type }) => source === 'output' && type === 'mixed').map((it) => it.member);
  const described: DescribedStudy = {
    batch_id: asked.head.batchId,
    ...(members.length === 1 ? { total_jobs: asked.head.totalJobs } : {}),
    config,
    ...(requirements === undefined ? {} : { requirements }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(policy === undefined ? {} : { policy }),
    ...(mixed.length === 0 ? {} : { mixed_outputs: mixed }),
  };
  return stringifyExact(described);
}

const CHANGED: Warning = {
  code: 'changed',
  message:
    'runs ended since the first page: their places in the order changed, so that a run may be on two pages or on none; read the pages again once the study is over',
};

function runWarnings(heads: readonly TableHead[]): Warning[] {
  const sum = (of: (head: TableHead) => number): number => heads.reduce((total, it) => total + of(it), 0);
  const open = sum((it) => it.openRuns);
  const unfinished = { code: 'unfinished', message: `${open} runs are open: their rows change until they end` };
  const reused = sum((it) => it.reusedRuns);
  return [
    ...(open === 0 ? [] : [unfinished]),
    ...reusedWarnings(
      reused,
      sum((it) => it.totalJobs),
    ),
  ];
}

/** Short, and another one after any run has ended. */
const versionOf = (members: readonly Member[]): string =>
  createHash('sha256')
    .update(JSON.stringify(members.map(({ head }) => [head.batchId, head.version])))
    .digest('base64url')
    .slice(0, 12);

/** The place of the first selected row at or after a run; the rows are in run order. */
function placeOf(
  { members }: TablePlan,
  { members: places, runs }: Selection,
  { replicate, runId }: PageStart,
): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const own = members[places[middle]!]!.replicate;
    if (own < replicate || (own === replicate && runs[middle]! < runId)) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function* chunksOf(
  { columns }: TablePlan,
  blocks: AsyncIterable<readonly Row[]>,
  capacity: number,
): AsyncGenerator<Chunk> {
  const writer = new RowWriter(columns, capacity);
  for await (const block of blocks) {
    for (const row of block) {
      writer.write(row);
      if (!writer.isFull) continue;
      yield writer.chunk;
      writer.chunk.clear();
    }
  }
  if (writer.chunk.rows > 0) yield writer.chunk;
}

function* writtenRows(
  encoder: TableEncoder,
  { columns }: TablePlan,
  rows: readonly Row[],
  capacity: number,
): Generator<Uint8Array> {
  const writer = new RowWriter(columns, Math.min(capacity, Math.max(1, rows.length)));
  for (const row of rows) {
    writer.write(row);
    if (!writer.isFull) continue;
    yield encoder.write(writer.chunk);
    writer.chunk.clear();
  }
  if (writer.chunk.rows > 0) yield encoder.write(writer.chunk);
}

/** Joins pieces in memory of their own, which can be transferred. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, it) => sum + it.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
