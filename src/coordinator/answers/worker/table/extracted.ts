/**
 * Outputs of extractions in the table of the study that they are about, as `NAME.output`. The results of the study are read as they are, and the
 * outputs of the same runs of its extractions are added to them, as of the same instant; nothing is stored.
 */
import type { ExtractedBatch } from '../../../../analysis/table/extracted.ts';
import type { Warning } from '../../../../analysis/warning.ts';
import type { StoredResult } from '../../../../contract/types.ts';
import { plural } from '../../../../domain/plural.ts';
import { runIdOf } from '../../../../domain/ids.ts';
import { outputsOf } from '../../../../domain/runs/outputs.ts';
import { idOf } from '../../../kernel/storage/keys.ts';
import type { ReadingHead, RowKind, RowsRequest } from '../../row-readings.ts';
import { recordsIn } from '../runs.ts';

/** The coordinator's side: readings of batches as of one instant. */
export interface TableReadings {
  next(request: { reading: number; kind: RowKind }): Promise<Uint8Array | null>;
  rows(request: RowsRequest): Promise<Uint8Array>;
  restart(request: { reading: number; from?: number }): Promise<void>;
}

/** An extraction of a batch of a table, with its reading. */
export interface Extracted extends ExtractedBatch {
  head: ReadingHead;
}

/** A batch of a table, with its extractions. */
export interface TableHead extends ReadingHead {
  extracted?: readonly Extracted[];
}

/** The batches of a table with their extractions; `heads` has the readings of the batches, then those of the extractions. */
export function withExtracted(heads: readonly ReadingHead[], extracted: readonly ExtractedBatch[]): TableHead[] {
  const own = heads.slice(0, heads.length - extracted.length);
  const children = extracted.map((it, at): Extracted => ({ ...it, head: heads[own.length + at]! }));
  return own.map((head) => {
    const mine = children.filter(({ of }) => of === head.batchId);
    if (mine.length === 0) return head;
    // A remembered table holds for these versions of its extractions.
    const version = JSON.stringify([head.version, mine.map((it) => [it.head.batchId, it.head.version])]);
    return { ...head, version, extracted: mine };
  });
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();
/** Members of the metadata that the runner adds. */
const OWN_PREFIX = 'simbatch_';

/** The extractions beside a reading, and the names of their columns that are those of outputs of the study itself. */
interface Beside {
  extracted: readonly Extracted[];
  taken: Set<string>;
}

/** Readings of batches, with the outputs of their extractions in the results of those that are open here. */
export class ExtractedReadings implements TableReadings {
  readonly restart: TableReadings['restart'];
  readonly #readings: TableReadings;
  readonly #beside = new Map<number, Beside>();

  constructor(readings: TableReadings) {
    this.#readings = readings;
    this.restart = (request) => readings.restart(request);
  }

  /** Adds outputs from now on, until `close`. */
  open(heads: readonly TableHead[]): void {
    for (const { reading, extracted } of heads)
      if (extracted !== undefined) this.#beside.set(reading, { extracted, taken: new Set() });
  }

  close(heads: readonly TableHead[]): void {
    for (const { reading } of heads) this.#beside.delete(reading);
  }

  /** The limits of the columns of extractions: files that are gone, open runs, thinned-out telemetry, names of the study's own outputs. */
  warnings(heads: readonly TableHead[]): Warning[] {
    return heads.flatMap(({ reading, extracted = [] }) => [
      ...extracted.flatMap(warningsOf),
      ...[...(this.#beside.get(reading)?.taken ?? [])].map((it) =>
        said(`${it} is an output of the study itself: that of the extraction is not shown`),
      ),
    ]);
  }

  async next(request: { reading: number; kind: RowKind }): Promise<Uint8Array | null> {
    const chunk = await this.#readings.next(request);
    return chunk === null ? null : await this.#added(request, chunk);
  }

  async rows(request: RowsRequest): Promise<Uint8Array> {
    return await this.#added(request, await this.#readings.rows(request));
  }

  async #added({ reading, kind }: Pick<RowsRequest, 'reading' | 'kind'>, chunk: Uint8Array): Promise<Uint8Array> {
    const beside = this.#beside.get(reading);
    if (kind !== 'result' || beside === undefined || chunk.length === 0) return chunk;
    const lines = decoder.decode(chunk).split('\n');
    const keys = lines.map((line) => line.slice(0, line.indexOf('\t')));
    const runIds = Uint32Array.from(keys, (key) => runIdOf(idOf(key)));
    const outputs: { name: string; results: Map<number, string> }[] = [];
    for (const { name, head } of beside.extracted) {
      const found = await this.#readings.rows({ reading: head.reading, kind, runIds });
      outputs.push({ name, results: new Map(recordsIn(found)) });
    }
    const added = lines.map((line, at) => {
      const key = keys[at]!;
      const texts = outputs.flatMap(({ name, results }) => {
        const text = results.get(runIds[at]!);
        return text === undefined ? [] : [{ name, text }];
      });
      return texts.length === 0 ? line : `${key}\t${joined(line.slice(key.length + 1), texts, beside.taken)}`;
    });
    return encoder.encode(added.join('\n'));
  }
}

/** The text of a result with the outputs of those of the extractions. `taken` gets names that it has itself. */
function joined(text: string, extracted: readonly { name: string; text: string }[], taken: Set<string>): string {
  const result = JSON.parse(text) as StoredResult;
  const own = outputsOf(result.metadata);
  const metadata: Record<string, unknown> = { ...result.metadata };
  for (const { name, text: other } of extracted) {
    const { success, metadata: computed } = JSON.parse(other) as StoredResult;
    if (!success) continue;
    for (const [output, value] of outputsOf(computed)) {
      if (output.startsWith(OWN_PREFIX)) continue;
      const column = `${name}.${output}`;
      if (own.has(column)) taken.add(column);
      else metadata[column] = value;
    }
  }
  return JSON.stringify({ ...result, metadata });
}

const said = (message: string): Warning => ({ code: 'extracted', message });

const warningsOf = ({ name, notes, head: { openRuns } }: Extracted): Warning[] => [
  ...notes.map((it) => said(`${name}: ${it}`)),
  ...(openRuns === 0 ? [] : [said(`${name}: ${plural(openRuns, 'run')} of the extraction are not there yet`)]),
];
