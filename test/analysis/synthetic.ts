/** Columns of synthetic studies, the same in every run of the tests. */
import { openUniform, philox } from '../../src/domain/sampling/philox.ts';
import type { NumericColumn } from '../../src/analysis/numeric/columns.ts';

/** An endless sequence of uniforms in (0, 1); another sequence for every seed. */
export function uniformSource(seed: number): () => number {
  const block = new Int32Array(4);
  let counter = 0;
  return () => {
    philox(seed, 0, counter++, 0, 0, 0, block);
    return openUniform(block[0]!, block[1]!);
  };
}

export function column(name: string, n: number, value: (run: number) => number): NumericColumn {
  return { name, values: Float64Array.from({ length: n }, (_, run) => value(run)) };
}

/** `count` independent uniform columns p0, p1, ... of n runs. */
export function uniformColumns(count: number, n: number, uniform: () => number): NumericColumn[] {
  return Array.from({ length: count }, (_, j) => column(`p${j}`, n, uniform));
}

/** Columns from the reference data's members by name. */
export function namedColumns(byName: Record<string, number[]>): NumericColumn[] {
  return Object.entries(byName).map(([name, values]) => ({ name, values: Float64Array.from(values) }));
}
