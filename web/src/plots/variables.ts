/**
 * Variables of a study for plots: each parameter and numeric output as a column over the runs, and the selection of runs by
 * ranges that all plots share. Pure.
 */
import { STATUS_CODE } from '../data/run-columns.ts';
import type { RunTable } from '../data/run-table.ts';

export interface Variable {
  /** Distinct from an output of the same name. */
  key: string;
  name: string;
  /** The name with the units that the study declares. */
  label: string;
  kind: 'parameter' | 'output';
  values: Float64Array;
}

export function variablesOf(table: RunTable): Variable[] {
  const { parameters, outputs } = table.units;
  return [
    ...table.parameters.map((it): Variable => ({
      ...it,
      key: `p.${it.name}`,
      label: labelOf(it.name, parameters.get(it.name)),
      kind: 'parameter',
    })),
    ...[...table.outputs].map(([name, values]): Variable => ({
      name,
      values,
      key: `o.${name}`,
      label: labelOf(name, outputs.get(name)),
      kind: 'output',
    })),
  ];
}

export const labelOf = (name: string, units: string | undefined): string =>
  units === undefined ? name : `${name} [${units}]`;

/** Ranges (from, to) by key of a variable. */
export type Ranges = ReadonlyMap<string, readonly [number, number]>;

/** `key:from..to`, several separated by `;`. Invalid parts are ignored. */
export function readRanges(text: string | null): Ranges {
  const ranges = new Map<string, readonly [number, number]>();
  for (const part of (text ?? '').split(';')) {
    const [, key, from, to] = /^(.+):([^:]*)\.\.([^:]*)$/.exec(part) ?? [];
    if (key === undefined) continue;
    const range = [from === '' ? -Infinity : Number(from), to === '' ? Infinity : Number(to)] as const;
    if (!range.some(Number.isNaN)) ranges.set(key, range);
  }
  return ranges;
}

export function writeRanges(ranges: Ranges): string {
  const end = (value: number): string => (Number.isFinite(value) ? String(Number(value.toPrecision(6))) : '');
  return [...ranges].map(([key, [from, to]]) => `${key}:${end(from)}..${end(to)}`).join(';');
}

/** Selected runs are 1. Undefined without a selection, which means all. */
export function selectedRuns(size: number, variables: readonly Variable[], ranges: Ranges): Uint8Array | undefined {
  if (ranges.size === 0) return undefined;
  const mask = new Uint8Array(size).fill(1);
  for (const { key, values } of variables) {
    const range = ranges.get(key);
    if (range === undefined) continue;
    const [from, to] = range;
    for (let run = 0; run < size; run += 1) if (!(values[run]! >= from && values[run]! <= to)) mask[run] = 0;
  }
  return mask;
}

export const isFailure = (code: number): boolean => code === STATUS_CODE.Failed || code === STATUS_CODE.Timeout;

export interface Histogram {
  from: number;
  to: number;
  /** Per bin: all runs with a value, the selected ones, and the failed ones among these. */
  all: Uint32Array;
  selected: Uint32Array;
  failed: Uint32Array;
  count: number;
  mean: number;
  sd: number;
}

const MOST_BINS = 40;

/** Number of bins by Rice's rule, twice the cube root of the number of values. */
export function binsFor(values: Float64Array): number {
  let count = 0;
  for (const value of values) if (Number.isFinite(value)) count += 1;
  return Math.min(MOST_BINS, Math.max(5, Math.ceil(2 * Math.cbrt(count))));
}

/** Returns equal bins between the least and the greatest value; undefined without values. Statistics are of the selected runs. */
export function histogramOf(
  values: Float64Array,
  status: Uint8Array,
  mask: Uint8Array | undefined,
): Histogram | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (const value of values) {
    if (value < from && value !== -Infinity) from = value;
    if (value > to && value !== Infinity) to = value;
  }
  if (from > to) return undefined;
  const bins = binsFor(values);
  const scale = to > from ? bins / (to - from) : 0;
  const [all, selected, failed] = [new Uint32Array(bins), new Uint32Array(bins), new Uint32Array(bins)];
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (let run = 0; run < values.length; run += 1) {
    const value = values[run]!;
    if (!(value >= from && value <= to)) continue;
    const bin = Math.min(bins - 1, Math.floor((value - from) * scale));
    all[bin]! += 1;
    if (mask !== undefined && mask[run] === 0) continue;
    selected[bin]! += 1;
    if (isFailure(status[run]!)) failed[bin]! += 1;
    count += 1;
    const delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }
  return {
    from,
    to,
    all,
    selected,
    failed,
    count,
    mean,
    sd: count > 1 ? Math.sqrt(squares / (count - 1)) : Number.NaN,
  };
}

/** Returns at most `limit` of the runs that have all these values, evenly spread over the run numbers. */
export function sampleRuns(size: number, columns: readonly Float64Array[], limit: number): number[] {
  const runs: number[] = [];
  for (let run = 0; run < size; run += 1) if (columns.every((it) => Number.isFinite(it[run]!))) runs.push(run);
  if (runs.length <= limit) return runs;
  return Array.from({ length: limit }, (_, at) => runs[Math.floor((at * runs.length) / limit)]!);
}
