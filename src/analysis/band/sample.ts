/** The runs whose telemetry makes the band of a study: a drawn sample of bounded size, the same on every machine. */
import { createHash } from 'node:crypto';
import { TAG_BAND, bits52, philox } from '../../domain/sampling/philox.ts';
import type { BandSample, DrawOptions } from '../table/drawn-telemetry.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, completePrefix, runIdOf } from '../table/run-table.ts';

/** Runs that a band is made of, at most. */
export const BAND_RUNS = 64;

/** Classes of runs whose end is their own: a lost or cancelled run ends at a moment that has nothing to do with its parameters. */
const CLASSES = new Set<number>([CLASS_CODES.ok, CLASS_CODES.terminated, CLASS_CODES.crashed, CLASS_CODES.timeout]);

/**
 * Draws from the complete prefix, since short runs end first while runs are open: the runs with the smallest words of
 * philox(key: first two words of SHA-256(batch id); counter (run id, 0, 0, 8)). The sample of a study keeps most of its runs as the study grows.
 */
export function bandSample(table: RunTable, { without, selected }: DrawOptions = {}): BandSample {
  const digest = createHash('sha256').update(table.batchId, 'utf8').digest();
  const [k0, k1] = [digest.readInt32LE(0), digest.readInt32LE(4)];
  const block = new Int32Array(4);
  const prefix = completePrefix(table);
  const drawn: Drawn[] = [];
  let last = Infinity;
  let drawnFrom = 0;
  for (let row = 0; row < prefix; row++) {
    const runId = runIdOf(table, row);
    if (!CLASSES.has(table.classes[row]!) || runId === without || selected?.[row] === 0) continue;
    drawnFrom++;
    philox(k0, k1, runId, 0, 0, TAG_BAND, block);
    const rank = bits52(block[0]!, block[1]!);
    if (rank >= last) continue;
    drawn.push({ row, rank });
    if (drawn.length < 2 * BAND_RUNS) continue;
    keepSmallest(drawn);
    last = drawn.at(-1)!.rank;
  }
  keepSmallest(drawn);
  return { rows: drawn.map((it) => it.row).sort((a, b) => a - b), drawnFrom };
}

interface Drawn {
  row: number;
  rank: number;
}

function keepSmallest(drawn: Drawn[]): void {
  drawn.sort((a, b) => a.rank - b.rank || a.row - b.row);
  drawn.length = Math.min(drawn.length, BAND_RUNS);
}
