/** The metadata that all runs of a study have. Pure. */
import type { BatchConfig, RunMetadata, Scenario, Seed, Timestamp } from '../../contract/types.ts';

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

/** A sampler, as far as it says which random numbers a run has. */
interface Draws {
  scenarioOf?(run: number): { scenario: Scenario; sample: number };
  drawOf?(run: number): number | undefined;
}

/** The metadata of one run: with its cell, or with the draw of its row. */
export function ofRun(sampler: Draws, metadata: RunMetadata, run: number): RunMetadata {
  if (sampler.scenarioOf !== undefined) return { ...metadata, ...sampler.scenarioOf(run) };
  return sampler.drawOf === undefined ? metadata : { ...metadata, draw: sampler.drawOf(run) };
}
