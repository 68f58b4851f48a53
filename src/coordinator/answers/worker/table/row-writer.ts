/** Writes runs into the columns of a chunk. */
import { type Cells, Chunk } from '../../../../analysis/export/chunk.ts';
import type { Column, RunColumn } from '../../../../analysis/export/columns.ts';
import { runClassOf } from '../../../../analysis/table/run-class.ts';
import { jobId } from '../../../../domain/ids.ts';
import type { RowKind } from '../../row-readings.ts';
import { ResultReader } from '../records/result.ts';
import { KIND } from '../records/scanner.ts';
import { metCondition } from '../study.ts';
import type { Member, Row } from './members.ts';

type Value = number | string | null | undefined;

/** The records that a column of runs is read from, and its value. `result` is undefined for a run without one. */
interface RunValue {
  kinds: readonly RowKind[];
  of: (row: Row, result: ResultReader | undefined) => Value;
}

/** Why the last attempt failed; null for a run that completed. */
const reasonOf = ({ job }: Row): string | null => job?.reason ?? null;

const messageOf = ({ job }: Row, result: ResultReader | undefined): string | null =>
  job?.error ?? result?.errorMessage ?? null;

function ruleOf(row: Row, result: ResultReader | undefined): string | null {
  if (reasonOf(row) !== 'early_termination') return null;
  const rule = result?.terminatedBy ?? metCondition(messageOf(row, result), row.member.conditions);
  return rule === undefined ? null : ruleText(rule);
}

const ruleText = ({ variable, condition }: { variable: string; condition: string }): string =>
  `${variable} ${condition}`;

/** Runs that were never claimed end with their batch. */
const endOf = ({ job, member }: Row): number | undefined =>
  job === undefined ? (member.head.isCancelled ? member.head.endedAtMs : undefined) : job.completedAtMs;

const JOB = ['job'] as const;
const BOTH = ['job', 'result'] as const;
const RUN_VALUES: Readonly<Record<RunColumn, RunValue>> = {
  run_id: { kinds: [], of: (row) => row.runId },
  replicate: { kinds: [], of: (row) => row.member.replicate },
  batch_id: { kinds: [], of: (row) => row.member.head.batchId },
  job_id: { kinds: [], of: (row) => jobId(row.member.head.batchId, row.runId) },
  status: { kinds: JOB, of: ({ status }) => status },
  class: { kinds: JOB, of: (row) => runClassOf(row.status, reasonOf(row)) },
  reason: { kinds: JOB, of: reasonOf },
  attempt: { kinds: JOB, of: (row) => row.job?.attempt ?? 0 },
  runner_id: { kinds: JOB, of: (row) => row.job?.runnerId },
  started_at: { kinds: JOB, of: (row) => row.job?.startedAtMs },
  ended_at: { kinds: JOB, of: endOf },
  execution_secs: { kinds: ['result'], of: (_, result) => result?.executionSecs },
  error_message: { kinds: BOTH, of: messageOf },
  terminated_by: { kinds: BOTH, of: ruleOf },
  would_terminate: {
    kinds: ['result'],
    of: (_, result) => result?.wouldTerminate && ruleText(result.wouldTerminate),
  },
  telemetry_lost: { kinds: ['result'], of: (_, result) => result?.telemetryLost },
};

/** The kinds of records that the columns are read from. */
export function kindsFor(columns: readonly Column[]): RowKind[] {
  const kinds = columns.flatMap(({ source, member }) => {
    if (source === 'run') return RUN_VALUES[member as RunColumn].kinds;
    return source === 'output' ? ['result' as const] : [];
  });
  return [...new Set(kinds)].sort();
}

/** A chunk, and what writes a run into its next row. */
export class RowWriter {
  readonly chunk: Chunk;
  readonly #runs: { cells: Cells; of: RunValue['of'] }[] = [];
  readonly #parameters = new Map<string, Float64Array>();
  /** The columns of outputs, in the order of their places in `#results`. */
  readonly #outputs: Cells[] = [];
  readonly #results: ResultReader;
  readonly #readsResults: boolean;
  /** For each member, the parameter columns by the place of the parameter. */
  readonly #places = new Map<Member, (Float64Array | undefined)[]>();
  #sample = new Float64Array();

  /** `keepsDigits`: numbers that the runs reported are kept as they are written in their results; for formats of text. */
  constructor(columns: readonly Column[], capacity: number, { keepsDigits = false } = {}) {
    this.chunk = new Chunk(columns, capacity, { keepsDigits });
    const outputs = new Map<string, number>();
    for (const [at, { source, member }] of columns.entries()) {
      const cells = this.chunk.cells[at]!;
      if (source === 'run') this.#runs.push({ cells, of: RUN_VALUES[member as RunColumn].of });
      else if (source === 'output') outputs.set(member, this.#outputs.push(cells) - 1);
      else if (cells.type === 'number') this.#parameters.set(member, cells.values);
    }
    this.#results = new ResultReader((output) => outputs.get(output) ?? -1);
    this.#readsResults = kindsFor(columns).includes('result');
  }

  get isFull(): boolean {
    return this.chunk.rows === this.chunk.capacity;
  }

  write(row: Row): void {
    const at = this.chunk.add();
    const record = this.#readsResults ? row.result : undefined;
    const result = record === undefined ? undefined : this.#results.read(record);
    for (const { cells, of } of this.#runs) {
      const value = of(row, result);
      if (value !== undefined && value !== null) cells.values[at] = value;
    }
    if (this.#parameters.size > 0) this.#writeParameters(row, at);
    if (result !== undefined) {
      for (let place = 0; place < this.#outputs.length; place++) {
        if (result.kind(place) !== KIND.absent) this.#writeOutput(this.#outputs[place]!, at, result, place);
      }
    }
  }

  #writeParameters({ member, runId }: Row, at: number): void {
    let places = this.#places.get(member);
    if (places === undefined) {
      places = member.sampler.names.map((name) => this.#parameters.get(name));
      this.#places.set(member, places);
    }
    if (this.#sample.length !== places.length) this.#sample = new Float64Array(places.length);
    member.sampler.sampleInto(runId, this.#sample);
    for (let place = 0; place < places.length; place++) {
      const values = places[place];
      if (values !== undefined) values[at] = this.#sample[place]!;
    }
  }

  #writeOutput(cells: Cells, at: number, result: ResultReader, place: number): void {
    if (cells.type === 'mixed') cells.values[at] = result.outputValue(place);
    else if (cells.type === 'text') cells.values[at] = result.outputText(place);
    else if (cells.digits !== undefined && result.kind(place) === KIND.number) {
      const { bytes, start, end } = result.outputBytes(place);
      cells.digits.set(at, bytes, start, end);
    } else cells.values[at] = result.outputNumber(place);
  }
}
