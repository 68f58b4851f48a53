/** State that the cards of a study share: its runs, the selection, the target, log axes and colours. */
import type { BatchStatusResponse, BatchSubmission } from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import type { Histogram } from '../plots/bins.ts';
import type { Scale } from '../plots/scale.ts';
import { isSelected, kindOf, type Variable } from '../plots/variables.ts';
import type { Relevance, Target } from './target.ts';

/** The part of the state that plots draw: another object only when a plot would look different. */
export interface Drawn {
  table: RunTable;
  status: Uint8Array;
  /** 1 for selected runs; undefined: all. */
  mask: Uint8Array | undefined;
  /** The variable that colours the points; undefined: by outcome. */
  colouring: Variable | undefined;
  isLog: (key: string) => boolean;
  /** The scale of a variable, computed once. */
  scale: (variable: Variable) => Scale;
  /** The histogram of a number over all runs, computed once; undefined without values. */
  histogram: (variable: Variable) => Histogram | undefined;
  /** The runs to draw as points, ascending; failed ones are not thinned out. */
  sample: Uint32Array;
}

export interface Bench extends Drawn {
  drawn: Drawn;
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  query: URLSearchParams;
  /** The variables that vary, the most relevant of each kind first. */
  variables: readonly Variable[];
  target: Target | undefined;
  relevance: ReadonlyMap<string, Relevance>;
  /** The quantity in `relevance`, as the label of an axis. */
  measure: string;
  /** The limits of `relevance`, in sentences. */
  relevanceNote: string;
  /** Sets ranges of variables, or removes them. */
  select: (ranges: readonly (readonly [key: string, range: readonly [number, number] | undefined])[]) => void;
}

/** How the run of a row is drawn: in the background, selected, or failed. */
export const kindOfRow = ({ status, mask }: Drawn, row: number): number => kindOf(status[row]!, isSelected(mask, row));

export const listOf = (text: string | null): string[] => (text === null || text === '' ? [] : text.split(','));

export const isNumber = ({ categories }: Variable): boolean => categories === undefined;

export const findVariable = ({ variables }: Bench, key: string | null | undefined): Variable | undefined =>
  variables.find((it) => it.key === key);

/** The variable of the target; else the first output, or the first variable. */
export function targetVariable(bench: Bench): Variable | undefined {
  const numbers = bench.variables.filter(isNumber);
  return (
    numbers.find((it) => it.kind === 'output' && it.name === bench.target?.output) ??
    numbers.find((it) => it.kind === 'output' && it.name !== 'execution_secs') ??
    numbers[0]
  );
}

/** The variable that the reader looks at: the one of the address, or the most relevant input. */
export function focused(bench: Bench): Variable | undefined {
  const key = bench.query.get('x');
  const target = targetVariable(bench);
  return (
    findVariable(bench, key) ??
    bench.variables.find((it) => it.kind === 'parameter' && it !== target) ??
    bench.variables.find((it) => it !== target)
  );
}

/** The variables of these keys; else the most relevant ones: inputs, and outputs beside the target up to half. */
export function chosenVariables(bench: Bench, keys: readonly string[], most: number): Variable[] {
  const found = keys.flatMap((key) => findVariable(bench, key) ?? []);
  if (found.length > 1) return found;
  const numbers = bench.variables.filter((it) => isNumber(it) && it.key !== 'o.execution_secs');
  const target = targetVariable(bench);
  const outputs = [target, ...numbers.filter((it) => it.kind === 'output')].flatMap((it) => it ?? []);
  const shown = [...new Set(outputs)].slice(0, Math.ceil(most / 2));
  const inputs = numbers.filter((it) => it.kind === 'parameter').slice(0, most - shown.length);
  return [...inputs, ...shown];
}

/** Every n-th of the rows, so that at most `most` are left. */
export function thinned(rows: Uint32Array, most: number): Uint32Array {
  if (rows.length <= most) return rows;
  return Uint32Array.from({ length: most }, (_, at) => rows[Math.floor((at * rows.length) / most)]!);
}
