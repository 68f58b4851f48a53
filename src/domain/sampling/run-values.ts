/** The values of runs: the interface of samplers, and objects of numbers by name. */
import type { Scenario } from '../../contract/types.ts';
import type { RunRow } from '../adaptive/rows.ts';

/** Gives any run's parameters. Not for concurrent use from several threads; made in some 10 us a parameter, so keep it for the batch. */
export interface Sampler {
  /** The dispersions' names in the order of `sampleInto` and `uniforms`: sorted by UTF-16 code unit. */
  readonly names: readonly string[];
  /** How many runs there are. Every `run` below must be an integer in [0, runs), else a RangeError is thrown. */
  readonly runs: number;
  /** Writes the run's values, in the dispersions' units, to `out` in the order of `names`. */
  sampleInto(run: number, out: Float64Array): void;
  /** The run's values by name; none for a run whose row is lost. Serializes with JSON.stringify whatever the names are. */
  parameters(run: number): Record<string, number>;
  /** The run's uniforms in the order of `names`: each value's position in its distribution, in (0, 1). NaN where no random number is used (`fixed`, `table`). */
  uniforms(run: number): Float64Array;
  /** Of a study with scenarios: its axes. */
  readonly axes?: readonly string[];
  /** Of a study with scenarios: the cell of the run, and which run of it it is. */
  scenarioOf?(run: number): { scenario: Scenario; sample: number };
  /** Of an adaptive study: the run whose random draw the run has; undefined where damage to the data directory has lost its row. */
  drawOf?(run: number): number | undefined;
}

/** Returns the stored row of a run of an adaptive study; undefined where it is lost. @throws an error for a run of no round */
export type RowOf = (run: number) => RunRow | undefined;

/** Returns an object with these members. Parsed, so that `__proto__` is one too, and with values that no integer may replace. */
export const withMembers = (names: readonly string[]): Record<string, number> =>
  JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:0.5`).join(',')}}`) as Record<string, number>;
