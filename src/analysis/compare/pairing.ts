/** Whether two studies are paired by common random numbers: the same draws in the same runs, so that each run is its own control. */
import type { BatchConfig } from '../../contract/types.ts';
import { replicateRunsOf } from '../../domain/sampling/replicates.ts';
import type { NumericColumn } from '../numeric/columns.ts';

/** How the runs of a study are drawn. Two equal designs use the same random number for the same run and the same name of an input. */
export interface Design {
  /** The sampling definition; absent where it is not known. */
  scheme?: string | undefined;
  method: string;
  /** The seed in decimal digits. */
  seed: string;
  replicate: number;
  /** Size of the design, not of the batch; of a study of replicates that of one. */
  runs: number;
  /** The study has several replicates. */
  isReplicated?: boolean;
}

/** One side: its inputs as columns, and the rows of the runs that both studies have. */
export interface PairedSide {
  inputs: readonly NumericColumn[];
  rows: Uint32Array;
  /** Absent where the configuration is not known. */
  design?: Design | undefined;
  /** Inputs with one value for all runs. */
  fixed?: ReadonlySet<string> | undefined;
}

export interface Pairing {
  /** Inputs that vary, and fixed ones that differ. */
  inputs: number;
  /** Varying inputs that are equal to the bit in all runs that both studies have. */
  equal: number;
  /** Inputs that differ, with those that one study lacks. */
  differing: string[];
  /** Why the studies are not paired; null where they are. */
  reason: string | null;
}

/** The design and the fixed inputs that a configuration describes. The configuration holds the seed that is used. */
export function designOf(config: BatchConfig | undefined, scheme?: string): Pick<PairedSide, 'design' | 'fixed'> {
  const seed = config?.monte_carlo.seed ?? undefined;
  if (config === undefined || seed === undefined) return {};
  const { sampling_method: method, runs, replicate } = config.monte_carlo;
  const replicateRuns = replicateRunsOf(config.monte_carlo);
  const fixed = Object.entries(config.dispersions).filter(([, it]) => it.distribution.type === 'fixed');
  return {
    design: {
      scheme,
      method,
      seed: String(seed),
      replicate: replicate ?? 0,
      runs: replicateRuns ?? runs,
      isReplicated: replicateRuns !== undefined,
    },
    fixed: new Set(fixed.map(([name]) => name)),
  };
}

export function pairingOf(before: PairedSide, after: PairedSide): Pairing {
  const others = new Map(after.inputs.map((it) => [it.name, it.values]));
  const names = new Set([...before.inputs, ...after.inputs].map((it) => it.name));
  const equal: string[] = [];
  const differing: string[] = [];
  const own = new Map(before.inputs.map((it) => [it.name, it.values]));
  for (const name of names) {
    const [values, other] = [own.get(name), others.get(name)];
    const isEqual =
      values !== undefined &&
      other !== undefined &&
      before.rows.every((row, pair) => Object.is(values[row], other[after.rows[pair]!]));
    if (!isEqual) differing.push(name);
    else if (before.fixed?.has(name) !== true && !isConstant(values, before.rows)) equal.push(name);
  }
  const counts = { inputs: equal.length + differing.length, equal: equal.length, differing };
  return { ...counts, reason: reasonAgainst(before, after, counts) };
}

/** An input with one value in all runs says nothing about the random numbers; of a single run nothing can be said. */
function isConstant(values: Float64Array, rows: Uint32Array): boolean {
  return rows.length > 1 && rows.every((row) => Object.is(values[row], values[rows[0]!]));
}

function reasonAgainst(before: PairedSide, after: PairedSide, { equal, differing }: Omit<Pairing, 'reason'>) {
  if (before.rows.length === 0) return 'no run has ended in both';
  const isKnown = before.design !== undefined && after.design !== undefined;
  const reason = isKnown ? differenceOf(before.design!, after.design!) : undefined;
  if (reason !== undefined) return reason;
  if (equal === 0) return 'no varying input is equal to the bit';
  // Without the seeds, equal inputs are evidence of common random numbers only where all of them are equal.
  return isKnown || differing.length === 0 ? null : 'inputs differ and the seed of a study is not known';
}

function differenceOf(before: Design, after: Design): string | undefined {
  const isOtherScheme = before.scheme !== undefined && after.scheme !== undefined && before.scheme !== after.scheme;
  if (isOtherScheme) return `the sampling schemes differ: ${before.scheme} and ${after.scheme}`;
  if (before.method !== after.method) return `the sampling methods differ: ${before.method} and ${after.method}`;
  if (before.seed !== after.seed) return `the seeds differ: ${before.seed} and ${after.seed}`;
  if (before.replicate !== after.replicate) return `the replicates differ: ${before.replicate} and ${after.replicate}`;
  if ((before.isReplicated ?? false) !== (after.isReplicated ?? false)) return 'one study has replicates';
  if (before.isReplicated === true && before.runs !== after.runs)
    return `the replicates have ${before.runs} and ${after.runs} runs`;
  // The strata of a Latin hypercube depend on its size.
  const isOtherSize = before.method === 'latin_hypercube' && before.runs !== after.runs;
  return isOtherSize ? `the Latin hypercubes have ${before.runs} and ${after.runs} runs` : undefined;
}
