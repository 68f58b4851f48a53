/**
 * Distributions truncated to an interval. Both tails of the bounds are kept, each to full relative precision, and a sample is solved in the
 * smaller one: an interval far out in a tail loses no digit.
 */
import type { Distribution, RelationFault, Values, ValuesOfTails } from './entry.ts';
import { type Members, type MembersOf, optionalNumber } from './members.ts';

/** The lower and upper tail probability of a value: F(x) and 1 - F(x). */
export interface Tails {
  p: number;
  q: number;
}

/** A distribution function and its inverse, exact in both tails. */
export interface Law {
  /** The least possible value: 0 or -Infinity. */
  readonly origin: number;
  /** Writes both tails at x > `origin` to `out`. */
  tails(x: number, out: Tails): void;
  /** The x with F(x) = p = 1 - q, solved in the smaller of the two, which may be as small as 1e-300. */
  quantile(p: number, q: number): number;
}

/** The least probability an interval may have: below it the tails underflow. */
const LEAST_PROBABILITY = 1e-300;

const BOUNDS = {
  lower: optionalNumber('Samples are >= this: the distribution is truncated. Absent or null: no lower bound.'),
  upper: optionalNumber('Samples are <= this: the distribution is truncated. Absent or null: no upper bound.'),
};

export interface Bounds {
  lower?: number | null;
  upper?: number | null;
}

/** An entry whose distribution can be truncated: adds the members `lower` and `upper` and their rules. */
export function bounded<M extends Members>(
  entry: Omit<Distribution<M, MembersOf<M>>, 'relation'> & { law(distribution: MembersOf<M>): Law },
): Distribution<M & typeof BOUNDS, MembersOf<M> & Bounds> {
  return {
    ...entry,
    members: { ...entry.members, ...BOUNDS },
    relation: (distribution) => boundsFault(entry.values(distribution), () => entry.law(distribution), distribution),
    values: (distribution) => {
      const plain = entry.values(distribution);
      if (!isBounded(distribution)) return plain;
      const ofTails = truncated(plain, entry.law(distribution), distribution);
      return (u) => ofTails(u, 1 - u);
    },
    ofTails: (distribution) => {
      const plain = entry.values(distribution);
      const constant = constantOf(plain);
      if (constant !== undefined) return () => constant;
      const law = entry.law(distribution);
      return isBounded(distribution) ? truncated(plain, law, distribution) : (p, q) => law.quantile(p, q);
    },
  };
}

const isBounded = ({ lower, upper }: Bounds): boolean => typeof lower === 'number' || typeof upper === 'number';

/** The one value of a distribution without spread (a standard deviation of 0), else undefined. */
function constantOf(plain: Values): number | undefined {
  const middle = plain(0.5);
  return plain(2 ** -53) === middle && plain(1 - 2 ** -53) === middle ? middle : undefined;
}

interface Interval {
  lower: number;
  upper: number;
  low: Tails;
  high: Tails;
}

/** The bounds inside the support, with the tails of each. */
function intervalOf(law: Law, { lower, upper }: Bounds): Interval {
  const low = { p: 0, q: 1 };
  const high = { p: 1, q: 0 };
  const from = Math.max(lower ?? Number.NEGATIVE_INFINITY, law.origin);
  const to = upper ?? Number.POSITIVE_INFINITY;
  if (from > law.origin) law.tails(from, low);
  if (to <= law.origin) Object.assign(high, { p: 0, q: 1 });
  else if (to < Number.POSITIVE_INFINITY) law.tails(to, high);
  return { lower: from, upper: to, low, high };
}

/** The probability of the interval, as a difference in the tail where it is exact. */
function probabilityOf({ low, high }: Interval): number {
  if (high.p <= 0.5) return high.p - low.p;
  if (low.q <= 0.5) return low.q - high.q;
  return 1 - low.p - high.q;
}

function boundsFault(plain: Values, lawOf: () => Law, bounds: Bounds): RelationFault | undefined {
  if (!isBounded(bounds)) return undefined;
  const law = lawOf();
  const { lower, upper } = bounds;
  const member = typeof lower === 'number' ? 'lower' : 'upper';
  if (typeof upper === 'number' && upper <= law.origin) {
    return ['upper', `must be > ${law.origin}, where the distribution begins, not ${upper}`];
  }
  if (typeof lower === 'number' && typeof upper === 'number' && lower >= upper) {
    return ['lower', `must be < upper (${upper}), not ${lower}`];
  }
  const constant = constantOf(plain);
  const possible =
    constant === undefined
      ? probabilityOf(intervalOf(law, bounds)) >= LEAST_PROBABILITY
      : constant >= (lower ?? constant) && constant <= (upper ?? constant);
  if (possible) return undefined;
  return [member, `leaves an interval of probability below ${LEAST_PROBABILITY}; use wider bounds`];
}

/** The quantile function between the bounds: x = Q(F(lower) + u (F(upper) - F(lower))), clamped to them. */
function truncated(plain: Values, law: Law, bounds: Bounds): ValuesOfTails {
  const constant = constantOf(plain);
  if (constant !== undefined) return () => constant;
  const { lower, upper, low, high } = intervalOf(law, bounds);
  return (under, above) => {
    // Sums of positive terms: both tails keep their relative precision.
    const p = low.p * above + high.p * under;
    const q = low.q * above + high.q * under;
    const x = law.quantile(p, q);
    return x < lower ? lower : x > upper ? upper : x;
  };
}
