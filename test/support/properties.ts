/**
 * Settings of property tests. The seed is fixed, so that a failure is caused by a change and not by chance; search further
 * with `PROPERTY_SEED=random PROPERTY_RUNS=100 npm test` (a failing property prints its seed). Mocha loads this first.
 */
import * as fc from 'fast-check';

const { PROPERTY_SEED: seed = '20260101', PROPERTY_RUNS: factor = '1' } = process.env;

/** Returns the number of runs of a property whose number differs from the default of 100. */
export const times = (runs: number): number => runs * Number(factor);

fc.configureGlobal({ numRuns: times(100), ...(seed === 'random' ? {} : { seed: Number(seed) }) });
