/** Histograms of the parameters and outputs of a study, with the failed runs among them. */
import type { StudyDistributions } from '../../contract/types.ts';
import { RUN_CLASSES, type RunClass } from '../table/run-class.ts';
import { binCount, binLimits, sampleStep } from './bins.ts';
import { answerHeader } from '../table/header.ts';
import { type RunTable, outputColumn, outputNames } from '../table/run-table.ts';

/** Equal bins from `from` to `to`; the last one includes its upper edge. */
export type Histogram = StudyDistributions['variables'][number];

export interface DistributionsRequest {
  /** Number of bins, from 1 to 200; twice the cube root of the number of values, at most 40, when absent. */
  bins?: number;
  /** Units by `parameters.NAME` and `outputs.NAME`. */
  units?: ReadonlyMap<string, string>;
}

const FAILED: readonly RunClass[] = ['terminated', 'crashed', 'timeout', 'lost'];

/** Parameters over all runs, outputs over the completed ones. A variable without two distinct values has no histogram. */
export function distributions(table: RunTable, { bins, units }: DistributionsRequest = {}): StudyDistributions {
  const isFailed = RUN_CLASSES.map((name) => FAILED.includes(name));
  const isCompleted = RUN_CLASSES.map((name) => name === 'ok');
  const everyRun = RUN_CLASSES.map(() => true);
  const variables: Histogram[] = [];
  const add = (kind: Histogram['kind'], name: string, values: Float64Array, used: readonly boolean[]): void => {
    const found = histogramOf({ values, classes: table.classes, used, isFailed }, bins);
    const unit = units?.get(`${kind}s.${name}`) ?? null;
    if (found !== undefined) variables.push({ name, kind, units: unit, ...found });
  };
  for (const [name, values] of table.parameters) add('parameter', name, values, everyRun);
  for (const name of outputNames(table)) {
    const values = outputColumn(table, name);
    if (values !== undefined) add('output', name, values, isCompleted);
  }
  return { ...answerHeader(table), variables };
}

interface Column {
  values: Float64Array;
  classes: Uint8Array;
  used: readonly boolean[];
  isFailed: readonly boolean[];
}

function histogramOf(
  column: Column,
  asked: number | undefined,
): Omit<Histogram, 'name' | 'kind' | 'units'> | undefined {
  const { values, classes, used, isFailed } = column;
  let [count, min, max] = [0, Infinity, -Infinity];
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (!Number.isFinite(value) || !used[classes[row]!]!) continue;
    count++;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (count === 0 || min === max) return undefined;
  const [from, to] = limitsOf(column, { count, min, max });
  const bins = asked ?? binCount(count);
  const counts = Array.from({ length: bins }, () => 0);
  const failed = Array.from({ length: bins }, () => 0);
  let [below, above] = [0, 0];
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    const code = classes[row]!;
    if (!Number.isFinite(value) || !used[code]!) continue;
    if (value < from) below++;
    else if (value > to) above++;
    else {
      const bin = Math.min(bins - 1, Math.floor(((value - from) / (to - from)) * bins));
      counts[bin]!++;
      if (isFailed[code]!) failed[bin]!++;
    }
  }
  return { count, from, to, counts, failed, below, above, min, max };
}

function limitsOf(column: Column, { count, min, max }: { count: number; min: number; max: number }): [number, number] {
  const every = sampleStep(count);
  const some = new Float64Array(Math.ceil(count / every));
  let [seen, taken] = [0, 0];
  for (let row = 0; row < column.values.length; row++) {
    const value = column.values[row]!;
    if (!Number.isFinite(value) || !column.used[column.classes[row]!]!) continue;
    if (seen++ % every === 0) some[taken++] = value;
  }
  return binLimits(some.subarray(0, taken), min, max);
}
