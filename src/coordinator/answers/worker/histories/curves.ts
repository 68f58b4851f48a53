/** The curves of runs at some points of a history, row after row, from the stored histories of their studies. */
import { batchOf, runIdOf, type RunTable } from '../../../../analysis/table/run-table.ts';
import type { BatchConfig, Uuid } from '../../../../contract/types.ts';
import { SimbatchError } from '../../../../domain/errors.ts';
import { historyName, pointCount } from '../../../../domain/histories/points.ts';
import { historyBlocks } from './blocks.ts';

/** Larger matrices are read in so many passes that the worker would have no time for other questions: 200,000 runs of 500 points. */
const MOST_VALUES = 100_000_000;

/** The records of the history at a place of a study; `close` ends the reading. */
export interface HistoryReading {
  next: () => Promise<Uint8Array | null>;
  close: () => Promise<void>;
}

/** A study whose runs are in the table. */
interface Member {
  table: Pick<RunTable, 'batchId'>;
  submission: { config: Pick<BatchConfig, 'histories'> };
}

export interface CurvesRequest {
  /** The name of the history. */
  name: string;
  /** Rows of the table. */
  rows: readonly number[];
  /** The points from `from` to before `to`. */
  points: { from: number; to: number };
}

/**
 * `to - from` values a row; NaN where a run left none, or where its study has no such history.
 * @throws SimbatchError `answer-too-large`; those of the reading
 */
export async function readCurves(
  table: RunTable,
  members: readonly Member[],
  { name, rows, points: { from, to } }: CurvesRequest,
  open: (batchId: Uuid, place: number) => Promise<HistoryReading>,
): Promise<Float64Array> {
  const width = to - from;
  const values = new Float64Array(rows.length * width);
  const isRead = new Uint8Array(rows.length);
  for (const { table: own, submission } of members) {
    const histories = submission.config.histories ?? [];
    const place = histories.findIndex((it) => historyName(it) === name);
    if (place === -1) continue;
    const count = pointCount(histories[place]!.at);
    requireBounded(rows.length, count);
    const places = new Map<number, number>();
    for (const [at, row] of rows.entries())
      if (batchOf(table, row) === own.batchId) places.set(runIdOf(table, row), at);
    const reading = await open(own.batchId, place);
    try {
      for await (const block of historyBlocks(reading.next, count)) {
        for (const [at, runId] of block.runs.entries()) {
          const target = places.get(runId);
          if (target === undefined) continue;
          values.set(block.values.subarray(at * count + from, at * count + to), target * width);
          isRead[target] = 1;
        }
      }
    } finally {
      await reading.close();
    }
  }
  for (const [at, flag] of isRead.entries()) if (flag === 0) values.fill(Number.NaN, at * width, (at + 1) * width);
  return values;
}

function requireBounded(runs: number, points: number): void {
  if (runs * points <= MOST_VALUES) return;
  throw new SimbatchError(
    'answer-too-large',
    `the band is not computed: ${runs} runs of ${points} points are more than ${MOST_VALUES} values; select fewer runs with \`where\`, such as run_id < ${Math.floor(MOST_VALUES / points)}`,
  );
}
