/** The shape of one entry in the table of distributions. */
import type { Members } from './members.ts';

/** A function of one number: for most distributions the inverse CDF of a uniform in [2^-53, 1 - 2^-53]. */
export type Values = (argument: number) => number;

/** The value with the lower tail p = 1 - q, solved in the smaller of the two, which may be as small as 1e-300. */
export type ValuesOfTails = (p: number, q: number) => number;

/** A fault between the members of a distribution: the member at fault, and what is wrong with it. */
export type RelationFault = readonly [member: string, detail: string];

/**
 * Everything the product knows of one distribution: the rules, the schema, the form and the documentation read it. `Value` is the type of
 * its members in a study; without arguments it is any distribution, whose value was checked before.
 */
export interface Distribution<M extends Members = Members, Value = unknown> {
  /** One sentence for the schema. */
  readonly summary: string;
  /** The set of possible values, for the documentation. */
  readonly support: string;
  /** A remark for the documentation; may be empty. */
  readonly note: string;
  readonly members: M;
  /**
   * The argument of `values`: a `uniform` number, the `run` id, the number that the `row` of the run gives, or `none` (it is ignored). Only
   * the first consumes a random number, and only such a parameter can be correlated.
   */
  readonly argument: 'uniform' | 'run' | 'row' | 'none';
  /** True when extreme samples cannot overflow, so that trying them at submission is needless. */
  readonly alwaysFinite?: boolean;
  /** A fault that no member has alone. `runs` is the design's number of runs. Called when every member is valid by itself. */
  relation?(distribution: Value, runs: number): RelationFault | undefined;
  /** The function that gives the samples of a valid distribution. */
  values(distribution: Value): Values;
  /** The same from both tails; there for each distribution whose `argument` is `uniform`. */
  ofTails?(distribution: Value): ValuesOfTails;
}
