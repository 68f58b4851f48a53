/**
 * Saltelli's design for Sobol' indices: blocks of rows from two matrices A and B of Sobol' points. A block has, in this order, the row of A;
 * for each input the row of A with this input from B; with second order, for each input the row of B with this input from A; the
 * row of B. The order is that of SALib. Source: Saltelli, Comp. Phys. Comm. 145 (2002) 280; Saltelli et al., ibid. 181 (2010) 259.
 */
import { distributionEntry } from '../../../base/distributions/table.ts';
import { sortedNames } from '../../../base/text/sorted-names.ts';
import { pointerToken } from '../../../base/json/json-pointer.ts';
import type { BatchConfig, DispersionConfig, Fault } from '../../../contract/types.ts';
import { quasiMonteCarloUniforms } from './quasi-monte-carlo.ts';
import { SOBOL_DIMENSIONS, directionNumbers } from './sobol.ts';

/** The members of `config` that decide the blocks. */
interface Design {
  dispersions: BatchConfig['dispersions'];
  monte_carlo: { design?: { second_order?: boolean } | null };
}

export interface SaltelliDesign {
  /** The inputs that use random numbers, sorted by UTF-16 code unit: the others have no indices. */
  readonly inputs: readonly string[];
  readonly hasSecondOrder: boolean;
  /** Rows of a block: inputs + 2, or 2 inputs + 2 with second order. */
  readonly rows: number;
}

const isRandom = ({ distribution }: DispersionConfig): boolean =>
  distributionEntry(distribution.type)?.argument === 'uniform';

/** The design of a study whose sampling method is `saltelli`. */
export function saltelliDesign({ dispersions, monte_carlo: { design } }: Design): SaltelliDesign {
  const inputs = sortedNames(Object.keys(dispersions).filter((name) => isRandom(dispersions[name]!)));
  const hasSecondOrder = design?.second_order === true;
  return { inputs, hasSecondOrder, rows: (hasSecondOrder ? 2 : 1) * inputs.length + 2 };
}

/** True when the row takes the input at `place` from B, false when it takes it from A. */
export function isFromB({ inputs, rows }: SaltelliDesign, row: number, place: number): boolean {
  if (row === rows - 1) return true;
  if (row <= inputs.length) return row === place + 1;
  return row !== place + 1 + inputs.length;
}

/** The name under which the key of an input's numbers in B is made. */
export const nameInB = (name: string): string => `${name}#B`;

/** A parameter that is drawn, in a study. */
export interface DrawnParameter {
  name: string;
  /** The place of its name among all names, sorted. */
  rank: number;
  /** Runs of the design. */
  runs: number;
  /** The key of the random numbers under a name. */
  key: (name: string) => Uint32Array;
  /** The blocks of a `saltelli` design; undefined for others. */
  blocks: SaltelliDesign | undefined;
}

/** The uniforms of one input: A has the first dimensions of Sobol' points, B the next, and each block the next point. */
export function saltelliUniforms({ name, key, blocks }: DrawnParameter): (run: number) => number {
  const { inputs, rows } = blocks!;
  const place = inputs.indexOf(name);
  const inA = quasiMonteCarloUniforms(key(name), directionNumbers(place));
  const inB = quasiMonteCarloUniforms(key(nameInB(name)), directionNumbers(inputs.length + place));
  return (run) => {
    const block = Math.floor(run / rows);
    return (isFromB(blocks!, run - block * rows, place) ? inB : inA)(block);
  };
}

/** Every fault of a study that a `saltelli` design cannot have, with pointers into the submission. Members that are missing or of another kind are skipped. */
export function saltelliFaults(config: Pick<BatchConfig, 'dispersions' | 'monte_carlo' | 'correlations'>): Fault[] {
  const { dispersions, monte_carlo: design, correlations } = config;
  if (design.sampling_method !== 'saltelli') {
    if (design.design === undefined || design.design === null) return [];
    const detail = `is for the sampling method saltelli, not ${design.sampling_method}; leave it out`;
    return [{ pointer: '/config/monte_carlo/design', detail }];
  }
  const { inputs, rows } = saltelliDesign(config);
  const faults: Fault[] = [];
  if (inputs.length === 0) {
    return [{ pointer: '/config/dispersions', detail: 'has no input that varies by chance, so there are no indices' }];
  }
  if (2 * inputs.length > SOBOL_DIMENSIONS) {
    const detail = `saltelli takes at most ${Math.floor(SOBOL_DIMENSIONS / 2)} inputs that vary, not ${inputs.length}`;
    faults.push({ pointer: '/config/dispersions', detail });
  }
  if (typeof design.runs === 'number' && design.runs % rows !== 0) {
    const below = Math.max(1, Math.floor(design.runs / rows)) * rows;
    const detail = `is ${design.runs}, and a block of this design has ${rows} runs (${inputs.length} inputs): give a multiple, such as ${below} or ${below + rows}`;
    faults.push({ pointer: '/config/monte_carlo/runs', detail });
  }
  for (const [name, { distribution }] of Object.entries(dispersions)) {
    if (distribution.type !== 'table' || !Array.isArray(distribution.values)) continue;
    if (distribution.values.every((it) => it === distribution.values[0])) continue;
    const detail = 'follows the run and not the design, which mixes it with the other inputs; give a distribution';
    faults.push({ pointer: `/config/dispersions${pointerToken(name)}`, detail });
  }
  const clash = inputs.find((name) => inputs.includes(nameInB(name)));
  if (clash !== undefined) {
    const detail = `${JSON.stringify(nameInB(clash))} is the name of ${JSON.stringify(clash)} in the design's second matrix; rename one`;
    faults.push({ pointer: '/config/dispersions', detail });
  }
  if ((correlations ?? []).length > 0) {
    const detail = 'leave it out: the indices of a saltelli design are those of independent inputs';
    faults.push({ pointer: '/config/correlations', detail });
  }
  return faults;
}
