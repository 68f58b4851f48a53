/**
 * Variables of a study for plots: each parameter and output as a column over the runs, and the selection of runs that all
 * plots share. Pure.
 */
import { STATUS_CODE } from '../data/run-columns.ts';
import type { RunTable, TextValues } from '../data/run-table.ts';

export interface Variable {
  /** Distinct from an output of the same name. */
  key: string;
  name: string;
  /** The name with the units that the study declares. */
  label: string;
  kind: 'parameter' | 'output';
  /** Booleans are 0 and 1, texts are their codes; NaN is a missing value. */
  values: Float64Array;
  /** The words of the values 0, 1, ... of a boolean or a text; undefined for a number. */
  categories?: readonly string[];
}

export function variablesOf(table: RunTable): Variable[] {
  const { parameters, outputs } = table.units;
  const output = (name: string, rest: Pick<Variable, 'values' | 'categories'>): Variable => ({
    ...rest,
    name,
    key: `o.${name}`,
    label: labelOf(name, outputs.get(name)),
    kind: 'output',
  });
  return [
    ...table.parameters.map((it): Variable => ({
      ...it,
      key: `p.${it.name}`,
      label: labelOf(it.name, parameters.get(it.name)),
      kind: 'parameter',
    })),
    ...[...table.outputs].map(([name, values]) =>
      output(name, table.booleans.has(name) ? { values, categories: ['false', 'true'] } : { values }),
    ),
    ...[...table.texts]
      .filter(([name]) => !table.outputs.has(name))
      .map(([name, texts]) => output(name, { values: codesOf(texts), categories: texts.values })),
  ];
}

const codesOf = ({ codes }: TextValues): Float64Array => Float64Array.from(codes, (it) => (it === 0 ? Number.NaN : it));

/** The units in a label; undefined without any. */
export const unitsIn = ({ label }: Pick<Variable, 'label'>): string | undefined => /\[(.+)\]$/.exec(label)?.[1];

export const labelOf = (name: string, units: string | undefined): string =>
  units === undefined || units === '' ? name : `${name} [${units}]`;

/** A fixed parameter has no distribution. */
export function varies({ values }: Variable): boolean {
  let first = Number.NaN;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (Number.isNaN(first)) first = value;
    else if (value !== first) return true;
  }
  return false;
}

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

/** True for a selected run; without a selection all are. */
export const isSelected = (mask: Uint8Array | undefined, row: number): boolean => mask === undefined || mask[row] === 1;

export const isFailure = (code: number): boolean => code === STATUS_CODE.Failed || code === STATUS_CODE.Timeout;
/** True for a run that ended by itself; the others have no outcome. */
export const isEnded = (code: number): boolean => isFailure(code) || code === STATUS_CODE.Completed;

/** The kinds of a run in plots, in the order in which they are drawn. */
export const BACKGROUND = 0;
export const SELECTED = 1;
export const FAILED = 2;

/** A run without an outcome is drawn in the background, like a run that is not selected. */
export function kindOf(code: number, isChosen: boolean): number {
  if (!isChosen || !isEnded(code)) return BACKGROUND;
  return isFailure(code) ? FAILED : SELECTED;
}

/** Failed runs among the ended ones, inside the selection and outside. */
export interface Shares {
  inside: { failed: number; ended: number };
  outside: { failed: number; ended: number };
}

export function sharesOf(status: Uint8Array, mask: Uint8Array | undefined): Shares {
  const shares: Shares = { inside: { failed: 0, ended: 0 }, outside: { failed: 0, ended: 0 } };
  for (let run = 0; run < status.length; run += 1) {
    const code = status[run]!;
    if (!isEnded(code)) continue;
    const side = isSelected(mask, run) ? shares.inside : shares.outside;
    side.ended += 1;
    if (isFailure(code)) side.failed += 1;
  }
  return shares;
}

/**
 * Returns runs to draw: those that failed first, up to half of the limit, so that none is thinned out by the others; then
 * an even spread over the completed runs, then over the others. Ascending.
 */
export function sampleRuns(status: Uint8Array, limit: number): Uint32Array {
  const counts = [0, 0, 0];
  for (let run = 0; run < status.length; run += 1) counts[rankOf(status[run]!)]! += 1;
  const [failed, completed, others] = counts as [number, number, number];
  const bad = Math.min(failed, Math.max(Math.floor(limit / 2), limit - completed - others));
  const good = Math.min(completed, limit - bad);
  const quotas = [bad, good, Math.min(others, limit - bad - good)];
  const sample = new Uint32Array(quotas[0]! + quotas[1]! + quotas[2]!);
  const seen = [0, 0, 0];
  let length = 0;
  for (let run = 0; run < status.length; run += 1) {
    const rank = rankOf(status[run]!);
    const at = seen[rank]!;
    seen[rank] = at + 1;
    // A run is taken where its quota, in proportion to the runs passed, rises to the next whole number.
    const share = quotas[rank]! / counts[rank]!;
    if (Math.floor((at + 1) * share + 1e-9) > Math.floor(at * share + 1e-9)) {
      if (length < sample.length) sample[length] = run;
      length += 1;
    }
  }
  return sample.subarray(0, Math.min(length, sample.length));
}

const rankOf = (code: number): number => (isFailure(code) ? 0 : isEnded(code) ? 1 : 2);
