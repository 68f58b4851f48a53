/** The values of one output in the completed runs: sorted, and averaged by replicate. */
import { NumberSeries } from '../numeric/statistics.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, outputColumn, replicateReader, statisticRows } from '../table/run-table.ts';

export interface Sample {
  series: NumberSeries;
  /** Completed runs without a finite value. */
  missing: number;
  /** The mean of each replicate that has values; one entry where the study has no replicates. */
  replicateMeans: readonly number[];
}

/** The sample of an output. Undefined when the table has no numbers of that name. */
export function sampleOf(table: RunTable, name: string): Sample | undefined {
  const values = outputColumn(table, name);
  if (values === undefined) return undefined;
  const { classes } = table;
  const replicateOf = replicateReader(table);
  const rows = statisticRows(table);
  const series = new NumberSeries();
  const means = new ReplicateMeans();
  let missing = 0;
  for (let row = 0; row < rows; row++) {
    if (classes[row] !== CLASS_CODES.ok) continue;
    const value = values[row]!;
    if (Number.isNaN(value)) {
      missing++;
      continue;
    }
    series.add(value);
    if (replicateOf !== undefined) means.add(replicateOf(row), value);
  }
  return { series, missing, replicateMeans: replicateOf === undefined ? [series.mean] : means.values() };
}

/** The running mean of each replicate. */
export class ReplicateMeans {
  readonly #means = new Map<number, { count: number; mean: number }>();

  add(replicate: number, value: number): void {
    let entry = this.#means.get(replicate);
    if (entry === undefined) this.#means.set(replicate, (entry = { count: 0, mean: 0 }));
    entry.mean += (value - entry.mean) / ++entry.count;
  }

  /** Returns the sample in the order of the first values. */
  values(): number[] {
    return [...this.#means.values()].map((it) => it.mean);
  }
}
