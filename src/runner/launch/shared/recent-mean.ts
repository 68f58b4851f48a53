/** The weight of the latest value. */
const WEIGHT = 0.1;

/** The mean of values of which the latest counts most. @param mean of those before it; undefined: there were none. */
export const recentMean = (mean: number | undefined, latest: number): number =>
  mean === undefined ? latest : mean + WEIGHT * (latest - mean);
