/** Reference data and small studies for the sampling tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import type { Sampler } from '../../../src/domain/sampling/run-values.ts';
import type { DispersionConfig, DistributionType, SamplingMethod, Seed } from '../../../src/contract/types.ts';
import { packageRoot } from '../../../src/base/package.ts';

/** A reference file beside these tests; its README says where each comes from. */
export function reference(file: string): unknown {
  return JSON.parse(readFileSync(join(packageRoot, 'test/domain/sampling/reference', file), 'utf8'));
}

export const UNIT: DistributionType = { type: 'uniform', min: 0, max: 1 };

/** Dispersions from pairs, so that `__proto__` can be a name. */
export function dispersionsOf(pairs: Iterable<readonly [string, DistributionType]>): Record<string, DispersionConfig> {
  return Object.fromEntries(Array.from(pairs, ([name, distribution]) => [name, { distribution, units: '' }]));
}

/** A study whose parameters are all uniform on [0, 1]. */
export function unitSampler(
  parameters: readonly string[],
  method: SamplingMethod,
  runs: number,
  seed: Seed = 1,
): Sampler {
  return createSampler(dispersionsOf(parameters.map((name) => [name, UNIT] as const)), {
    runs,
    sampling_method: method,
    seed,
  });
}

/** n names p0, p1, ... */
export function names(count: number): string[] {
  return Array.from({ length: count }, (_, k) => `p${k}`);
}

/** The uniforms of one parameter of `sampler` over all its runs. */
export function column(sampler: Sampler, parameter: number): Float64Array {
  return Float64Array.from({ length: sampler.runs }, (_, run) => sampler.uniforms(run)[parameter]!);
}
