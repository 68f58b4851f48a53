/** The metadata that all runs of a study have. Pure. */
import type { BatchConfig, RunMetadata, Seed, Timestamp } from '../../contract/types.ts';

/** @param seed the seed in use. @param generatedAt when the study was submitted. */
export const runMetadata = (
  { simulation, monte_carlo }: Pick<BatchConfig, 'simulation' | 'monte_carlo'>,
  seed: Seed,
  generatedAt: Timestamp,
): RunMetadata => ({
  simulation_name: simulation.name,
  simulation_version: simulation.version,
  duration_minutes: simulation.duration_minutes,
  sampling_method: monte_carlo.sampling_method,
  generated_at: generatedAt,
  seed,
});
