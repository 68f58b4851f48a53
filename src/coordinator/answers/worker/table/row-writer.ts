/** Writes runs into the columns of a chunk. */
import { codeOf, reasonOf as endReasonOf } from '../../../../domain/runs/run-end.ts';
import { type Cells, Chunk } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import type { RunColumn } from '../../../../contract/types.ts';
import { runClassOf } from '../../../../analysis/table/run-class.ts';
import { jobId } from '../../../../domain/ids.ts';
import { executionSecsOf, numberOf, visitOutputs } from '../../../../domain/runs/outputs.ts';
import type { RowKind } from '../../row-readings.ts';
import { metCondition } from '../study.ts';
import { type Member, type Row, replicateOf, statusOf } from './members.ts';

type Value = number | string | null | undefined;

/** The records that a column of runs is read from, and its value. */
interface RunValue {
  kinds: readonly RowKind[];
  of: (row: Row) => Value;
}

/** Why the last attempt failed; null for a run that completed. */
const reasonOf = ({ run: { job } }: Row): string | null => (job === undefined ? null : endReasonOf(job));

const messageOf = ({ run: { job, result } }: Row): string | null => job?.error ?? result?.error_message ?? null;

function ruleOf(row: Row): string | null {
  if (reasonOf(row) !== 'early_termination') return null;
  const rule = row.run.result?.terminated_by ?? metCondition(messageOf(row), row.member.conditions);
  return rule === undefined ? null : ruleText(rule);
}

const ruleText = ({ variable, condition }: { variable: string; condition: string }): string =>
  `${variable} ${condition}`;

/** Runs that were never claimed end with their batch. */
const endOf = ({ run: { job }, member }: Row): number | undefined =>
  job === undefined ? (member.head.isCancelled ? member.head.endedAtMs : undefined) : job.completedAtMs;

const JOB = ['job'] as const;
const RESULT = ['result'] as const;
const BOTH = ['job', 'result'] as const;
const RUN_VALUES: Readonly<Record<RunColumn, RunValue>> = {
  run_id: { kinds: [], of: ({ run }) => run.runId },
  replicate: { kinds: [], of: ({ member, run }) => replicateOf(member, run.runId) },
  batch_id: { kinds: [], of: ({ member }) => member.head.batchId },
  job_id: { kinds: [], of: ({ member, run }) => jobId(member.head.batchId, run.runId) },
  status: { kinds: JOB, of: statusOf },
  class: { kinds: JOB, of: (row) => runClassOf(statusOf(row), reasonOf(row)) },
  reason: { kinds: JOB, of: reasonOf },
  attempt: { kinds: JOB, of: ({ run }) => run.job?.attempt ?? 0 },
  runner_id: { kinds: JOB, of: ({ run }) => run.job?.runnerId },
  code: { kinds: JOB, of: ({ run }) => run.job && codeOf(run.job) },
  reused_from: { kinds: JOB, of: ({ run }) => run.job?.reusedFrom },
  started_at: { kinds: JOB, of: ({ run }) => run.job?.startedAtMs },
  ended_at: { kinds: JOB, of: endOf },
  execution_secs: { kinds: RESULT, of: ({ run }) => run.result && executionSecsOf(run.result) },
  error_message: { kinds: BOTH, of: messageOf },
  terminated_by: { kinds: BOTH, of: ruleOf },
  would_terminate: {
    kinds: RESULT,
    of: ({ run }) => run.result?.would_terminate && ruleText(run.result.would_terminate),
  },
  telemetry_lost: { kinds: RESULT, of: ({ run }) => run.result?.telemetry?.lost },
  round: { kinds: [], of: ({ member, run }) => member.rounds?.roundOf(run.runId) },
  draw: { kinds: [], of: ({ member, run }) => member.sampler.drawOf?.(run.runId) },
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
  readonly #outputs = new Map<string, Cells>();
  /** For each member, the parameter columns by the place of the parameter. */
  readonly #places = new Map<Member, (Float64Array | undefined)[]>();
  #sample = new Float64Array();

  constructor(columns: readonly Column[], capacity: number) {
    this.chunk = new Chunk(columns, capacity);
    for (const [at, { source, member }] of columns.entries()) {
      const cells = this.chunk.cells[at]!;
      if (source === 'run') this.#runs.push({ cells, of: RUN_VALUES[member as RunColumn].of });
      else if (source === 'axis')
        this.#runs.push({ cells, of: ({ member: it, run }) => it.sampler.scenarioOf?.(run.runId).scenario[member] });
      else if (source === 'output') this.#outputs.set(member, cells);
      else if (cells.type === 'number') this.#parameters.set(member, cells.values);
    }
  }

  get isFull(): boolean {
    return this.chunk.rows === this.chunk.capacity;
  }

  write(row: Row): void {
    const at = this.chunk.add();
    for (const { cells, of } of this.#runs) {
      const value = of(row);
      if (value !== undefined && value !== null) cells.values[at] = value;
    }
    if (this.#parameters.size > 0) this.#writeParameters(row, at);
    if (this.#outputs.size > 0 && row.run.result !== undefined) this.#writeOutputs(row.run.result.metadata, at);
  }

  #writeOutputs(metadata: object, at: number): void {
    visitOutputs(metadata, (name, value) => {
      const cells = this.#outputs.get(name);
      if (cells === undefined) return;
      if (cells.type === 'mixed') cells.values[at] = value;
      else if (cells.type === 'text') cells.values[at] = typeof value === 'string' ? value : null;
      else cells.values[at] = numberOf(value) ?? Number.NaN;
    });
  }

  #writeParameters({ member, run }: Row, at: number): void {
    let places = this.#places.get(member);
    if (places === undefined) {
      places = member.sampler.names.map((name) => this.#parameters.get(name));
      this.#places.set(member, places);
    }
    if (this.#sample.length !== places.length) this.#sample = new Float64Array(places.length);
    member.sampler.sampleInto(run.runId, this.#sample);
    for (let place = 0; place < places.length; place++) {
      const values = places[place];
      if (values !== undefined) values[at] = this.#sample[place]!;
    }
  }
}
