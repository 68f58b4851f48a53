/** State that the plots of a study share: runs, selection, log axes and colours. */
import type { Scale } from '../plots/canvas.tsx';
import type { Variable } from '../plots/variables.ts';

export interface Plots {
  status: Uint8Array;
  /** 1 for selected runs; undefined: all. */
  mask: Uint8Array | undefined;
  /** The variable that colours the points; undefined: by outcome. */
  colouring: Variable | undefined;
  isLog: (key: string) => boolean;
  /** The scale of a variable, computed once. */
  scale: (variable: Variable) => Scale;
  /** The runs to draw as points, ascending; failed ones are not thinned out. */
  sample: Uint32Array;
  /** Sets ranges of variables, or removes them. */
  select: (ranges: readonly (readonly [key: string, range: readonly [number, number] | undefined])[]) => void;
  showPair: (across: string, up: string) => void;
}

export const listOf = (text: string | null): string[] => (text === null || text === '' ? [] : text.split(','));

/** The variables of these keys, or else the usual ones. */
export function chosen(
  variables: readonly Variable[],
  keys: readonly string[],
  usual: readonly Variable[],
): Variable[] {
  const found = keys.flatMap((key) => variables.find((it) => it.key === key) ?? []);
  return found.length > 1 ? found : [...usual];
}

/** A few: outputs that the study declares come first in the table, and so here. */
export function usualVariables(variables: readonly Variable[], inputs: readonly string[], most: number): Variable[] {
  const numbers = variables.filter((it) => it.categories === undefined && it.key !== 'o.execution_secs');
  const outputs = numbers.filter((it) => it.kind === 'output').slice(0, Math.ceil(most / 2));
  const ranked = [
    ...inputs.flatMap((name) => numbers.find((it) => it.key === `p.${name}`) ?? []),
    ...numbers.filter((it) => it.kind === 'parameter'),
  ];
  return [...new Set(ranked)].slice(0, most - outputs.length).concat(outputs);
}

/** Every n-th of the runs, so that at most `most` are left. */
export function thinned(runs: Uint32Array, most: number): Uint32Array {
  if (runs.length <= most) return runs;
  return Uint32Array.from({ length: most }, (_, at) => runs[Math.floor((at * runs.length) / most)]!);
}
