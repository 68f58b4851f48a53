/**
 * The inverse CDF of each distribution, as one table. Arguments are uniforms in [2^-53, 1 - 2^-53]; results are in the
 * dispersion's units. Parameters must be valid (`dispersions.ts` in this folder).
 */
import type { DistributionType } from '../../contract/types.ts';
import { betaQuantile } from './beta.ts';
import { gammaQuantile } from './gamma.ts';
import { standardNormalQuantile } from './normal.ts';

type Kind = DistributionType['type'];
/** The members of each distribution, by its `type`. */
type Distributions = { [Type in Kind]: Extract<DistributionType, { type: Type }> };
type Quantile = (u: number) => number;

const QUANTILES: { [Type in Kind]: (distribution: Distributions[Type]) => Quantile } = {
  normal: ({ mean, std_dev: stdDev }) => {
    return (u) => mean + stdDev * standardNormalQuantile(u);
  },
  uniform: uniformQuantile,
  exponential: ({ lambda }) => {
    return (u) => -Math.log1p(-u) / lambda;
  },
  gamma: ({ shape, scale }) => {
    const unit = gammaQuantile(shape);
    return (u) => unit(u) * scale;
  },
  beta: ({ alpha, beta }) => betaQuantile(alpha, beta),
  fixed: ({ value }) => {
    return () => value;
  },
};

function uniformQuantile({ min, max }: Distributions['uniform']): Quantile {
  const range = max - min;
  // A range above the greatest double is weighed from both ends.
  if (!Number.isFinite(range)) return (u) => (1 - u) * min + u * max;
  return (u) => {
    const value = min + u * range;
    return value < min ? min : value > max ? max : value;
  };
}

/** The quantile function of a distribution; for `fixed` it ignores its argument. */
// The type parameter ties a distribution to its own table entry, which a union would not.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function quantileFunction<Type extends Kind>(distribution: Distributions[Type]): Quantile {
  const type: Type = distribution.type;
  return QUANTILES[type](distribution);
}
