/** The table of a probe: which inputs were read, and what each changes in the outputs. Pure. */
import { isJsonObject } from '../../base/json/json-object.ts';
import type { JobResult } from '../../contract/types.ts';
import { LEAST_RUNS, type InputRead } from '../runs/look-ups.ts';
import { numberOf } from '../runs/outputs.ts';
import type { ProbeDesign, ProbedInput } from './plan.ts';

/** A run of a probe that has ended. */
export interface ProbeRun {
  run_id: number;
  /** The class of its end, such as `ok` or `crashed`. */
  class: string;
  /** JSON values by flat name. */
  outputs: Readonly<Record<string, unknown>>;
  parameters_read?: JobResult['parameters_read'];
}

/** An output of a run that differs from that of the nominal run. */
export interface ProbeChange {
  output: string;
  /** Absent: the nominal run has no such output. */
  nominal?: unknown;
  /** Absent: the run has no such output. */
  value?: unknown;
  /** (value - nominal) / |nominal|; null where one is not a number, or the nominal one is 0. */
  relative: number | null;
}

/** A run beside the nominal one. */
export interface ProbedEnd {
  run_id: number;
  class: string;
  changes: ProbeChange[];
}

/**
 * Whether an input changes anything: `none` when both of its runs end as the nominal one, and give every output of it to the bit.
 * `unknown` without outputs, where a run was lost, or where both ends of the input are its median.
 */
export type InputEffect = 'some' | 'none' | 'unknown';

export interface ProbeRow extends ProbedInput {
  read: InputRead;
  effect: InputEffect;
  at_low: ProbedEnd;
  at_high: ProbedEnd;
}

export interface ProbeTable {
  nominal: Pick<ProbeRun, 'run_id' | 'class' | 'outputs'>;
  inputs: ProbeRow[];
  /** All inputs low, and all inputs high; absent unless they were asked for. */
  corners?: { low: ProbedEnd; high: ProbedEnd };
}

/** @param runs one for each role, in the order of the roles. @throws RangeError for another number of runs */
export function probeTable({ inputs, roles }: ProbeDesign, runs: readonly ProbeRun[]): ProbeTable {
  if (runs.length !== roles.length) throw new RangeError(`${runs.length} runs for a probe of ${roles.length}`);
  const nominal = runs[0]!;
  const ends = runs.map((run): ProbedEnd => ({
    run_id: run.run_id,
    class: run.class,
    changes: changesOf(nominal, run),
  }));
  const table: ProbeTable = {
    nominal: { run_id: nominal.run_id, class: nominal.class, outputs: nominal.outputs },
    inputs: inputs.map((it, at) => {
      const [low, high] = [ends[2 * at + 1]!, ends[2 * at + 2]!];
      return {
        ...it,
        read: readOf(it.name, runs),
        effect: effectOf(it, nominal, low, high),
        at_low: low,
        at_high: high,
      };
    }),
  };
  if (roles.at(-1)!.kind !== 'corner') return table;
  return { ...table, corners: { low: ends.at(-2)!, high: ends.at(-1)! } };
}

/** The inputs that a probe shows to have no effect: never read, or read and without effect. */
export const idleInputs = ({ inputs }: ProbeTable): ProbeRow[] =>
  inputs.filter(({ read, effect }) => read === 'never' || effect === 'none');

function readOf(name: string, runs: readonly ProbeRun[]): InputRead {
  const known = runs.filter((it) => it.class === 'ok' && it.parameters_read !== undefined);
  const isRead = known.some(({ parameters_read: read }) => read === 'all' || read!.includes(name));
  if (isRead) return 'read';
  return known.length < LEAST_RUNS ? 'unknown' : 'never';
}

/** Ends that say nothing about an input: the run was not executed to an end of its own. */
const SILENT: ReadonlySet<string> = new Set(['lost', 'cancelled', 'open']);

function effectOf(it: ProbedInput, nominal: ProbeRun, low: ProbedEnd, high: ProbedEnd): InputEffect {
  const ends = [low, high];
  if ([nominal, ...ends].some((end) => SILENT.has(end.class))) return 'unknown';
  if (ends.some((end) => end.class !== nominal.class || end.changes.length > 0)) return 'some';
  const isVaried = it.low !== it.nominal || it.high !== it.nominal;
  return isVaried && Object.keys(nominal.outputs).length > 0 ? 'none' : 'unknown';
}

/** Outputs that the runner adds are not those of the simulation. */
const isOwn = (name: string): boolean => !/^simbatch_(notes|container)\b/.test(name);

function changesOf(nominal: ProbeRun, run: ProbeRun): ProbeChange[] {
  const names = new Set([...Object.keys(nominal.outputs), ...Object.keys(run.outputs)].filter(isOwn));
  return [...names].flatMap((output): ProbeChange[] => {
    const [before, value] = [nominal, run].map(({ outputs }) =>
      Object.hasOwn(outputs, output) ? outputs[output] : undefined,
    );
    if (isSame(before, value)) return [];
    const change: ProbeChange = { output, relative: relativeOf(numberOf(before), numberOf(value)) };
    if (before !== undefined) change.nominal = before;
    if (value !== undefined) change.value = value;
    return [change];
  });
}

/** Whether two JSON values are the same, numbers to the bit. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((it, at) => isSame(it, other[at]));
  if (!isJsonObject(one) || !isJsonObject(other)) return Object.is(one, other);
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

const relativeOf = (before: number | undefined, value: number | undefined): number | null =>
  before === undefined || value === undefined || before === 0 ? null : (value - before) / Math.abs(before);
