/**
 * How properties are tried. The same values are drawn every time, so that a change fails for what it does and not for what was
 * drawn; to look for more, `PROPERTY_SEED=random PROPERTY_RUNS=100 npm test` (a failing property tells its seed).
 * Loaded before the tests by mocha.
 */
import * as fc from 'fast-check';

const { PROPERTY_SEED: seed = '20260101', PROPERTY_RUNS: factor = '1' } = process.env;

/** How often a property is tried whose own number differs from the usual 100. */
export const times = (runs: number): number => runs * Number(factor);

fc.configureGlobal({ numRuns: times(100), ...(seed === 'random' ? {} : { seed: Number(seed) }) });
